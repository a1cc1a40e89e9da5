package probe

import (
	"fmt"
	"slices"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// readRefused tells whether the provider failed a call that opens or reads a device:
// by an error of its own, or by an answer that cannot be.
func readRefused(o *Observation) bool {
	return o.Level == rdma.CapabilityUnknown && o.Call != "" && (outcomeOf(o) == "" || outcomeOf(o) == guard.Completed) &&
		slices.Contains([]Reason{ProviderError, Invalid, Exhausted, Permission, Unreachable}, o.Reason)
}

// refusedText names the call that failed, and how: ibv_open_device failed with errno
// 19 (ENODEV).
func refusedText(o *Observation) string {
	text := printable(o.Call)
	switch {
	case o.Errno != nil || o.Return != nil && o.Return.Null:
		return text + " failed " + errnoWords(o)
	case o.Return != nil && o.Return.Number != 0:
		return fmt.Sprintf("%s returned %d", text, o.Return.Number)
	case o.Detail != "":
		return text + ": " + printable(o.Detail)
	}
	return text + " failed"
}

// readFailures are the rows of a device, under some ids, of calls that failed.
func (v *findingView) readFailures(device string, ids ...string) []*Observation {
	var rows []*Observation
	for _, id := range ids {
		rows = append(rows, slices.DeleteFunc(v.of(device, id), func(o *Observation) bool { return !readRefused(o) })...)
	}
	return rows
}

func deviceOpenFailed(v *findingView) []findingHit {
	return v.readFailed(func(dev *Device) []*Observation {
		if v.opened(dev.Name) {
			return nil
		}
		return v.readFailures(dev.Name, "dev.open")
	}, ": the device is listed and cannot be opened, so that nothing is known of it")
}

func portQueryFailed(v *findingView) []findingHit {
	return v.readFailed(func(dev *Device) []*Observation {
		rows := v.readFailures(dev.Name, "port.query", "port.state")
		if v.activeOf(dev) && linkKind(dev) != "infiniband" { // else no GID is needed
			rows = append(rows, v.readFailures(dev.Name, "gid.usable")...)
			if v.thunderbolt(dev.Name) { // which needs one of this kind
				rows = append(rows, v.readFailures(dev.Name, "gid.ipv4_mapped")...)
			}
		}
		return rows
	}, ": what it should tell is not known, and nothing that needs it was tried", v.attributesUnread()...)
}

// attributesUnread: a device whose attributes cannot be read may work all the same.
// How many ports it has is then not known.
func (v *findingView) attributesUnread() []findingHit {
	var hits []findingHit
	for _, name := range v.devicesSeen() {
		for _, o := range v.of(name, "port.query") {
			text := dataText(o.Data, "query_device_error")
			if text == "" {
				continue
			}
			h := findingHit{
				scope: name, severity: SeverityWarning, seen: keysOf(o), remedy: v.readRemedy(name, o),
				message: printable(text) + ": the limits of the device and the number of its ports are not known, and only port 1 was looked at",
			}
			if has, known := v.d.Provider.Library.Symbols["ibv_query_device"]; known && !has {
				h.severity, h.facts = SeverityInfo, []string{"provider.library.symbols"}
				h.remedy = "nothing has to be done for it: the library has no ibv_query_device, and everything else is tried without"
			}
			hits = append(hits, h)
			break
		}
	}
	return hits
}

func (v *findingView) readFailed(which func(*Device) []*Observation, so string, hits ...findingHit) []findingHit {
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		rows := which(dev)
		if len(rows) == 0 {
			continue
		}
		var texts []string
		for _, o := range rows {
			texts = union(texts, []string{refusedText(o)})
		}
		hits = append(hits, findingHit{
			scope: dev.Name, message: sentence(texts) + so, remedy: v.readRemedy(dev.Name, rows[0]), seen: keysOf(rows...),
		})
	}
	return hits
}

// readRemedy fits the errno as far as it says something that can be acted on.
func (v *findingView) readRemedy(device string, o *Observation) string {
	switch {
	case errnoNamed(o, "EMFILE", "ENFILE"):
		return "raise the limit of open files (`ulimit -n`), or end programs that hold many"
	case errnoNamed(o, "EACCES", "EPERM"):
		return "run it as a user who may open the device: the group of its node, or root"
	case errnoNamed(o, "EBUSY"):
		return "end the program that has the device; restart the machine if there is none"
	case v.thunderbolt(device):
		return "look for the provider's reason in " + v.driverLog() + ", unplug the Thunderbolt cable and plug it in again; restart the " + v.machine() + " if it stays"
	}
	return "look at the kernel log (`sudo dmesg`) for the driver's reason: a reset, a removal, a firmware that does not answer. Then reload the driver, or plug the device in again; restart the machine if it stays"
}
