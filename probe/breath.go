package probe

import (
	"os"
	"runtime"
	"time"
)

// loopProcs is how many processors the Go scheduler has for a loop that polls. With
// none idle its monitor takes the loop's own away in every provider call that
// lasts, and so never goes to sleep; where all run on one real processor each look of
// it delays messages.
const loopProcs = 3

// atLeastLoopProcs gives the scheduler that many, unless the user has said how many.
func atLeastLoopProcs() {
	if _, set := os.LookupEnv("GOMAXPROCS"); !set && runtime.GOMAXPROCS(0) < loopProcs {
		runtime.GOMAXPROCS(loopProcs)
	}
}

// breathEvery is below the 10 ms after which the Go runtime's monitor takes the
// processor from a goroutine.
const breathEvery = 8 * time.Millisecond

// breath is the clock of a loop that polls, and when that loop last let the Go
// scheduler run. One that never does is preempted by the monitor every 10 ms, also
// within a provider call. That keeps the monitor awake: every 20 us it stops the loop
// to look at it, and where the two share a processor each look can cost a time
// slice.
type breath struct{ start, last time.Time }

// now reads the monotonic clock only, half of what time.Now does.
func (b *breath) now() time.Time {
	if b.start.IsZero() {
		b.start = time.Now()
	}
	return b.start.Add(time.Since(b.start))
}

// take lets the scheduler run if it is time, and says so.
func (b *breath) take(now time.Time) bool {
	if now.Sub(b.last) < breathEvery {
		return false
	}
	runtime.Gosched()
	b.last = now
	return true
}
