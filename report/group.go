package report

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"rdmaprobe/probe"
)

// group is findings that say the same of several devices or interfaces.
type group struct {
	probe.Finding          // of the first, in words that fit all
	scopes        []string // clean, in the order of the findings
	members       []probe.Finding
	messages      []string // one, or one for each scope where they differ
}

// Stand-ins for the names in a text that several findings share.
const (
	anyDevice = "DEVICE"
	anyIface  = "IFACE"
)

// grouped puts findings together that have code, severity and, names apart, what
// to do in common. The order is that of the first of each.
func (t *printer) grouped() []group {
	type key struct{ code, severity, remedy, undo, check string }
	var groups []group
	var members [][]probe.Finding
	at := map[key]int{}
	for _, f := range worstFirst(t.d) {
		s := t.stencil(f)
		k := key{f.Code, f.Severity, s(f.Remedy), s(f.Undo), s(f.Check)}
		if f.Severity == probe.SeverityInfo && !t.wide {
			k = key{code: f.Code, severity: f.Severity, remedy: t.brief(f)}
		}
		i, seen := at[k]
		if !seen {
			i = len(members)
			at[k] = i
			members = append(members, nil)
		}
		members[i] = append(members[i], f)
	}
	for _, m := range members {
		groups = append(groups, t.together(m))
	}
	return groups
}

// together words findings as one. Alone, or in wide, a finding keeps its words.
func (t *printer) together(m []probe.Finding) group {
	g := group{Finding: m[0], members: m}
	host := ""
	for _, f := range m {
		scope := cleanName(f.Scope)
		if f.Host != host { // said once for those that follow
			host = f.Host
			scope = cleanName(host) + " " + scope
		}
		g.scopes = append(g.scopes, scope)
	}
	if len(m) == 1 {
		g.messages = []string{Clean(m[0].Message)}
		return g
	}
	var names, ifaces []string
	same := true
	for _, f := range m {
		names = append(names, cleanName(f.Scope))
		ifaces = append(ifaces, cleanName(cmp.Or(t.ifaceOf(f.Scope), f.Scope)))
		same = same && t.stencil(f)(f.Message) == t.stencil(m[0])(m[0].Message)
	}
	s := t.stencil(m[0])
	all := func(text string) string { return fillIn(s(text), names, ifaces) }
	g.Remedy, g.Undo = all(g.Remedy), all(g.Undo)
	if g.Check = s(g.Check); strings.Contains(g.Check, "-d "+anyDevice) { // which takes a list; other commands take one name
		g.Check = strings.ReplaceAll(g.Check, anyDevice, strings.ReplaceAll(enumerate(names), ", ", ","))
	}
	if same {
		g.messages = []string{all(m[0].Message)}
		return g
	}
	for _, f := range m {
		g.messages = append(g.messages, cleanName(f.Scope)+": "+Clean(f.Message))
	}
	return g
}

// stencil gives texts of a finding with stand-ins for its device and interface.
func (t *printer) stencil(f probe.Finding) func(string) string {
	device, iface := wordOf(f.Scope), wordOf(t.ifaceOf(f.Scope))
	switch {
	case f.Scope == "host":
		device, iface = nil, nil
	case iface == nil && !t.there(f.Scope):
		device, iface = nil, wordOf(f.Scope) // it is of an interface
	}
	return func(s string) string {
		s = Clean(s)
		if device != nil {
			s = device.ReplaceAllString(s, "${1}"+anyDevice)
		}
		if iface != nil {
			s = iface.ReplaceAllString(s, "${1}"+anyIface)
		}
		return s
	}
}

// wordOf matches a name where it stands as a word; nil for no name.
func wordOf(s string) *regexp.Regexp {
	if s = cleanName(s); s == "" {
		return nil
	}
	return regexp.MustCompile(`(^|[^A-Za-z0-9_.-])` + regexp.QuoteMeta(s) + `\b`)
}

// fillIn puts all names in place of the stand-ins, but in a command: that is for
// one at a time.
func fillIn(s string, names, ifaces []string) string {
	parts := strings.Split(s, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = eachOf(eachOf(parts[i], anyDevice, names), anyIface, ifaces)
	}
	return strings.Join(parts, "`")
}

// afterNoun matches a stand-in that names what the word before it is.
var afterNoun = regexp.MustCompile(`\b(interface|member|device|port) (` + anyDevice + "|" + anyIface + `)\b`)

// eachOf puts names in place of a stand-in, in a text that was written of one: each of
// them is one as well, so that verbs and pronouns stay right.
func eachOf(s, standIn string, names []string) string {
	names = slices.Compact(slices.Clone(names))
	if len(names) == 1 {
		return strings.ReplaceAll(s, standIn, names[0])
	}
	s = afterNoun.ReplaceAllStringFunc(s, func(m string) string {
		noun, name, _ := strings.Cut(m, " ")
		if name != standIn {
			return m
		}
		return noun + " (" + strings.Join(names, ", ") + ")"
	})
	last := len(names) - 1
	return strings.ReplaceAll(s, standIn, "each of "+strings.Join(names[:last], ", ")+" and "+names[last])
}

// enumerate writes names as a list.
func enumerate(names []string) string {
	names = slices.Compact(slices.Clone(names))
	return strings.Join(names, ", ")
}

// ifaceOf is the network interface of the device of that name, as the document
// has it.
func (t *printer) ifaceOf(device string) string {
	if n := t.ifaces[device]; n != "" {
		return n
	}
	if n, ok := strings.CutPrefix(device, "rdma_"); ok {
		return n // Apple pairs them by name
	}
	return ""
}

// there tells whether the document has a device of that name.
func (t *printer) there(device string) bool {
	_, is := t.ifaces[device]
	return is
}

// ifacesOf are the devices of a document, each with the first interface that a port of
// it names.
func ifacesOf(d *probe.Document) map[string]string {
	ifaces := map[string]string{}
	for _, dev := range d.Devices {
		own := ifaces[dev.Name]
		for _, p := range dev.Ports {
			own = cmp.Or(own, p.Netdev)
		}
		ifaces[dev.Name] = own
	}
	return ifaces
}

// brief is a finding in a few words, else its message.
func (t *printer) brief(f probe.Finding) string {
	if b := Clean(t.briefs(f)); b != "" {
		return b
	}
	return t.stencil(f)(f.Message)
}
