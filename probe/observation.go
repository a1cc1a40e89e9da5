package probe

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// Observation is one row of evidence: what one probe saw of one id, on one
// device and port, in one run. Level is one of the four of rdma.Capability; an
// unknown one always has a Reason.
type Observation struct {
	Host         string            `json:"host,omitempty"` // reports of several hosts only
	Run          string            `json:"run"`
	Seq          int64             `json:"seq"`
	ID           string            `json:"id"`
	Probe        string            `json:"probe,omitempty"`
	Device       string            `json:"device,omitempty"`   // absent: the host
	OSBuild      string            `json:"os_build,omitempty"` // where it is another than the host's: reports of all builds only
	Port         int               `json:"port,omitempty"`
	Level        rdma.Capability   `json:"level"`
	Reason       Reason            `json:"reason,omitempty"`
	Detail       string            `json:"detail,omitempty"`
	Call         string            `json:"call,omitempty"`
	Params       map[string]any    `json:"params,omitempty"`
	Return       *Return           `json:"return,omitempty"`
	Errno        *Errno            `json:"errno,omitempty"`
	Value        any               `json:"value,omitempty"` // a scalar
	Data         map[string]any    `json:"data,omitempty"`
	FailureClass rdma.FailureClass `json:"failure_class,omitempty"`
	StartedAt    *time.Time        `json:"started_at,omitempty"`
	DurationNS   int64             `json:"duration_ns,omitempty"`
	Child        *Child            `json:"child,omitempty"`
}

// Key names an observation in a finding: "DEVICE/ID", or "host/ID".
func (o *Observation) Key() string {
	if o.Device == "" {
		return "host/" + o.ID
	}
	return o.Device + "/" + o.ID
}

// Reason says why a level is unknown. The list is closed.
type Reason string

// The reasons of an unknown level.
const (
	NotTried        Reason = "not_tried"        // nobody asked for it
	Precondition    Reason = "precondition"     // what it stands on failed or is missing
	Timeout         Reason = "timeout"          // the deadline came first
	Crash           Reason = "crash"            // the child died inside a provider call
	Stuck           Reason = "stuck"            // the child could not be killed, or was left
	Unstable        Reason = "unstable"         // successive answers differ
	Interrupted     Reason = "interrupted"      // the run ended first, or somebody else ended the child
	Guarded         Reason = "guarded"          // the guard refused
	Exhausted       Reason = "exhausted"        // a pool is used up
	Permission      Reason = "permission"       // this user may not
	Invalid         Reason = "invalid"          // the provider refused the arguments, or gave an impossible answer
	Unreachable     Reason = "unreachable"      // the peer or its side channel does not answer
	NoCompletion    Reason = "no_completion"    // work was posted and nothing came back
	PayloadMismatch Reason = "payload_mismatch" // the receiver does not have the bytes that were sent
	Unproven        Reason = "unproven"         // the end that received did not show that it did
	SymbolMissing   Reason = "symbol_missing"   // the library has no such function
	LibraryMissing  Reason = "library_missing"  // no library
	ProviderError   Reason = "provider_error"   // any other failure that the provider reported
)

// Reasons is the closed list, in the order of the documentation.
var Reasons = []Reason{
	NotTried, Precondition, Timeout, Crash, Stuck, Unstable, Interrupted, Guarded, Exhausted,
	Permission, Invalid, Unreachable, NoCompletion, PayloadMismatch, Unproven, SymbolMissing, LibraryMissing, ProviderError,
}

// Errno is an error number with the name that its platform gives it: 102 is
// EOPNOTSUPP on Darwin and ENETRESET on Linux.
type Errno struct {
	Number   int           `json:"number"`
	Name     string        `json:"name"`
	Platform rdma.Platform `json:"platform"`
}

// Return is what a provider call returned: a signed number, or for a call that
// returns a pointer whether it was NULL. It never holds an address.
type Return struct {
	Number  int64
	Pointer bool
	Null    bool
}

// MarshalJSON writes a number, "null" or "non-null".
func (r Return) MarshalJSON() ([]byte, error) {
	switch {
	case r.Pointer && r.Null:
		return []byte(`"null"`), nil
	case r.Pointer:
		return []byte(`"non-null"`), nil
	}
	return strconv.AppendInt(nil, r.Number, 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Return) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"null"`:
		*r = Return{Pointer: true, Null: true}
		return nil
	case `"non-null"`:
		*r = Return{Pointer: true}
		return nil
	}
	*r = Return{}
	if err := json.Unmarshal(b, &r.Number); err != nil {
		return fmt.Errorf("return is a number, \"null\" or \"non-null\", not %.40s", b)
	}
	return nil
}

// Child tells how the process ended in which a row was observed.
type Child struct {
	Outcome Outcome `json:"outcome"`
	PID     int     `json:"pid,omitempty"`
	Exit    string  `json:"exit,omitempty"`   // status or signal, in words
	Stderr  string  `json:"stderr,omitempty"` // head and tail of what the library wrote

	Left []guard.LeftProcess `json:"left,omitempty"` // processes that the library had started and that it left behind, 8 at most
	Held bool                `json:"held,omitempty"` // one that could not be ended still holds the child's output

	interrupted bool // it was ended because the run was
}

// contained tells whether a child had to be contained: it failed, or did not end,
// and not because this process had it end.
func (c *Child) contained() bool { return c != nil && c.Outcome != guard.Completed && !c.interrupted }

// Outcome is how a child ended.
type Outcome = guard.Outcome
