package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// ports are the verdicts of a device.
func (j *judgement) ports(dev *Device) []PortVerdict {
	ports := dev.Ports
	if len(ports) == 0 {
		ports = j.sysfsPorts(dev)
	}
	out := make([]PortVerdict, len(ports))
	for i := range ports {
		p := &ports[i]
		o := PortVerdict{Device: dev.Name, Port: p.Num, State: p.State, Interface: j.ifaceOf(dev, p), SpeedGbps: p.Speed}
		for _, l := range j.links() {
			if l.Interface == "" || l.Interface != o.Interface {
				continue
			}
			o.Peer = cmp.Or(o.Peer, l.Peer)
			o.ViaHub = o.ViaHub || l.ViaHub != nil && *l.ViaHub
			switch {
			case l.Peer == "":
				o.SpeedGbps = 0 // what the port could do is no link's speed
			case l.SpeedGbps != nil:
				o.SpeedGbps = *l.SpeedGbps
			}
		}
		o.Word, o.Why, o.Finding = j.word(dev, p, o.Interface)
		out[i] = o
	}
	return out
}

// sysfsPorts are the ports of a device that the library told nothing about, as
// the kernel has them, else one that nothing is known of.
func (j *judgement) sysfsPorts(dev *Device) []Port {
	var ports []Port
	for _, p := range j.h.Sysfs[dev.Name].Ports {
		q := Port{Num: p.Num, State: p.State}
		if p.RateGbps != nil {
			q.Speed = *p.RateGbps
		}
		ports = append(ports, q)
	}
	if len(ports) == 0 {
		ports = []Port{{State: j.h.RDMALink[dev.Name]}}
	}
	return ports
}

// word judges one port.
func (j *judgement) word(dev *Device, p *Port, iface string) (word, why, code string) {
	if f := j.blocking(dev.Name, p.Num, iface); f != nil {
		word = VerdictNotReady
		if slices.Contains(impossibleCodes, f.Code) {
			word = VerdictImpossible
		}
		return word, j.brief(*f), f.Code
	}
	if !dev.Listed {
		return VerdictNotReady, "the verbs library does not list it", ""
	}
	switch state := j.state(dev, p); {
	case state == "":
		return VerdictNotKnown, "its state is not known" + j.because(dev.Name, "dev.open", "port.query", "port.state"), ""
	case state != stateActive:
		return VerdictNotReady, j.downWhy(dev, state, iface), j.codeAbout("port_down", dev.Name, p.Num)
	}
	if word, why, code := j.gidWord(dev, p); word != "" {
		return word, why, code
	}
	word, why = j.queuePairWord(dev)
	if code := j.codeAbout(codeLimitMet, dev.Name, p.Num); word == VerdictReady && code != "" { // what was left out may speak against it
		return VerdictNotKnown, briefs[code], code
	}
	return word, why, ""
}

// blocking is the finding that keeps a port from being used, the cause before
// its effects: the catalogue is in that order.
func (j *judgement) blocking(device string, port int, iface string) *Finding {
	var worst *Finding
	for _, i := range j.findingsOn("host", device, iface) {
		f := &j.d.Findings[i]
		blocks := f.Severity == SeverityError && !slices.Contains(awayFromPorts, f.Code) ||
			f.Severity == SeverityWarning && slices.Contains(blockingWarnings, f.Code)
		about := f.Scope == "host" && j.restsOn(i, device) || f.Scope == device && ofPort(f, port) || iface != "" && f.Scope == iface
		if blocks && about && (worst == nil || codePlace(f.Code) < codePlace(worst.Code)) {
			worst = f
		}
	}
	return worst
}

// ofPort tells whether a finding about a device is about one of its ports. Of a
// port without a number nothing is known that would tell.
func ofPort(f *Finding, port int) bool {
	return port == 0 || len(f.Ports) == 0 || slices.Contains(f.Ports, port)
}

// restsOn tells whether a finding about the host is about a device: one that
// rests on what was seen of certain devices is about those alone.
func (j *judgement) restsOn(place int, device string) bool {
	on := j.rests[place]
	return on[device] || len(on) == 0 || len(on) == 1 && on["host"]
}

// codeAbout is code when there is such a finding about a port.
func (j *judgement) codeAbout(code, device string, port int) string {
	for _, i := range j.scopes[device] {
		if f := &j.d.Findings[i]; f.Code == code && ofPort(f, port) {
			return code
		}
	}
	return ""
}

// downWhy says why a port is not ACTIVE, as far as the cable tells.
func (j *judgement) downWhy(dev *Device, state, iface string) string {
	connected, known := j.connected(iface)
	switch {
	case known && !connected:
		return "nothing is connected"
	case known && linkKind(dev) == "thunderbolt":
		return "cabled, yet " + stateWord(state)
	}
	return "the port is " + stateWord(state)
}

// stateWord is a state as a sentence has it: down is a word, INIT and ARMED are names.
func stateWord(state string) string {
	if state == "init" || state == "armed" {
		return strings.ToUpper(state)
	}
	return printable(state)
}

// gidWord judges whether a port that is addressed by a GID has one that a probe takes;
// "" is yes.
func (j *judgement) gidWord(dev *Device, p *Port) (word, why, code string) {
	id, what := "gid.usable", "GID"
	switch {
	case dev.thunderbolt(j.h.OS):
		id, what = "gid.ipv4_mapped", "IPv4-mapped GID"
	case p.Addressing == "lid" || !needsGID(dev, p):
		return "", "", ""
	}
	switch g := untaken(p.LinkLayer, p.GIDs); {
	case j.gidLevel(dev, p, id, rdma.CapabilityObservedZero):
		return VerdictNotReady, "it has no " + what, ""
	case !j.gidLevel(dev, p, id, rdma.CapabilityConfirmed):
		return VerdictNotKnown, "its GID table is not known" + j.because(dev.Name, "gid.usable", id), ""
	case g != nil && g.Index == 0:
		const code = "gid_only_at_index_0"
		return VerdictNotKnown, briefs[code], j.codeAbout(code, dev.Name, p.Num)
	case g != nil:
		return VerdictNotReady, fmt.Sprintf("no queue pair can name its %s, at index %d", what, g.Index), ""
	}
	return "", "", ""
}

// queuePairWord judges whether a device makes queue pairs that can be connected.
func (j *judgement) queuePairWord(dev *Device) (word, why string) {
	unusable := []string{}
	for _, t := range []qpType{qpUC, qpRC} {
		switch how, _ := j.queuePair(dev.Name, t); how {
		case qpUsable:
			if lack := j.lack(dev.Name, "mr.register", t.id("init")); lack != "" {
				return VerdictNotKnown, "not all that a connection needs could be tried" + lack
			}
			return VerdictReady, ""
		case qpRejected, qpRefused:
			unusable = append(unusable, t.name())
		}
	}
	switch len(unusable) {
	case 2:
		why = "neither UC nor RC queue pairs can be used"
		if how, _ := j.queuePair(dev.Name, qpUD); how == qpUsable {
			why += ", only UD"
		}
		return VerdictNotReady, why
	case 1:
		return VerdictNotKnown, unusable[0] + " queue pairs cannot be used, and the other kind was not tried"
	}
	return VerdictNotKnown, "no queue pair was created" + j.because(dev.Name, "pd.alloc", "cq.create", "qp.uc.create", "qp.rc.create")
}

// lack names the function for want of which one of the ids is not known on a device;
// "" for none.
func (j judgement) lack(device string, ids ...string) string {
	for _, id := range ids {
		for _, o := range j.of(device, id) {
			if o.Reason == SymbolMissing {
				return lackText(printable(o.Call))
			}
		}
	}
	return ""
}

// because says why the rows of ids are unknown: the first that has a reason
// other than that it was not asked for, else that one.
func (j *judgement) because(device string, ids ...string) string {
	text := ""
	for _, id := range ids {
		for _, o := range j.of(device, id) {
			switch {
			case o.Level != rdma.CapabilityUnknown:
			case o.Reason == SymbolMissing && o.Call != "":
				return lackText(printable(o.Call))
			case o.Reason == NotTried || o.Reason == Precondition:
				text = cmp.Or(text, reasonWords[o.Reason])
			default:
				return ": " + cmp.Or(reasonWords[o.Reason], printable(string(o.Reason)))
			}
		}
	}
	if text != "" {
		return ": " + text
	}
	return ""
}

// reasonWords are the reasons as a verdict has them.
var reasonWords = map[Reason]string{
	NotTried: "not tried", Precondition: "what it needs failed", Timeout: "the call did not return", Crash: "the child died",
	Stuck: "the child is stuck", Unstable: "successive answers differ", Interrupted: "interrupted", Guarded: "the guard keeps it closed",
	Exhausted: "a pool is used up", Permission: "this user may not", Invalid: "the provider refused it",
	SymbolMissing: "the library lacks a function", LibraryMissing: "no library", ProviderError: "the provider failed",
}
