package probe

import (
	"fmt"

	"rdmaprobe/rdma"
)

// Disagreement is one matter on which sources say different things. None of them
// is taken for the truth here; findings say what follows.
type Disagreement struct {
	About string       `json:"about"`
	Says  []SourceSays `json:"says"`
}

// SourceSays is what one source says.
type SourceSays struct {
	Source string `json:"source"`
	Says   string `json:"says"`
}

// disagree lists the matters on which this document's sources contradict each
// other.
func (j *judgement) disagree() []Disagreement {
	var all []Disagreement
	for _, d := range []*Disagreement{j.switchAgainstDevices(), j.lockedMemory()} {
		if d != nil {
			all = append(all, *d)
		}
	}
	return append(all, j.devicesAgainstKernel()...)
}

// switchAgainstDevices sets what a Mac's switch says beside what is there.
func (j *judgement) switchAgainstDevices() *Disagreement {
	listed := 0
	for i := range j.d.Devices {
		if j.d.Devices[i].Listed {
			listed++
		}
	}
	rows, answered := j.listing()
	for _, o := range rows { // -d leaves devices out of the document
		if n, ok := dataInt(map[string]any{"n": o.Value}, "n"); ok && o.Level == rdma.CapabilityConfirmed {
			listed = max(listed, int(n))
		}
	}
	enabledForNothing := j.h.RDMACtl == "enabled" && (answered && listed == 0 || j.oldThunderbolt())
	listedForNothing := j.oldThunderbolt() && listed > 0 || j.h.RDMACtl == "disabled" && j.anyActive()
	if !j.mac() || !enabledForNothing && !listedForNothing {
		return nil
	}
	d := &Disagreement{About: "whether RDMA is there"}
	if j.h.RDMACtl != "" {
		d.say("rdma_ctl", printable(j.h.RDMACtl))
	}
	if answered {
		text := "no device"
		if listed > 0 {
			text = count(listed, "device")
		}
		d.say("verbs library", text)
	}
	if t := j.h.Thunderbolt; t != nil && t.Generation > 0 {
		d.say("controllers", fmt.Sprintf("Thunderbolt %d", t.Generation))
	}
	return d
}

// lockedMemory sets the limit of this process beside the one that is configured.
func (j *judgement) lockedMemory() *Disagreement {
	live, conf := j.h.MemlockKiB, j.h.LimitsConfMemlock
	if live == nil || *live < 0 || conf != "unlimited" {
		return nil
	}
	d := &Disagreement{About: "locked memory"}
	d.say("this process", fmt.Sprintf("%d KiB", *live))
	d.say("limits.conf", "unlimited: it holds from the next login on")
	return d
}

// devicesAgainstKernel sets what the library says of each device beside what the
// kernel says of it.
func (j *judgement) devicesAgainstKernel() []Disagreement {
	var all []Disagreement
	_, answered := j.listing()
	for i := range j.d.Devices {
		dev := &j.d.Devices[i]
		d := Disagreement{About: "device " + printable(dev.Name)}
		switch {
		case answered && !dev.Listed && inKernel(dev):
			d.say("kernel", "has it")
			d.say("verbs library", "does not list it")
		case dev.Listed && dev.Sysfs != nil && !*dev.Sysfs:
			d.say("kernel", "does not have it")
			d.say("verbs library", "lists it")
		default:
			d = j.stateAgainstKernel(dev)
		}
		if len(d.Says) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// stateAgainstKernel compares the state of a device's ports in sysfs and in the
// library.
func (j *judgement) stateAgainstKernel(dev *Device) Disagreement {
	for _, k := range j.h.Sysfs[dev.Name].Ports {
		for n := range dev.Ports {
			p := &dev.Ports[n]
			if s := j.state(dev, p); p.Num == k.Num && s != "" && k.State != "" && s != k.State {
				d := Disagreement{About: fmt.Sprintf("port %d of %s", p.Num, printable(dev.Name))}
				d.say("kernel", printable(k.State))
				d.say("verbs library", printable(s))
				return d
			}
		}
	}
	return Disagreement{}
}

func (d *Disagreement) say(source, text string) {
	d.Says = append(d.Says, SourceSays{source, text})
}
