package probe

import (
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// leftOut counts the listed devices that cannot be told apart.
type leftOut struct {
	nameless int
	twins    int      // they have the name of another
	names    []string // of those, maxTold at most
}

// maxTold is how many names a note has.
const maxTold = 8

// named are the devices that can be told apart: a name is all that a probe finds
// its device by. Bytes that are no text are replaced in it.
func named(all []rdma.Device) (devices []rdma.Device, left leftOut) {
	seen := map[string]bool{}
	for _, d := range all {
		d.Name = strings.ToValidUTF8(d.Name, "\ufffd")
		switch {
		case d.Name == "":
			left.nameless++
		case seen[d.Name]:
			left.twins++
			if len(left.names) < maxTold && !slices.Contains(left.names, d.Name) {
				left.names = append(left.names, d.Name)
			}
		default:
			seen[d.Name] = true
			devices = append(devices, d)
		}
	}
	return devices, left
}

// tell puts the counts into the row of the listing.
func (l leftOut) tell(r *row) {
	if n := l.nameless + l.twins; n > 0 {
		r.set("ignored", n)
	}
	if l.nameless > 0 {
		r.set("nameless", l.nameless)
	}
	if l.twins > 0 {
		r.set("same_name", l.names)
	}
}

// listingNotes say what of a listing is not in the document, or not as the library
// counts it. Data is that of its row.
func listingNotes(data map[string]any) (notes []string) {
	ignored, _ := dataInt(data, "ignored")
	nameless, _ := dataInt(data, "nameless")
	if nameless > 0 {
		notes = append(notes, fmt.Sprintf("left out: %s without a name; a probe finds its device by name", listedDevices(nameless)))
	}
	if twins := ignored - nameless; twins > 0 {
		notes = append(notes, fmt.Sprintf("left out: %s with the name of another: %s", listedDevices(twins), strings.Join(dataTexts(data, "same_name"), ", ")))
	}
	claimed, ok := dataInt(data, "claimed")
	read, _ := dataInt(data, "read")
	switch {
	case !ok || claimed > read && read >= rdma.MaxDevices: // a limit was met, which is told
	case claimed == 0:
		notes = append(notes, fmt.Sprintf("the library does not count its devices, and its list has %d: the list was believed", read))
	default:
		notes = append(notes, fmt.Sprintf("the library counts %d devices, but its list ends after %d: the list was believed", claimed, read))
	}
	return notes
}

// listedDevices names n of them.
func listedDevices(n int64) string {
	if n == 1 {
		return "1 listed device"
	}
	return fmt.Sprintf("%d listed devices", n)
}
