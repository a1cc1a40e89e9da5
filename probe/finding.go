package probe

import (
	"slices"
	"time"
)

// FindingContext is what findings need and the document does not hold. The zero
// value knows nothing, and nothing is concluded from what is not known.
type FindingContext struct {
	Command      string            // devices, probe, doctor or report
	NamedDevices []string          // -d
	Port         int               // -i; 0: not given
	GIDIndex     *int              // --gid-index
	Required     []string          // --require: capability keys and evidence ids
	Peers        []PeerFacts       // the other ends, as they announced themselves
	PreviousGIDs map[string]string // device: its IPv4-mapped GID in the last recorded run
	Control      *ControlFacts     // the side channel, when one was used or tried
}

// PeerFacts is what the other end of a device announced. What it did not say is
// the zero value.
type PeerFacts struct {
	Device    string // the local device that it is the other end of; "": any
	Host      string
	OS        string // macos or linux
	OSBuild   string
	ActiveMTU int   // bytes
	GIDs      []GID // its GID table, or only the entry that it uses
	GIDIndex  *int  // the entry that it uses
}

// ControlFacts tells how the side channel to the peer went.
type ControlFacts struct {
	Peer      string // the address that was dialled, without port
	PeerName  string // the name as it was typed
	Local     string // the local address of the connection
	Interface string // the interface that has it

	Errno                *Errno        // nil: it did not fail, or without a number
	Elapsed              time.Duration // until it failed
	OtherProgramConnects *bool         // another program reaches the same address
	Ping                 *bool         // the peer answers ping
	BoundInterface       string        // a second connection was bound to this interface's address,
	BoundConnects        *bool         // and passed
}

// findingRule is one code: what it is about and how it is concluded.
type findingRule struct {
	code     string
	severity string // the default; a hit may have its own
	scope    string // what a scope is: host, device or interface
	find     func(*findingView) []findingHit
	check    string // what shows whether it is cured; DEVICE and IFACE stand for the scope
}

// Kinds of scope.
const (
	scopeHost      = "host"
	scopeDevice    = "device"
	scopeInterface = "interface"
)

// findingHit is one place where a rule holds.
type findingHit struct {
	scope    string // "" is the host
	subject  string // the device or interface that precedence compares; "" is the scope's
	ports    []int  // of the device; nil: all of it
	severity string // "" is the rule's

	message string // the cause, one line
	remedy  string // the next action
	undo    string // how to take the action back
	check   string // "" is the rule's

	seen  []string // observations, "DEVICE/ID" or "host/ID"
	facts []string // paths in the document, or of what the context knows
}

// Findings evaluates the whole catalogue over a document and returns what holds,
// worst first, then by code and scope. It is a function of its arguments alone,
// reads nothing and never fails: a fact that is absent raises nothing. The result
// is never nil.
func Findings(d *Document, c FindingContext) []Finding {
	if len(d.Hosts) > 0 {
		return findingsOfHosts(d, c)
	}
	v := newFindingView(d, c)
	var all []ruleHit
	for i := range findingRules {
		r := &findingRules[i]
		for _, h := range r.find(v) {
			hit := newRuleHit(r, h)
			hit.check = v.withPeer(hit.check)
			all = append(all, hit)
		}
	}
	return sortFindings(mergeHits(withoutEffects(all)))
}

// findingsOfHosts evaluates the catalogue for each host of a merged report. A
// scope names no host, so the message does.
func findingsOfHosts(d *Document, c FindingContext) []Finding {
	all := []Finding{}
	for _, part := range documentsOfHosts(d) {
		for _, f := range Findings(part, c) {
			f.Message = printable(part.Host.Name) + ": " + f.Message
			all = append(all, f)
		}
	}
	for _, h := range buildsOfHosts(d.Hosts) {
		all = append(all, newRuleHit(ruleOf("os_builds_differ"), h).finding())
	}
	return sortFindings(all)
}

// documentsOfHosts are the parts of a merged report, each about one of its hosts.
func documentsOfHosts(d *Document) []*Document {
	devices, rows := byHost(d.Devices, func(dev *Device) string { return dev.Host }), byHost(d.Observations, func(o *Observation) string { return o.Host })
	parts := make([]*Document, len(d.Hosts))
	for i := range d.Hosts {
		part := *d
		part.Hosts, part.Host = nil, &d.Hosts[i]
		part.Devices, part.Observations = devices[part.Host.Name], rows[part.Host.Name]
		parts[i] = &part
	}
	return parts
}

// byHost sorts parts of a document by the host that they name.
func byHost[T any](all []T, host func(*T) string) map[string][]T {
	by := map[string][]T{}
	for i := range all {
		h := host(&all[i])
		by[h] = append(by[h], all[i])
	}
	return by
}

// FindingCodes lists every code, in the order of the catalogue.
func FindingCodes() []string {
	codes := make([]string, len(findingRules))
	for i, r := range findingRules {
		codes[i] = r.code
	}
	return codes
}

// codePlace is where the catalogue has a code, -1 for nowhere.
func codePlace(code string) int {
	return slices.IndexFunc(findingRules, func(r findingRule) bool { return r.code == code })
}

// ruleOf is the rule of a code; nil when there is none.
func ruleOf(code string) *findingRule {
	for i := range findingRules {
		if findingRules[i].code == code {
			return &findingRules[i]
		}
	}
	return nil
}
