package probe

import (
	"regexp"
	"slices"
	"strconv"
	"sync"

	"rdmaprobe/rdma"
)

// Sound tells whether a row is of the vocabulary: its id is in EvidenceIDs, its
// level is one of the four, a reason is there for an unknown one alone and is in
// Reasons, and an errno is one that its platform can have.
func Sound(o Observation) bool {
	if idIndex(o.ID) == len(EvidenceIDs) || !o.Errno.sound() {
		return false
	}
	switch o.Level {
	case rdma.CapabilityConfirmed, rdma.CapabilityRejected, rdma.CapabilityObservedZero:
		return o.Reason == ""
	case rdma.CapabilityUnknown:
		return slices.Contains(Reasons, o.Reason)
	}
	return false
}

// sound tells whether a C int can hold the number, and whether the name is its
// own. Some providers negate it; one that has no name here may have one elsewhere.
func (e *Errno) sound() bool {
	if e == nil {
		return true
	}
	if e.Number == 0 || int64(e.Number) != int64(int32(e.Number)) || e.Platform != rdma.PlatformLinux && e.Platform != rdma.PlatformDarwin {
		return false
	}
	number := "errno " + strconv.Itoa(e.Number)
	name := rdma.ErrnoNameOn(e.Platform, e.Number)
	return e.Name == name || e.Name == number || name == number && errnoName().MatchString(e.Name)
}

// errnoName is the form of the names in errno.h.
var errnoName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^E[A-Z0-9]{1,31}$`) })
