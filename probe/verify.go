package probe

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rdmaprobe/probe/devinfo"
	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// Verify is how a document compares with what the system's own tool says about
// the same devices. A difference is no fault of either: a port may change its
// state between the two readings.
type Verify struct {
	Tool        string       `json:"tool"`                   // what was run: ibv_devinfo -v
	Fields      int          `json:"fields"`                 // how many values were compared
	Differences []Difference `json:"differences"`            // each value in which the two differ
	NotCompared []string     `json:"not_compared,omitempty"` // fields that the tool prints and the document does not have
	Error       string       `json:"error,omitempty"`        // why nothing, or not everything, could be compared
}

// Difference is one value in which a document and the tool differ.
type Difference struct {
	Device string `json:"device"`
	Port   int    `json:"port,omitempty"`
	Field  string `json:"field"`  // the document's name of it; GID[1] for a slot
	Ours   string `json:"ours"`   // as the document has it; "" when it has none
	Theirs string `json:"theirs"` // in the document's terms where the tool's have one; "" when it has none
}

// verifyTool prints everything that it can ask of every device.
var verifyTool = []string{"ibv_devinfo", "-v"}

// maxDifferences bounds what a tool that prints something else can do to a
// document.
const maxDifferences = 1000

// verify runs the system's own tool and compares. A failure of it is no failure
// of the run: it is what the field Error tells.
func (r *run) verify(s *hostfacts.System) {
	v := &Verify{Tool: strings.Join(verifyTool, " "), Differences: []Difference{}}
	r.doc.Verify = v
	for _, o := range r.doc.Observations {
		if o.Child != nil && (o.Child.Outcome == guard.Stuck || o.Child.Outcome == guard.Left) {
			v.Error = "not run: a child of ours still sits in the provider, and the tool would join it"
			return
		}
	}
	theirs, err := readTool(r.ctx, s)
	if err != nil {
		v.Error = err.Error()
	}
	if err == nil || len(theirs) > 0 {
		v.compare(r.doc.Devices, theirs, r.opts.Devices)
	}
}

// readTool runs the tool under a deadline. It may have printed devices before it
// failed: at the first that it cannot open it gives up.
func readTool(ctx context.Context, s *hostfacts.System) ([]devinfo.Device, error) {
	if s.Run == nil {
		return nil, fmt.Errorf("run %s: this system runs no outside programs", verifyTool[0])
	}
	out, err := s.Program(ctx, verifyTool[0], verifyTool[1:]...)
	if err != nil && strings.Contains(err.Error(), devinfo.NoDevices) {
		return nil, nil
	}
	devices, parseErr := devinfo.Parse(strings.NewReader(strings.ToValidUTF8(string(out), "\ufffd")))
	if err == nil {
		err = parseErr
	}
	return devices, err
}

// CompareWith compares devices, as a document lists them, with what ibv_devinfo
// printed. With names only those are looked at.
func CompareWith(ours []Device, theirs []devinfo.Device, names ...string) *Verify {
	v := &Verify{Tool: strings.Join(verifyTool, " "), Differences: []Difference{}}
	v.compare(ours, theirs, names)
	return v
}

// compare fills in what differs.
func (v *Verify) compare(ours []Device, theirs []devinfo.Device, names []string) {
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	seen := map[string]bool{}
	for i := range theirs {
		t := &theirs[i]
		if !wanted(t.Name) || seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		at := spot{v, t.Name, 0}
		k := slices.IndexFunc(ours, func(d Device) bool { return d.Listed && d.Name == t.Name })
		if k < 0 {
			at.is("listed", "", "true")
			continue
		}
		at.device(&ours[k], t)
	}
	for i := range ours {
		// One that neither of us could open is in both listings, and in no output.
		if d := &ours[i]; d.Listed && d.Attr != nil && wanted(d.Name) && !seen[d.Name] {
			spot{v, d.Name, 0}.is("listed", "true", "")
		}
	}
	slices.Sort(v.NotCompared)
	v.NotCompared = slices.Compact(v.NotCompared)
}

// spot is what a comparison is about.
type spot struct {
	v    *Verify
	name string
	port int
}

// is compares one value.
func (p spot) is(field, ours, theirs string) {
	p.v.Fields++
	if ours == theirs {
		return
	}
	if len(p.v.Differences) == maxDifferences {
		p.v.Error = fmt.Sprintf("more than %d differences: the others were left out", maxDifferences)
		return
	}
	p.v.Differences = append(p.v.Differences, Difference{Device: p.name, Port: p.port, Field: field, Ours: ours, Theirs: theirs})
}

// device compares one device that both have.
func (p spot) device(ours *Device, theirs *devinfo.Device) {
	p.named(theirs.Section, map[string]value{
		"transport": {ours.Transport, func(n uint64) string { return rdma.TransportName(int32(n)) }},
	}, structFields(ours.Attr))
	for i := range theirs.Ports {
		t := &theirs.Ports[i]
		at := spot{p.v, p.name, t.Num}
		k := slices.IndexFunc(ours.Ports, func(o Port) bool { return o.Num == t.Num })
		if k < 0 {
			at.is("port", "", strconv.Itoa(t.Num))
			continue
		}
		at.portAttr(&ours.Ports[k], t)
		at.gids(ours.Ports[k].GIDs, t.GIDs)
	}
	for _, o := range ours.Ports {
		if !slices.ContainsFunc(theirs.Ports, func(t devinfo.Port) bool { return t.Num == o.Num }) {
			spot{p.v, p.name, o.Num}.is("port", strconv.Itoa(o.Num), "")
		}
	}
}

// portAttr compares the fields of a port.
func (p spot) portAttr(ours *Port, theirs *devinfo.Port) {
	byte8 := func(name func(uint8) string) func(uint64) string {
		return func(n uint64) string { return name(uint8(n)) }
	}
	mtu := func(n uint64) string { return strconv.Itoa(rdma.MTUBytes(int32(n))) }
	attr := structFields(ours.Attr)
	for _, name := range []string{"lid", "lmc"} { // printed as port_lid and port_lmc
		if f, there := attr[name]; there {
			attr["port_"+name] = f
		}
	}
	p.named(theirs.Section, map[string]value{
		"state":      {ours.State, func(n uint64) string { return rdma.PortStateName(int32(n)) }},
		"phys_state": {ours.PhysState, byte8(rdma.PhysStateName)},
		"max_mtu":    {strconv.Itoa(ours.MaxMTU), mtu},
		"active_mtu": {strconv.Itoa(ours.ActiveMTU), mtu},
		"link_layer": {ours.LinkLayer, byte8(rdma.LinkLayerName)}, // printed as a word alone
	}, attr)
}

// value is one that the document writes in words: name makes them of the tool's
// number.
type value struct {
	ours string
	name func(uint64) string
}

// named compares what the tool printed about one object: words first, then the
// attributes by their C names.
func (p spot) named(s devinfo.Section, words map[string]value, attr map[string]attribute) {
	for _, field := range s.Order {
		text := s.Fields[field]
		w, worded := words[field]
		a, there := attr[field]
		switch n, numbered := devinfo.Number(text); {
		case worded && numbered:
			p.is(field, w.ours, w.name(n))
		case worded && strings.EqualFold(text, "unknown") && w.ours != "unknown":
			p.v.NotCompared = append(p.v.NotCompared, field) // a value that the tool has no word for
		case worded:
			p.is(field, w.ours, strings.ToLower(text))
		case !there:
			p.v.NotCompared = append(p.v.NotCompared, field)
		case a.name == "atomic_cap" && numbered:
			p.is(a.name, a.text, rdma.AtomicCapName(int32(n)))
		case a.number && numbered:
			p.is(a.name, a.text, strconv.FormatUint(n, 10))
		default:
			p.is(a.name, a.text, text)
		}
	}
}

// gids compares the tables slot by slot.
func (p spot) gids(ours []GID, theirs []devinfo.GID) {
	for _, t := range theirs {
		field := fmt.Sprintf("GID[%d]", t.Index)
		k := slices.IndexFunc(ours, func(g GID) bool { return g.Index == t.Index })
		if k < 0 {
			p.is(field, "", t.GID.String())
			continue
		}
		p.is(field, ours[k].GID, t.GID.String())
		if kind := gidKinds[t.Type]; kind != "" && ours[k].Type != "" {
			p.is(field+".type", ours[k].Type, kind)
		}
	}
	for _, g := range ours {
		// A tool that prints no table at all, as without -v, says nothing about it.
		if len(theirs) > 0 && !slices.ContainsFunc(theirs, func(t devinfo.GID) bool { return t.Index == g.Index }) {
			p.is(fmt.Sprintf("GID[%d]", g.Index), g.GID, "")
		}
	}
}

// gidKinds are the tool's words for the types of GIDs. A type that has none here
// is not compared.
var gidKinds = map[string]string{"RoCE v2": "roce_v2", "RoCE v1": "roce_v1", "IB/RoCE v1": "roce_v1"}

// attribute is a field of a struct of C's as the document has it.
type attribute struct {
	name, text string
	number     bool // text is decimal
}

// structFields are the fields of such a struct by their names; of nil there are
// none.
func structFields[T any](attr *T) map[string]attribute {
	fields := map[string]attribute{}
	if attr == nil {
		return fields
	}
	v := reflect.ValueOf(attr).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = attribute{name, fmt.Sprint(v.Field(i).Interface()), v.Field(i).Kind() != reflect.String}
	}
	return fields
}
