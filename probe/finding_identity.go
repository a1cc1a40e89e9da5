package probe

import (
	"fmt"
	"strings"
)

// identityHits makes one hit per device whose rows tell of an event of its identity.
func (v *findingView) identityHits(event, means, remedy string) []findingHit {
	return v.eventHits(func(o *Observation) (string, bool) {
		e, ok := o.Data["identity"].(map[string]any)
		if !ok || dataText(e, "event") != event {
			return "", false
		}
		lost := lostDevice{Event: event, Device: dataText(e, "device"), What: dataText(e, "what"), Was: dataText(e, "was"), Is: dataText(e, "is"), Now: dataText(e, "now")}
		return printable(lost.Error()), true
	}, func(pastEvent) (string, bool) { return "", false }, func(_ string, _ bool, h *findingHit) {
		h.message += means
		h.remedy = remedy
	})
}

func deviceChanged(v *findingView) []findingHit {
	return v.identityHits(identityChanged, ": no answer of it is taken for one of the device that was listed", "run the same command again, when nothing renames or replaces devices any more")
}

func deviceVanished(v *findingView) []findingHit {
	return v.identityHits(identityVanished, ": what was not tried before is unknown",
		"look why it went away (a driver that was unloaded, a function or a link that was removed, a device that was renamed), then run the same command again")
}

// leftProcesses tells of what the library had started and left behind.
func leftProcesses(v *findingView) []findingHit {
	return v.eventHits(func(o *Observation) (string, bool) {
		if o.Child == nil || len(o.Child.Left) == 0 && !o.Child.Held {
			return "", false
		}
		var ended, alive []string
		for _, p := range o.Child.Left {
			text := fmt.Sprintf("pid %d (%s)", p.PID, printable(p.Name))
			if p.Ended {
				ended = append(ended, text)
			} else {
				alive = append(alive, text)
			}
		}
		var texts []string
		if len(ended) > 0 {
			texts = append(texts, "the library left processes behind, which were ended: "+strings.Join(ended, ", "))
		}
		if len(alive) > 0 {
			texts = append(texts, "the library left processes behind, which could not be ended: "+strings.Join(alive, ", "))
		}
		if o.Child.Held && len(alive) == 0 {
			texts = append(texts, "something that the library started holds the output of its child, and is not known by number")
		}
		return strings.Join(texts, "; "), true
	}, func(pastEvent) (string, bool) { return "", false }, func(_ string, _ bool, h *findingHit) {
		h.remedy = "look at what the library, its provider or LD_PRELOAD starts; end by hand what could not be ended"
	})
}
