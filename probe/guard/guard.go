package guard

import (
	"encoding/json"
	"errors"
	"os"
	"time"
)

// ErrUnsupported is returned by every call on systems without process groups,
// inherited descriptors and flock(2).
var ErrUnsupported = errors.New("guarded children need Linux or macOS")

// Outcome says how a child ended, as documents spell it.
type Outcome string

// The outcomes.
const (
	Completed Outcome = "completed" // it sent its done message
	Crashed   Outcome = "crashed"   // it ended without one, and not by our hand
	TimedOut  Outcome = "timed_out" // we killed it
	Stuck     Outcome = "stuck"     // it did not die of SIGKILL
	Left      Outcome = "left"      // inside a provider call, so it was left running
)

// Ladder holds the waits between the rungs that end a child which has passed
// its soft deadline. Each counts from the rung before.
type Ladder struct {
	Term   time.Duration // from the soft deadline to SIGTERM
	Kill   time.Duration // from SIGTERM to SIGKILL, or to leaving it
	GiveUp time.Duration // from SIGKILL to giving up
}

// Waits beside the ladder's.
const (
	drainGrace = 200 * time.Millisecond // after its end, for what the child wrote; others may hold the pipes
	drainLimit = 2 * time.Second        // the same, while there is still something in them
	doneGrace  = time.Second            // from the done message to the kill rung
	slack      = 500 * time.Millisecond // for starting the process, and for a busy machine
)

// MaxRequest is the largest Spec.Request, in bytes.
const MaxRequest = 16 << 20

// Spec describes one child.
type Spec struct {
	Exe     string        // path of the executable; it must call Enter
	Args    []string      // without the name
	Env     []string      // KEY=value, added to this process's environment
	Request []byte        // what Child.Request returns, up to MaxRequest
	Soft    time.Duration // the child's own deadline, above 0
	Ladder  Ladder        // what follows it
	Leave   bool          // never SIGKILL it while it is inside a provider call
	Lock    *Lock         // inherited by the child; may be nil
	Conn    *os.File      // inherited by the child, see Child.Conn; may be nil. Run closes this side's

	// Renews tells whether the child's deadline starts anew with a message: the child
	// calls Child.Renew before it sends that. It may be nil, and bounds how often.
	Renews func(Message) bool
}

// Lap is what one renewal of the deadline adds to Bound.
func (s Spec) Lap() time.Duration { return s.Soft + s.Ladder.Term }

// Bound is the time within which Run ends, whatever the child does. What the
// caller's own callback takes is not in it, nor is what renewals add.
func (s Spec) Bound() time.Duration {
	return s.Soft + s.Ladder.Term + s.Ladder.Kill + s.Ladder.GiveUp + drainLimit + slack
}

// Message is one message of a child: Child.Send's type and body.
type Message struct {
	Type string
	Body json.RawMessage
}

// Types of message that the guard itself knows.
const (
	msgHello = "hello" // Enter succeeded; not passed on
	msgLeft  = "left"  // []LeftProcess, which the child has ended; not passed on
	msgDone  = "done"  // the result; passed on
	msgFault = "fault" // body "stuck": the child plays one that cannot be killed; passed on
)

// Result tells how a child ended.
type Result struct {
	Outcome     Outcome
	PID         int
	Alive       bool          // the child had not ended when Run returned
	Exit        string        // status or signal in words, as os.ProcessState has it
	Stderr      string        // head and tail of stdout and stderr, 4 KiB each, escaped: safe to print
	StderrBytes int64         // how much the child wrote in all
	Foreign     int64         // bytes on the message channel that were not messages
	InCall      bool          // it was inside a provider call at its end
	Verb        string        // that call
	Calls       uint64        // how many calls of that verb had begun
	Signal      string        // of a crash: "SIGSEGV: segmentation violation"
	Panic       string        // our own code panicked: the first line of its text
	Left        []LeftProcess // what its library had started and it left behind
	Held        bool          // something that it started and that could not be ended still holds its output
	Stopped     bool          // it was found stopped when it had to end, and was continued
	Killed      bool          // by SIGKILL, which was not ours
	OutOfMemory bool          // and the system ended a process for want of memory meanwhile
	Interrupted bool          // the context ended before the ladder began: if the child was ended, then for that
	Late        time.Duration // how long after its time it was asked to end: this process did not run meanwhile
	Duration    time.Duration // from its start
	Rungs       []string      // what was done to end it, in order
}
