package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/peer"
)

// ServeOptions are what a server is asked to do.
type ServeOptions struct {
	Options
	Listen   []string // ADDRESS:PORT beside the usual addresses
	Allow    []string // networks that may connect beside loopback and link-local
	Once     bool     // end after one completed session
	Write    bool     // let peers write into this end's memory
	Sessions int      // at the same time; 0: 4

	// Say is called with one line for people: where it listens, what the other
	// host has to run, who came. It may be nil.
	Say func(string)
	// Orderly tells, once the context has ended, whether that is how serving is
	// meant to end. It may be nil: an ended context is then an interruption.
	Orderly func() bool
}

// Defaults and bounds of a server.
const (
	defaultSessions    = 4
	maxSessions        = 64
	maxStrangers       = 64               // connections that have not said hello
	serveTimeout       = time.Minute      // the longest task, without --timeout
	idleLimit          = 60 * time.Second // a session that asks for nothing
	pairingLimit       = 2 * time.Minute  // a client that tries its cables
	rescan             = 5 * time.Second  // between two looks for new link-local addresses
	acceptErrorBackoff = 50 * time.Millisecond
)

// Serve is the other end of another host's probe: it reads its own devices, takes
// sessions until the context ends, and answers each task in a guarded child. The
// document is never nil and holds what the last sessions showed.
func Serve(ctx context.Context, o ServeOptions) (*Document, error) {
	o.server, o.lends = true, o.Write
	if o.Timeout == 0 {
		o.Timeout = serveTimeout
	}
	r, err := newRun(ctx, &o.Options)
	if err != nil {
		return r.doc, err
	}
	s, err := newServer(r, &o)
	if err != nil {
		r.exit.usage = true
		return r.doc, r.fail(err)
	}
	if err := r.list(func() time.Duration { return 0 }); err != nil { // it serves until it is told to end
		r.fail(err)
	}
	if r.profile == nil && r.platform.os == hostfacts.MacOS {
		r.lookForHarm() // the answering end makes transitions too
	}
	if err := r.probeAll(readWords()); err != nil {
		r.fail(err)
	}
	if !r.exit.nothing && ctx.Err() == nil {
		if err := s.serve(); err != nil {
			r.fail(err)
		}
	}
	if r.orderly = ctx.Err() != nil && o.Orderly != nil && o.Orderly(); r.orderly {
		r.exit.nothing = false // a listing that was interrupted does not say what there is
	}
	r.capabilities()
	return r.finish("serve")
}

// server is a run that answers other hosts.
type server struct {
	*run
	o      *ServeOptions
	allow  *peer.Allow
	ctx    context.Context // ends with the run, or when serving is over
	cancel context.CancelCauseFunc

	strangers  newcomers
	handlers   sync.WaitGroup
	completed  atomic.Int64 // sessions
	complaints atomic.Int64 // since the last rescan

	careful sync.Mutex // one task on Thunderbolt at a time: one wedge takes all ports down

	mu        sync.Mutex
	listeners map[string]net.Listener
	told      map[string]bool          // the addresses that were spoken of
	sessions  map[string]*serveSession // by token
	tasks     map[string]*taskDoor
	closed    map[string][]closure // what this run's own events have closed, by device
}

var errServed = errors.New("the session that it was started for is over")

func newServer(r *run, o *ServeOptions) (*server, error) {
	allow, err := peer.NewAllow(o.Allow)
	if err != nil {
		return nil, usagef("--allow %v", err)
	}
	if o.Sessions == 0 {
		o.Sessions = defaultSessions
	}
	if o.Sessions < 1 || o.Sessions > maxSessions {
		return nil, usagef("--sessions %d: want 1 to %d", o.Sessions, maxSessions)
	}
	if o.Handshake == remoteStock {
		o.Sessions = 1 // its exchange names no port: one client at a time
	}
	s := &server{
		run: r, o: o, allow: allow,
		listeners: map[string]net.Listener{}, told: map[string]bool{},
		sessions: map[string]*serveSession{}, tasks: map[string]*taskDoor{}, closed: map[string][]closure{},
	}
	for _, a := range o.Listen {
		if err := s.checkListen(a); err != nil {
			return nil, err
		}
	}
	s.ctx, s.cancel = context.WithCancelCause(r.ctx)
	return s, nil
}

func (s *server) say(format string, args ...any) {
	if s.o.Say != nil {
		s.o.Say(printable(fmt.Sprintf(format, args...)))
	}
}

// maxComplaints is how many lines strangers can cause between two rescans.
const maxComplaints = 20

// complain is say for what any stranger can cause as often as it likes.
func (s *server) complain(format string, args ...any) {
	if s.complaints.Add(1) <= maxComplaints {
		s.say(format, args...)
	}
}

// sumUp says how many complaints were not said, and begins anew.
func (s *server) sumUp() {
	if n := s.complaints.Swap(0) - maxComplaints; n > 0 {
		s.say("and %d more connections that were refused or broke off", n)
	}
}

// serve takes connections until it is to end, and waits for what they started.
func (s *server) serve() error {
	defer s.cancel(errServed)
	if err := s.listenAll(); err != nil {
		return err
	}
	s.sayHow()
	tick := time.NewTicker(rescan)
	defer tick.Stop()
	for s.ctx.Err() == nil {
		select {
		case <-s.ctx.Done():
		case <-tick.C:
			s.sumUp()
			s.listenOnLinks()
			s.sayHow()
		}
	}
	s.mu.Lock()
	for _, l := range s.listeners {
		l.Close()
	}
	s.mu.Unlock()
	s.handlers.Wait()
	s.sumUp()
	return nil
}

// offered are the devices that sessions may have.
func (s *server) offered() []Device {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.doc.Devices), func(d Device) bool { return !d.Listed })
}
