package probe

import (
	"errors"
	"strings"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/peer"
)

// stageError says which stage failed on the way; its row has been sent.
type stageError struct {
	why    string
	reason Reason // of what needed it
}

func (e *stageError) Error() string { return e.why }

// stopAt sends the rows of the transitions that are not come to, and says why.
func (s *session) stopAt(why string) error {
	s.skip(Precondition, why, s.req.Port, s.req.Data.Type.steps("rtr", "rts")...)
	return &stageError{why, Precondition}
}

// told tells of an error whether it is that this child was asked to end.
func told(err error) bool {
	return errors.Is(err, guard.ErrTerminated) || errors.Is(err, guard.ErrOrphaned)
}

// peerOnly keeps an error that is the other host's, and no other.
func peerOnly(err error) error {
	if p := (*peerError)(nil); errors.As(err, &p) {
		return p
	}
	return nil
}

// noConnection sends rows of what needed the connection that there is not. A
// peer that cannot be reached, or that gave up, is told as such, and a first receive
// that cannot be posted as every other.
func (s *session) noConnection(err error, ids ...string) {
	if call := (*callError)(nil); errors.As(err, &call) {
		for _, id := range ids {
			s.begin(id, s.req.Port, nil).failData(err)
		}
		return
	}
	reason, detail := Precondition, "there is no connection: "+err.Error()
	if told(err) {
		reason = Interrupted
	}
	if at := (*stageError)(nil); errors.As(err, &at) {
		reason = at.reason
	}
	if p := (*peerError)(nil); errors.As(err, &p) {
		if detail = p.Error(); !strings.HasPrefix(detail, "the other end") {
			detail = "the other end: " + detail
		}
		if said := (*peer.RemoteError)(nil); !errors.As(err, &said) {
			reason = Unreachable
		}
	}
	s.skip(reason, detail, s.req.Port, ids...)
}
