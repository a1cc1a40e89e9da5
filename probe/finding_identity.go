package probe

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
