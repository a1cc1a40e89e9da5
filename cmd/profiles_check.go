package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma/sim"
	"rdmaprobe/report"
)

// checkProfile says whether a file is a profile, and of what.
func (a *app) checkProfile() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Say whether a file is a profile, and what machine it is", Args: cobra.ExactArgs(1),
		Long: "Read a profile as --provider sim:FILE would. Everything that is wrong is told with\n" +
			"its line and key, and what is allowed there; the exit status is then 2. A sound one\n" +
			"is summed up: system, library, devices, each call that does not answer as usual.",
		Example: "  rdmaprobe profiles check ./machine.json",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.onlyText("profiles check", "text or json"); err != nil {
				return err
			}
			data, err := readProfile(args[0])
			if err != nil {
				return err
			}
			host := &hostfacts.Host{}
			if wrong := sim.Check(data, &hostfacts.Host{}); len(wrong) > 0 {
				return a.tellWrong(args[0], wrong)
			}
			p, err := sim.Parse(data, host)
			if err != nil {
				return err
			}
			s, err := summarise(p, host, data)
			if err != nil {
				return err
			}
			if a.format == "json" {
				return a.object(s)
			}
			_, err = fmt.Fprint(a.out, a.scrub(s.text()))
			return err
		},
		ValidArgsFunction: completeProfiles,
	}
}

// maxWrong bounds the errors that are told of one profile.
const maxWrong = 100

// tellWrong tells of each error on a line of its own; a single one as any other
// command would.
func (a *app) tellWrong(name string, wrong []error) error {
	if len(wrong) == 1 || a.format == "json" {
		return &probe.UsageError{Text: fmt.Sprintf("profile %s: %v", name, errors.Join(wrong...))}
	}
	for i, err := range wrong {
		if i == maxWrong {
			a.complain(fmt.Errorf("profile %s: and %d more", name, len(wrong)-i))
			break
		}
		a.complain(fmt.Errorf("profile %s: %w", name, err))
	}
	return &probe.UsageError{Text: fmt.Sprintf("profile %s has %d errors", name, len(wrong))}
}

// profileSummary is what a sound profile is.
type profileSummary struct {
	ID       string          `json:"id"`
	About    string          `json:"about"`
	Source   string          `json:"source"`
	System   string          `json:"system"`   // of the host
	Platform string          `json:"platform"` // whose errno numbers it speaks
	Library  string          `json:"library"`
	Devices  []deviceSummary `json:"devices"`
}

type deviceSummary struct {
	Name      string   `json:"name"`
	Transport string   `json:"transport"`
	Listed    bool     `json:"listed"`
	Ports     []string `json:"ports"`
	Rules     []string `json:"rules"` // calls that do not answer as usual
}

// profileText is what of a profile's own text the summary repeats.
type profileText struct {
	Devices []struct {
		Transport string
		Ports     []struct {
			Num    int
			State  string
			States []string
			GIDs   []any
		}
		Calls map[string][]map[string]any
	}
	DeviceList *struct{ Errno *string } `json:"device_list"`
}

func summarise(p *sim.Profile, host *hostfacts.Host, data []byte) (*profileSummary, error) {
	var t profileText
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("read profile: %w", err) // Parse has taken it
	}
	s := &profileSummary{ID: p.ID, About: p.About, Source: p.Source, Platform: string(p.Platform()), Devices: []deviceSummary{}}
	system := slices.DeleteFunc([]string{host.OS, host.OSVersion, host.OSBuild, host.Kernel, host.Arch, host.Model}, func(w string) bool { return w == "" })
	s.System, s.Library = strings.Join(system, " "), libraryText(p.Library)
	if l := t.DeviceList; l != nil && l.Errno != nil {
		s.Library += "; its listing fails with errno " + orUnset(*l.Errno)
	}
	for i := range p.Devices {
		d, from := &p.Devices[i], t.Devices[i]
		out := deviceSummary{Name: d.Name, Transport: from.Transport, Listed: d.IsListed(), Ports: []string{}, Rules: []string{}}
		for _, q := range from.Ports {
			state := q.State
			if len(q.States) > 0 {
				state = strings.Join(q.States, ", then ")
			}
			out.Ports = append(out.Ports, fmt.Sprintf("port %d %s, %d GIDs", q.Num, state, len(q.GIDs)))
		}
		for _, verb := range slices.Sorted(maps.Keys(from.Calls)) {
			for _, r := range from.Calls[verb] {
				out.Rules = append(out.Rules, ruleText(verb, r))
			}
		}
		s.Devices = append(s.Devices, out)
	}
	return s, nil
}

func libraryText(l sim.LibraryFacts) string {
	switch {
	case !l.Loads() && l.LoadError != "":
		return "cannot be loaded: " + l.LoadError
	case !l.Loads():
		return "is not there"
	case len(l.MissingSymbols) > 0:
		return "loads, and lacks " + strings.Join(l.MissingSymbols, ", ")
	}
	return "loads and is whole"
}

// ruleText is a rule in one line: the call, its condition, what happens.
func ruleText(verb string, r map[string]any) string {
	text := verb
	if when, _ := r["when"].(map[string]any); len(when) > 0 {
		text += " (" + pairs(when) + ")"
	}
	effects := maps.Clone(r)
	for _, k := range []string{"when", "source", "confidence"} {
		delete(effects, k)
	}
	if len(effects) == 0 {
		return text + ": as usual"
	}
	return text + ": " + pairs(effects)
}

// pairs are the members of an object, by name.
func pairs(m map[string]any) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		value, err := json.Marshal(m[k])
		if err != nil {
			value = []byte("?") // it came from JSON
		}
		word := strings.Trim(string(value), `"`)
		if k == "errno" {
			word = orUnset(word)
		}
		out = append(out, k+" "+word)
	}
	return strings.Join(out, ", ")
}

func orUnset(errno string) string {
	if errno == "" {
		return "unset"
	}
	return errno
}

// text is the summary for people.
func (s *profileSummary) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(report.Clean(fmt.Sprintf(format, args...)) + "\n") }
	line("profile %s is sound", s.ID)
	for _, f := range []struct{ name, text string }{{"about", s.About}, {"source", s.Source}, {"system", s.System}} {
		if f.text != "" {
			line("%s: %s", f.name, f.text)
		}
	}
	line("errno numbers: those of %s", s.Platform)
	line("library: %s", s.Library)
	if len(s.Devices) == 0 {
		line("devices: none")
	}
	for _, d := range s.Devices {
		hidden := ""
		if !d.Listed {
			hidden = ", not listed"
		}
		line("device %s: %s%s", d.Name, d.Transport, hidden)
		for _, p := range append(slices.Clone(d.Ports), d.Rules...) {
			b.WriteString("  ")
			line("%s", p)
		}
	}
	return b.String()
}
