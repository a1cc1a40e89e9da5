package probe

import (
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// fine lists what was checked and is as it should be, one phrase a kind. A check
// that was not made is not in it.
func (j *judgement) fine() []string {
	var all []string
	add := func(holds bool, text string) {
		if holds {
			all = append(all, text)
		}
	}
	missed := slices.ContainsFunc(j.d.Observations, func(o Observation) bool { return o.Reason == SymbolMissing })
	add(!missed && j.has("", "lib.load", rdma.CapabilityConfirmed) && j.has("", "lib.symbols", rdma.CapabilityConfirmed), "the verbs library loads and has what is needed")
	add(j.mac() && j.h.RDMACtl == "enabled" && !j.oldThunderbolt(), "rdma_ctl says enabled")
	add(j.mac() && j.h.Thunderbolt != nil && j.h.Thunderbolt.Generation >= 5, "the controllers are Thunderbolt 5")
	add(j.h.MemlockKiB != nil && *j.h.MemlockKiB == -1, "locked memory is unlimited")
	steady := j.on("port.state", func(o *Observation) bool {
		return o.Level == rdma.CapabilityConfirmed && len(dataTexts(o.Data, "samples")) > 1
	})
	add(len(steady) > 0, "the state of "+listed(steady)+" did not change between samples")
	if usable := j.withGID(); len(usable) > 0 {
		all = append(all, "a GID to use: "+listed(usable))
	}
	all = append(all, j.created()...)
	return all
}

// withGID lists the devices with an ACTIVE port and a GID that nothing speaks
// against.
func (j *judgement) withGID() []string {
	var names []string
	for i := range j.d.Devices {
		dev := &j.d.Devices[i]
		spoiled := slices.ContainsFunc(j.scopes[dev.Name], func(i int) bool {
			f := &j.d.Findings[i]
			return f.Severity != SeverityInfo && (f.Code == "netdev_without_address" || strings.HasPrefix(f.Code, "gid_"))
		})
		id := "gid.usable"
		if dev.thunderbolt(j.h.OS) {
			id = "gid.ipv4_mapped"
		}
		if j.activeOf(dev) && !spoiled && j.has(dev.Name, id, rdma.CapabilityConfirmed) {
			names = append(names, printable(dev.Name))
		}
	}
	return names
}

// created says what was created, and freed again, on which devices.
func (j *judgement) created() []string {
	confirmed := func(o *Observation) bool { return o.Level == rdma.CapabilityConfirmed }
	freed := map[string]bool{}
	for _, n := range j.on("teardown", confirmed) {
		freed[n] = true
	}
	var devices, texts []string
	things := map[string][]string{}
	for _, made := range []struct{ id, what string }{
		{"mr.register", "memory region"}, {"qp.uc.create", "UC"}, {"qp.rc.create", "RC"}, {"qp.ud.create", "UD"},
	} {
		on := slices.DeleteFunc(j.on(made.id, confirmed), func(n string) bool { return !freed[n] })
		if len(on) == 0 {
			continue
		}
		if things[listed(on)] == nil {
			devices = append(devices, listed(on))
		}
		things[listed(on)] = append(things[listed(on)], made.what)
	}
	for _, names := range devices {
		texts = append(texts, "created and freed on "+names+": "+sentence(things[names]))
	}
	return texts
}

// on lists the devices on which a row of an id holds, and none of them does not.
func (j *judgement) on(id string, holds func(*Observation) bool) []string {
	var names []string
	for i := range j.d.Devices {
		rows := j.of(j.d.Devices[i].Name, id)
		if len(rows) > 0 && !slices.ContainsFunc(rows, func(o *Observation) bool { return !holds(o) }) {
			names = append(names, printable(j.d.Devices[i].Name))
		}
	}
	return names
}

// maxListed bounds how many names a phrase repeats.
const maxListed = 4

// listed writes names, or their number where they are many.
func listed(names []string) string {
	if len(names) > maxListed {
		return count(len(names), "device")
	}
	return sentence(names)
}
