package probe

import (
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// Verdict is what a diagnosis comes to: one line, and a word for each port. It
// is worked out from the document alone.
type Verdict struct {
	Word     string         `json:"word"`  // ready (some port is), not_ready, impossible or not_known
	Text     string         `json:"text"`  // one line
	Ready    int            `json:"ready"` // ports that are ready
	Ports    []PortVerdict  `json:"ports"`
	Fine     []string       `json:"fine,omitempty"`     // what was checked and is as it should be
	Disagree []Disagreement `json:"disagree,omitempty"` // sources that contradict each other
}

// PortVerdict is the verdict on one port. A device whose ports are not known has
// one without a number.
type PortVerdict struct {
	Device    string  `json:"device"`
	Port      int     `json:"port,omitempty"`
	State     string  `json:"state,omitempty"`
	Interface string  `json:"interface,omitempty"`  // its network interface
	Peer      string  `json:"peer,omitempty"`       // the machine at the other end of the cable
	ViaHub    bool    `json:"via_hub,omitempty"`    // with a hub between
	SpeedGbps float64 `json:"speed_gbps,omitempty"` // of the link as trained, else of the port
	Word      string  `json:"word"`                 // ready, not_ready, impossible or not_known
	Why       string  `json:"why,omitempty"`        // with every word but ready
	Finding   string  `json:"finding,omitempty"`    // the code that stands behind it
}

// Words of a verdict.
const (
	VerdictReady      = "ready"      // ACTIVE, a GID where one is needed, UC or RC created, nothing found wrong
	VerdictNotReady   = "not_ready"  // something is known to be missing or wrong
	VerdictImpossible = "impossible" // nothing that can be set on this machine helps
	VerdictNotKnown   = "not_known"  // what would tell was not read or not tried
)

// impossibleCodes are the findings that no setting of the machine cures.
var impossibleCodes = []string{"thunderbolt_generation_unsupported", "os_too_old"}

// blockingWarnings are warnings, since other devices work all the same, about a
// device that itself cannot be used.
var blockingWarnings = []string{"mac_studio_port_en2", "uverbs_node_missing", "device_without_provider"}

// awayFromPorts are errors that say nothing about a port of this machine.
var awayFromPorts = []string{"control_channel_blocked_local_network", "required_capability_not_confirmed", "no_rdma_device", codeLimitMet}

// VerdictOf concludes from a document with its findings. A port is ready when it
// is ACTIVE, has a GID where it is addressed by one, a UC or RC queue pair was
// created in this run, and no error is found about it. What was not tried is not
// known, never not ready.
func VerdictOf(d *Document) *Verdict {
	j := newJudgement(d)
	v := &Verdict{Ports: []PortVerdict{}, Fine: j.fine(), Disagree: j.disagree()}
	for i := range d.Devices {
		v.Ports = append(v.Ports, j.ports(&d.Devices[i])...)
	}
	for _, p := range v.Ports {
		if p.Word == VerdictReady {
			v.Ready++
		}
	}
	v.Word, v.Text = j.conclude(v)
	return v
}

// judgement is a document under judgement.
type judgement struct {
	*findingView
	scopes map[string][]int        // the places of the findings, by scope
	rests  map[int]map[string]bool // of those about the host: the devices that they rest on, "host" among them
}

func newJudgement(d *Document) *judgement {
	j := &judgement{newFindingView(d, FindingContext{}), map[string][]int{}, map[int]map[string]bool{}}
	for i := range d.Findings {
		f := &d.Findings[i]
		j.scopes[f.Scope] = append(j.scopes[f.Scope], i)
		if f.Scope != "host" {
			continue
		}
		j.rests[i] = map[string]bool{}
		for _, o := range f.Observations {
			name, _, _ := strings.Cut(o, "/")
			j.rests[i][name] = true
		}
	}
	return j
}

// findingsOn are the findings of some scopes, in the order of the document.
func (j *judgement) findingsOn(scopes ...string) []int {
	var places []int
	for _, s := range scopes {
		places = append(places, j.scopes[s]...)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// conclude puts the whole into a word and a line.
func (j *judgement) conclude(v *Verdict) (word, text string) {
	if f := j.impossible(); f != nil {
		return VerdictImpossible, "cannot work on this " + j.machine() + ": " + j.brief(*f)
	}
	if i := slices.IndexFunc(j.d.Findings, func(f Finding) bool { return f.Code == codeLimitMet }); i >= 0 {
		return VerdictNotKnown, fmt.Sprintf("not known: %s; of what was seen RDMA is ready on %d of %s", j.brief(j.d.Findings[i]), v.Ready, count(len(v.Ports), "port"))
	}
	cause := j.mainCause(v)
	switch n := len(v.Ports); {
	case v.Ready > 0:
		return VerdictReady, fmt.Sprintf("RDMA is ready on %d of %s", v.Ready, count(n, "port")) + j.rest(v)
	case n == 0 && cause == nil:
		return VerdictNotKnown, "not known: " + j.whyNothing()
	case n == 0:
		return VerdictNotReady, "RDMA is not ready: " + j.brief(*cause)
	}
	why, known := j.mainWhy(v, cause)
	switch {
	case !known:
		return VerdictNotKnown, "not known: " + why
	case len(v.Ports) == 1:
		return VerdictNotReady, "RDMA is not ready: " + why
	}
	return VerdictNotReady, fmt.Sprintf("RDMA is ready on none of %d ports: %s", len(v.Ports), why)
}

// rest names what the count of ready ports does not say.
func (j *judgement) rest(v *Verdict) string {
	text, unknown := "", 0
	for _, p := range v.Ports {
		if p.Word == VerdictNotKnown {
			unknown++
		}
	}
	if unknown > 0 {
		text += fmt.Sprintf(", not known on %d", unknown)
	}
	if i := slices.IndexFunc(j.d.Observations, func(o Observation) bool { return o.Reason == Unreachable }); i >= 0 {
		text += "; the peer was not reached"
		if e := j.d.Observations[i].Errno; e != nil && e.Name != "" {
			text += " (" + printable(e.Name) + ")"
		}
	}
	if j.transitionFailed(v) {
		text += "; a transition to RTR failed earlier in this boot, and probe tries none without --force"
	}
	return text
}

// transitionFailed tells whether the kernel's log holds data probes off a port that is
// ready otherwise.
func (j *judgement) transitionFailed(v *Verdict) bool {
	ready := slices.ContainsFunc(v.Ports, func(p PortVerdict) bool { return p.Word == VerdictReady && j.thunderbolt(p.Device) })
	return ready && slices.ContainsFunc(j.h.KernelLog, failedRTR().MatchString)
}

// impossible is the error that nothing on this machine cures: the machine's own before
// that of its system.
func (j *judgement) impossible() *Finding {
	for _, code := range impossibleCodes {
		for i := range j.d.Findings {
			if f := &j.d.Findings[i]; f.Code == code && f.Severity == SeverityError {
				return f
			}
		}
	}
	return nil
}

// mainCause is the error that stands behind the verdict: one about a port or the
// host, the cause before its effects; nil when there is none.
func (j *judgement) mainCause(v *Verdict) *Finding {
	var cause *Finding
	stands := map[codeScope]bool{}
	for _, p := range v.Ports {
		stands[codeScope{p.Finding, p.Device}], stands[codeScope{p.Finding, p.Interface}] = true, true
	}
	for i := range j.d.Findings {
		f := &j.d.Findings[i]
		behind := f.Scope == "host" && f.Severity == SeverityError && (len(v.Ports) == 0 || !slices.Contains(awayFromPorts, f.Code)) ||
			stands[f.place()]
		if behind && (cause == nil || codePlace(f.Code) < codePlace(cause.Code)) {
			cause = f
		}
	}
	return cause
}

// mainWhy is the reason of a verdict without any ready port: an error that is found,
// else what is not known of a port, else why one is not ready. known is false when
// what is not known may well be fine.
func (j *judgement) mainWhy(v *Verdict, cause *Finding) (why string, known bool) {
	isWord := func(word string) func(PortVerdict) bool {
		return func(p PortVerdict) bool { return p.Word == word }
	}
	at := slices.IndexFunc(v.Ports, isWord(VerdictNotReady))
	unknown := slices.IndexFunc(v.Ports, isWord(VerdictNotKnown))
	switch {
	case at >= 0 && cause != nil && cause.Severity == SeverityError:
		why = j.brief(*cause)
		alike := !slices.ContainsFunc(v.Ports, func(p PortVerdict) bool { return p.Why != v.Ports[0].Why })
		if len(v.Ports) > 1 && !alike && cause.Scope != "host" && !strings.Contains(why, printable(cause.Scope)) {
			why += " (" + printable(cause.Scope) + ")"
		}
		return why + j.rest(v), true
	case unknown < 0:
		return v.Ports[at].Why, true
	}
	p := v.Ports[unknown]
	return fmt.Sprintf("%s: %s", printable(p.Device), p.Why), false
}

// whyNothing says why no port can be spoken of and no error is found.
func (j *judgement) whyNothing() string {
	for _, id := range hostIDs {
		for _, o := range j.of("", id) {
			if o.Level == rdma.CapabilityUnknown {
				return "the devices could not be listed" + j.because("", id)
			}
		}
	}
	return "no device was looked at"
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// VerdictWords writes a verdict's word for people.
func VerdictWords(word string) string {
	if word == VerdictImpossible {
		return "cannot work"
	}
	return strings.ReplaceAll(word, "_", " ")
}
