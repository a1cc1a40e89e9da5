package probe

import (
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// exchange is what a row of the data class says about its messages.
type exchange struct {
	count, verified int64
	lost            int64 // sent and waited for in vain
	known           bool  // the counts were recorded
	cut             bool  // the deadline came while messages went through, and none was lost
}

func exchangeOf(o *Observation) exchange {
	var e exchange
	var a, b bool
	e.count, a = dataInt(o.Data, "count")
	e.verified, b = dataInt(o.Data, "verified")
	e.known = a && b
	lost, told := dataInt(o.Data, "lost")
	if e.lost = lost; !told {
		e.lost = e.count - e.verified
	}
	e.cut = e.known && told && lost == 0 && e.verified > 0 && o.Reason == Timeout && outcomeOf(o) == guard.Completed
	return e
}

// retryExceeded tells whether a completion said that the peer never answered.
func retryExceeded(o *Observation) bool {
	switch strings.TrimPrefix(dataText(o.Data, "wc_status"), "IBV_WC_") {
	case "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR":
		return true
	}
	n, ok := dataInt(o.Data, "wc_status")
	return ok && (n == 12 || n == 13)
}

// unanswered tells whether a row of the data class ended without an answer from
// the peer, and how.
func unanswered(o *Observation) (how string, yes bool) {
	if o.Level != rdma.CapabilityUnknown {
		return "", false
	}
	e := exchangeOf(o)
	late := o.Reason == Timeout || o.Reason == NoCompletion
	switch {
	case inFlight(o, guard.TimedOut, guard.Left, guard.Stuck) && inData(o) && o.Call != "":
		return "a provider call hung while messages were sent, " + callText(o), true
	case retryExceeded(o):
		return "the sender's retries were used up without an answer", true
	case e.cut:
		return "", false
	case leftAlone(o):
		return "the other end went away while messages were sent", true
	case !late || outcomeOf(o) != "" && outcomeOf(o) != guard.Completed:
		return "", false
	case refusedData(o):
		return "", false // its call said so at once
	case o.ID == "pingpong.uc" && e.known && e.verified > 0 && e.lost > 0:
		return "", false // some came through: they were lost, not unanswered
	}
	return "no completion before the deadline", true
}

// leftAlone tells whether the end that asked for messages lost the other one among
// them. Clients come and go: what a server loses is no fault.
func leftAlone(o *Observation) bool {
	e := exchangeOf(o)
	_, down := o.Data["port_state"]
	return o.Reason == Unreachable && e.known && e.verified < e.count && !down && !refusedData(o) && dataText(o.Params, "role") != "server"
}

func pingpongTimeout(v *findingView) []findingHit {
	return v.eventHits(v.timeoutText, func(e pastEvent) (string, bool) {
		return "not tried again, because a provider call hung while messages were sent" + e.when(), (e.event == "timed_out" || e.event == "left") && e.data
	}, func(device string, again bool, h *findingHit) {
		h.remedy = "check that the other end runs and answers, that both ends use GIDs of one network, and that nothing between them filters RDMA; the peer may be gone"
		then := "check that the other end runs and answers"
		if rows := v.timeouts(device); bothHere(rows) {
			h.remedy = "both ends were on this machine, so that the provider alone is to be asked: " + v.resetRemedy(device)
			then, h.check = v.resetRemedy(device), localCheck(device)
		}
		if dev := v.device(device); dev != nil {
			if good, used, differ := v.otherIndex(dev); differ {
				h.remedy = fmt.Sprintf("use GID index %d instead of %d, or leave out --gid-index; then %s", good, used, then)
			}
		}
		if again {
			h.remedy += lifted
		}
	})
}

// timeoutText tells of a data row that got no answer.
func (v *findingView) timeoutText(o *Observation) (string, bool) {
	if !slices.Contains(dataIDs, o.ID) {
		return "", false
	}
	text, ok := unanswered(o)
	text = o.ID + ": " + text
	e := exchangeOf(o)
	if e.known {
		text += fmt.Sprintf(" (%d of %d round trips)", e.verified, e.count)
	}
	if n, used := v.exchangeIndex(o); used {
		text += fmt.Sprintf(", with GID index %d", n)
	}
	return text, ok && !(e.known && e.lost > 0 && v.goesOver(o)) // those are uc_message_loss
}

// timeouts are the rows of a device that got no answer.
func (v *findingView) timeouts(device string) []*Observation {
	return slices.DeleteFunc(slices.Clone(v.rows[device]), func(o *Observation) bool {
		_, ok := v.timeoutText(o)
		return !ok
	})
}

// exchangeIndex is the GID index that the queue pair of a data row had: by its own
// parameters, or by those of its transition when it hung before it could tell.
func (v *findingView) exchangeIndex(o *Observation) (int64, bool) {
	rows := []*Observation{o}
	if _, kind, ok := strings.Cut(o.ID, "pingpong."); ok {
		rows = append(rows, v.of(o.Device, "qp."+kind+".rtr")...)
	}
	for _, r := range rows {
		if n, ok := dataInt(r.Params, "gid_index"); ok {
			return n, true
		}
	}
	return 0, false
}

// otherIndex tells whether the ping-pongs of a device used another GID index than
// rdmaprobe would choose.
func (v *findingView) otherIndex(dev *Device) (good, used int64, differ bool) {
	for _, id := range []string{"pingpong.uc", "pingpong.rc"} {
		for _, o := range v.of(dev.Name, id) {
			good, ok := v.goodIndexOf(dev, o)
			if n, has := v.exchangeIndex(o); ok && has && n != good {
				return good, n, true
			}
		}
	}
	return 0, 0, false
}

// goesOver tells whether other messages than these came back, of another size or
// over RC: the other end is there, and UC does not get these through.
func (v *findingView) goesOver(o *Observation) bool {
	return o.ID == "pingpong.uc" && (v.confirmedOn(o.Device, o.ID) || v.confirmedOn(o.Device, "pingpong.rc"))
}

func ucMessageLoss(v *findingView) []findingHit {
	var hits []findingHit
	for _, name := range v.devicesSeen() {
		for _, o := range v.of(name, "pingpong.uc") {
			e := exchangeOf(o)
			if o.Level != rdma.CapabilityUnknown || o.Reason == Crash || !e.known || e.lost <= 0 || e.verified <= 0 && !v.goesOver(o) {
				continue
			}
			of := ""
			if n, ok := dataInt(o.Data, "size"); ok {
				of = fmt.Sprintf(" of %d bytes", n)
			}
			h := findingHit{
				scope: name, seen: keysOf(o),
				message: fmt.Sprintf("%d of %d round trips%s over UC came back and were verified, %d were lost: UC drops without notice what it cannot deliver at once", e.verified, e.count, of, e.lost),
				remedy:  "post receives before the other end sends, and expect loss: a program over UC needs its own deadlines",
			}
			if v.confirmedOn(name, "pingpong.rc") || v.confirmedOn(name, "qp.rc.create") {
				h.remedy = "use RC, which is confirmed on this device, for anything that must arrive"
				h.seen = append(h.seen, name+"/qp.rc.create")
			}
			hits = append(hits, h)
		}
	}
	return hits
}

func completionWithoutDelivery(v *findingView) []findingHit {
	var hits []findingHit
	for _, name := range v.devicesSeen() {
		for _, o := range v.of(name, "op.rdma_write") {
			delivered, known := o.Data["delivered"].(bool)
			if !known || delivered || !completedWell(o) || wrongBytes(o) {
				continue
			}
			hits = append(hits, findingHit{
				scope: name, seen: keysOf(o),
				message: "a remote write completed with success at the sender, and the target's bytes did not change",
				remedy:  "do not take completions of this provider as proof of delivery: let the receiver check the bytes, or send them by SEND and RECV",
			})
		}
	}
	return hits
}

// completedWell tells whether the sender of a row got a successful completion.
func completedWell(o *Observation) bool {
	status := strings.TrimPrefix(dataText(o.Data, "wc_status"), "IBV_WC_")
	n, numeric := dataInt(o.Data, "wc_status")
	switch {
	case status != "":
		return status == "SUCCESS"
	case numeric:
		return n == 0
	}
	return o.Reason != Timeout && o.Reason != NoCompletion && o.Errno == nil
}

// stderrOf are the texts that children left, with the rows they belong to. A
// child of several devices speaks for the host.
func (v *findingView) stderrOf() map[string]map[string][]*Observation {
	devices := map[string]map[string]bool{}
	for i := range v.d.Observations {
		if o := &v.d.Observations[i]; o.Child != nil && o.Child.Stderr != "" {
			key := childKey(o)
			if devices[key] == nil {
				devices[key] = map[string]bool{}
			}
			devices[key][o.Device] = true
		}
	}
	texts := map[string]map[string][]*Observation{}
	for i := range v.d.Observations {
		o := &v.d.Observations[i]
		if o.Child == nil || o.Child.Stderr == "" || outcomeOf(o) == guard.Crashed {
			continue // what a dying child writes is told with its death
		}
		scope := o.Device
		if len(devices[childKey(o)]) > 1 {
			scope = ""
		}
		if texts[scope] == nil {
			texts[scope] = map[string][]*Observation{}
		}
		texts[scope][o.Child.Stderr] = append(texts[scope][o.Child.Stderr], o)
	}
	return texts
}

func childKey(o *Observation) string { return fmt.Sprint(o.Run, " ", o.Child.PID, " ", o.Child.Stderr) }

func providerStderr(v *findingView) []findingHit {
	all := v.stderrOf()
	common := []string{} // lines of the listing, which every child repeats
	for text := range all[""] {
		common = append(common, strings.Split(text, "\n")...)
	}
	var hits []findingHit
	for _, scope := range append([]string{""}, v.devicesSeen()...) {
		texts := []string{}
		h := findingHit{scope: scope}
		for text, rows := range all[scope] {
			own := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
				return strings.TrimSpace(line) == "" || scope != "" && slices.Contains(common, line)
			})
			if len(own) > 0 {
				texts, h.seen = append(texts, printable(strings.Join(own, " / "))), append(h.seen, keysOf(rows...)...)
			}
		}
		if len(texts) == 0 {
			continue
		}
		slices.Sort(texts)
		slices.Sort(h.seen)
		h.message = "the library wrote to its standard error: " + printable(strings.Join(texts, " / "))
		h.remedy = "none needed: the text is kept as evidence, and no result was changed because of it"
		hits = append(hits, h)
	}
	return hits
}

// readID is the one id that no run confirms.
const readID = "op.rdma_read"

func requiredCapabilityNotConfirmed(v *findingView) []findingHit {
	lacking := map[string][]string{} // by device: what it does not confirm
	missing := unmet(v.c.Required, v.c.NamedDevices, v.d)
	for _, what := range v.c.Required {
		devices, ok := missing[what]
		if !ok {
			continue
		}
		for _, name := range v.c.NamedDevices {
			if v.device(name) == nil {
				devices = append(slices.Clone(devices), name)
			}
		}
		if len(devices) == 0 {
			devices = []string{""}
		}
		for _, name := range devices {
			lacking[name] = union(lacking[name], []string{what})
		}
	}
	var hits []findingHit
	for name, what := range lacking {
		h := findingHit{scope: name, remedy: "see the other findings and the reason of the level", check: "rdmaprobe probe"}
		if name != "" {
			h.check += " -d " + shellName(name, "DEVICE")
		}
		var texts []string
		for _, w := range what {
			text, rows := v.levelOf(name, w)
			texts = append(texts, printable(w)+" is "+text)
			h.seen = union(h.seen, keysOf(rows...))
			if ids, _ := requiredIDs(w); slices.Contains(ids, readID) {
				h.remedy += "; drop " + printable(w) + ", which can never pass: the binding of rdmaprobe does not expose RDMA READ"
				continue
			}
			h.check += " --require " + shellName(w, "WHAT")
		}
		h.message = "required, and not confirmed by this run: " + strings.Join(texts, "; ")
		if len(h.seen) == 0 {
			h.facts = []string{"devices"}
		}
		hits = append(hits, h)
	}
	return hits
}

// levelOf writes the level of a requirement on a device, with why.
func (v *findingView) levelOf(device, what string) (string, []*Observation) {
	ids, _ := requiredIDs(what)
	var rows []*Observation
	for _, id := range ids {
		rows = append(rows, v.of(device, id)...)
	}
	if len(rows) == 0 {
		return "unknown (not probed)", nil
	}
	order := []rdma.Capability{rdma.CapabilityConfirmed, rdma.CapabilityRejected, rdma.CapabilityObservedZero, rdma.CapabilityUnknown}
	best := slices.MinFunc(rows, func(a, b *Observation) int { return slices.Index(order, a.Level) - slices.Index(order, b.Level) })
	text := string(best.Level)
	switch {
	case best.Reason != "":
		text += " (" + string(best.Reason) + ")"
	case best.Errno != nil:
		text += " (" + printable(best.Errno.Name) + ")"
	case best.Level == rdma.CapabilityConfirmed && oneSided(best):
		text += " by a round trip that was checked here and not at the other end: --require needs `rdmaprobe serve` there"
	}
	return text, rows
}
