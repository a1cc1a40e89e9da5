package probe

import (
	"fmt"
	"slices"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// dataIDs are the rows of messages, and of remote writes.
var dataIDs = []string{"pingpong.uc", "pingpong.rc", "op.rdma_write"}

// bothHere tells whether all of these rows say that both their ends were on this
// machine. A simulated peer plays another one.
func bothHere(rows []*Observation) bool {
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(o *Observation) bool {
		mode := dataText(o.Params, "mode")
		return mode != modeLoopback && mode != modeTwoDevices
	})
}

// localCheck is what shows whether a data row is mended that had no other host in it.
func localCheck(device string) string {
	return "rdmaprobe probe -d " + shellName(device, "DEVICE") + " --pingpong"
}

// dataHits makes one hit per device from the data rows that tell something.
func (v *findingView) dataHits(tell func(*Observation) (text string, ok bool), finish func(device string, rows []*Observation, h *findingHit)) []findingHit {
	var hits []findingHit
	for _, name := range v.devicesSeen() {
		var rows []*Observation
		h := findingHit{scope: name}
		for _, id := range dataIDs {
			for _, o := range v.of(name, id) {
				text, ok := tell(o)
				if !ok {
					continue
				}
				if o.Detail != "" {
					text += ": " + printable(o.Detail)
				}
				if len(rows) > 0 {
					h.message += "; "
				}
				h.message += text
				rows = append(rows, o)
			}
		}
		if len(rows) == 0 {
			continue
		}
		h.seen = keysOf(rows...)
		finish(name, rows, &h)
		if bothHere(rows) {
			h.check = localCheck(name)
		}
		hits = append(hits, h)
	}
	return hits
}

// wrongBytes tells whether a row saw bytes that nobody had sent. A write that left
// its target as it was brought none.
func wrongBytes(o *Observation) bool {
	changed, _ := o.Data["changed"].(bool)
	return o.Level == rdma.CapabilityUnknown && o.Reason == PayloadMismatch && (changed || o.ID != "op.rdma_write")
}

func payloadMismatch(v *findingView) []findingHit {
	return v.dataHits(func(o *Observation) (string, bool) {
		text := o.ID + ": bytes arrived that are not those that were sent"
		if n, ok := dataInt(o.Data, "size"); ok {
			text = fmt.Sprintf("%s, %d bytes each: a message arrived that is not the one that was sent", o.ID, n)
		}
		return text, wrongBytes(o)
	}, func(_ string, rows []*Observation, h *findingHit) {
		h.remedy = "do not use this path for data. Repeat it with another --size, in the other direction and with another peer, which shows whether the path or one end damages messages"
		if bothHere(rows) {
			h.remedy = "do not use this device for data. Repeat it with another --size, and with --peer: both ends were on this machine, so that neither cable nor peer can be the cause"
		}
		if slices.ContainsFunc(rows, func(o *Observation) bool { return dataText(o.Params, "handshake") == remoteStock }) {
			h.remedy += ". Repeat it with `rdmaprobe serve` at the other end first: a tool that does not send back what it got looks the same"
		}
		h.remedy += "; then report it to the vendor with the file of `rdmaprobe report --bundle FILE.tar.gz`"
	})
}

func receiverDidNotConfirm(v *findingView) []findingHit {
	return v.dataHits(func(o *Observation) (string, bool) {
		return o.ID + ": the end that received did not show that it has what was sent", o.Level == rdma.CapabilityUnknown && o.Reason == Unproven
	}, func(_ string, rows []*Observation, h *findingHit) {
		h.remedy = "look at what `rdmaprobe serve` said at the other end, take the same release at both, and repeat it"
		if bothHere(rows) {
			h.remedy = "repeat it: both ends were on this machine, so that no peer can be the cause. If it stays, report it to the vendor with the file of `rdmaprobe report --bundle FILE.tar.gz`"
		}
	})
}

// refusedData tells whether a provider failed a message itself: its call returned an
// error, the work completed with one, or the answer was impossible. What the other
// end or the port explains has a finding of its own.
func refusedData(o *Observation) bool {
	if o.Level != rdma.CapabilityUnknown || outcomeOf(o) != "" && outcomeOf(o) != guard.Completed || retryExceeded(o) {
		return false
	}
	if _, down := o.Data["port_state"]; down {
		return false
	}
	_, failed := o.Data["wc_status"]
	failed = failed || o.Return != nil && (o.Return.Number != 0 || o.Return.Null)
	switch o.Reason {
	case Invalid, ProviderError:
		return true
	case Exhausted, Permission, Unreachable, Timeout:
		return failed
	}
	return false
}

func dataTransferFailed(v *findingView) []findingHit {
	return v.dataHits(func(o *Observation) (string, bool) {
		text := o.ID + " failed"
		if o.Call != "" {
			text += " in " + printable(o.Call)
		}
		if o.Errno != nil {
			text += " " + errnoWords(o)
		}
		return text, refusedData(o)
	}, func(device string, rows []*Observation, h *findingHit) {
		h.remedy = "look at the kernel log for the driver's reason, and repeat it with a smaller --size"
		if !bothHere(rows) {
			h.remedy += " and with another peer"
		}
		if slices.ContainsFunc(rows, func(o *Observation) bool { return o.Reason == Invalid && o.Errno == nil }) {
			h.remedy = "no provider can truthfully give this answer: do not use the device for data. Take library, provider and driver from one release"
		}
		h.remedy += "; if it stays, report it with the file of `rdmaprobe report --bundle FILE.tar.gz`"
		// A write that fails where messages arrive blocks programs that write, no others.
		writes := !slices.ContainsFunc(rows, func(o *Observation) bool { return o.ID != "op.rdma_write" })
		if writes && (v.confirmedOn(device, "pingpong.rc") || v.confirmedOn(device, "pingpong.uc")) {
			h.severity = SeverityWarning
		}
	})
}
