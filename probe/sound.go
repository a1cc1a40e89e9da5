package probe

import (
	"regexp"
	"slices"
	"strconv"
	"sync"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// Sound tells whether a row is of the vocabulary: its id is in EvidenceIDs, its
// level is one of the four, a reason is there for an unknown one alone and is in
// Reasons, an errno is one that its platform can have, a value is a scalar, and a
// child ended in a way that there is.
func Sound(o Observation) bool {
	return idIndex(o.ID) < len(EvidenceIDs) && soundAnswer(o.Level, o.Reason, o.Errno) && scalar(o.Value) && (o.Child == nil || soundOutcome(o.Child.Outcome))
}

// scalar tells whether a value that was decoded from JSON is one.
func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// soundAnswer is Sound of what a row says.
func soundAnswer(level rdma.Capability, reason Reason, errno *Errno) bool {
	if !errno.sound() {
		return false
	}
	switch level {
	case rdma.CapabilityConfirmed, rdma.CapabilityRejected, rdma.CapabilityObservedZero:
		return reason == ""
	case rdma.CapabilityUnknown:
		return slices.Contains(Reasons, reason)
	}
	return false
}

// soundOutcome is Sound of how a child ended.
func soundOutcome(o Outcome) bool {
	return slices.Contains([]Outcome{guard.Completed, guard.Crashed, guard.TimedOut, guard.Stuck, guard.Left}, o)
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
