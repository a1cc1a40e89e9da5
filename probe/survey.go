package probe

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"time"

	"rdmaprobe/probe/guard"
)

// started is a child that runs while this process does something else.
type started struct {
	cancel context.CancelFunc
	done   chan struct{}
	a      *attempt
	err    error
}

// start is try that does not wait.
func (r *run) start(q *request) *started {
	ctx, cancel := context.WithCancel(r.ctx)
	s := &started{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.a, s.err = r.try(ctx, q, false, nil)
	}()
	runtime.Gosched() // the child first: what this process does meanwhile would only delay it
	return s
}

// wait gives what came of the child.
func (s *started) wait() (*attempt, error) {
	<-s.done
	s.cancel()
	return s.a, s.err
}

// abandon ends the child, if there is one: nothing that it says is of use.
func (s *started) abandon() {
	if s != nil {
		s.cancel()
		<-s.done
	}
}

// survey lists the devices and reads them, in one child: it lists them, asks which
// to read, since their locks come first, and reads those. A listing is quick; one
// that is not leaves the devices to a child of their own.
type survey struct {
	*run
	child  *started
	began  time.Time
	answer *os.File      // this side's end; nil when there is none, so that the child does not ask
	ready  chan struct{} // closed once the host's facts and the ledger are known,
	failed bool          // or will not be

	asked  bool
	names  []string      // those that can be read
	given  []string      // those that the child was told to
	unread []Observation // of the others
	unlock func()
}

// startSurvey starts the child, whose time began at began. Nothing that it does before
// it asks depends on the host's facts or on the ledger, so those may be read
// meanwhile.
func (r *run) startSurvey(began time.Time) *survey {
	s := &survey{run: r, began: began, ready: make(chan struct{}), unlock: func() {}}
	q := r.request(taskDevices)
	if theirs, ours, err := os.Pipe(); err == nil {
		q.conn, s.answer, q.which = theirs, ours, s.which
	}
	s.child = r.start(q)
	return s
}

// abandon ends a survey whose run cannot begin.
func (s *survey) abandon() {
	s.failed = true
	close(s.ready)
	s.child.abandon()
	s.answer.Close() // a nil file only returns an error
}

// finish waits for the child, keeps what it saw, and reads what it did not.
func (s *survey) finish() error {
	close(s.ready)
	a, err := s.child.wait()
	s.answer.Close()
	rows := slices.DeleteFunc(slices.Clone(a.rows), func(o Observation) bool { return o.Device != "" })
	if !s.asked {
		s.know(a)
		s.beginBound(s.streamBound)
	}
	if len(s.given) == 0 {
		rows = append(rows, a.lost("", "", 0, hostIDs)...)
	}
	s.keepHostRows(rows, a)
	if !s.asked {
		if err != nil {
			return err
		}
		s.lock()
	}
	defer s.unlock()
	defer s.tellUnread()
	for _, o := range s.unread {
		s.observe(o)
	}
	interrupted := len(s.given) > 0 && s.ctx.Err() != nil // in what it read; else stream says so
	if len(s.given) > 0 && (a.read > 0 || a.result.Outcome != guard.Completed || a.broken != "" || interrupted) {
		s.names = s.names[s.takeStream(a, s.names):]
	}
	if err != nil || interrupted {
		return err
	}
	return s.stream(s.names)
}

// listingShare is the part of a child's time that may be used up, by the listing and
// by the wait for locks, before another child reads the devices.
const listingShare = 4

// left is what there is of that.
func (s *survey) left() time.Duration { return s.opts.Timeout/listingShare - time.Since(s.began) }

// which answers the child, which has listed the devices. It runs while the child
// waits, so no message is taken meanwhile.
func (s *survey) which(a *attempt) {
	defer s.answer.Close()
	late := time.AfterFunc(s.left(), func() { s.answer.Close() }) // it shall end well before its deadline
	defer late.Stop()
	select {
	case <-s.ready:
	case <-s.ctx.Done():
		return
	}
	if s.failed {
		return
	}
	s.asked = true
	s.know(a)
	s.lock()
	s.give()
	a.laps = lapsOf(s.given)
	s.beginBound(s.streamBound) // meanwhile it reads
}

// lock takes the locks of what is to be read.
func (s *survey) lock() { s.names, s.unread, s.unlock = s.lockShared() }

// give tells the child which devices to read.
func (s *survey) give() {
	defer s.answer.Close()
	if len(s.names) == 0 || s.left() <= 0 || s.ctx.Err() != nil {
		return
	}
	b, err := json.Marshal(&request{Task: taskDevices, Devices: s.names, DeviceAddresses: s.addressesOf(s.names)})
	if err != nil {
		return
	}
	// It reads all of it, unless it was stopped meanwhile.
	if s.answer.SetWriteDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	if _, err := s.answer.Write(b); err == nil {
		s.given = s.names
	}
}
