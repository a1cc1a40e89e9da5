package probe

import (
	"context"
	"time"
)

// namesLimit is how long shell completion may wait for a listing.
const namesLimit = 80 * time.Millisecond

// Names lists device names for shell completion: from the profile, from the
// kernel where it tells, else by listing, which opens nothing. It is quick,
// silent and keeps nothing; what it cannot find out it leaves out.
func Names(ctx context.Context, o Options) []string {
	o.Store, o.Timeout = noStore, namesLimit
	r, err := newDraft(ctx, &o)
	if err != nil {
		return nil
	}
	var names []string
	switch {
	case r.profile != nil:
		for _, d := range r.profile.Devices {
			names = append(names, d.Name)
		}
	case r.facts.SysfsDevices != nil:
		names = r.facts.SysfsDevices
	default:
		if r.list(r.bound) == nil {
			for _, d := range r.doc.Devices {
				names = append(names, d.Name)
			}
		}
	}
	return names
}
