package probe

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// What hangs is left to itself, and nothing is tried after it.
func TestStoreTimeIsOver(t *testing.T) {
	s := newStoreTime()
	s.left = time.Millisecond
	hang, ended := make(chan struct{}), make(chan struct{})
	err := s.do(0, func() error { defer close(ended); <-hang; return nil })
	if !errors.Is(err, errStoreSlow) || s.ctx.Err() == nil {
		t.Errorf("it hangs: %v, %v", err, s.ctx.Err())
	}
	again := func() error { t.Error("it was tried again"); return nil }
	if got := s.do(time.Hour, again); got != err {
		t.Errorf("after it: %v", got)
	}
	if err := s.last(again); err != nil {
		t.Errorf("giving it up: %v", err)
	}
	close(hang)
	<-ended
}

// All calls share one time, and only the failure to write ends it.
func TestStoreTimeIsShared(t *testing.T) {
	s := newStoreTime()
	slow := func() error { time.Sleep(time.Millisecond); return nil }
	for range 3 {
		if err := s.do(0, slow); err != nil {
			t.Fatal(err)
		}
	}
	if s.left > storeLimit-3*time.Millisecond {
		t.Errorf("%v are left", s.left)
	}
	if s.renew(); s.left != storeLimit {
		t.Errorf("renewed: %v", s.left)
	}
	if err := s.do(0, func() error { return ledger.ErrTooLong }); !errors.Is(err, ledger.ErrTooLong) || s.failed != nil {
		t.Errorf("too long a record: %v, %v", err, s.failed)
	}
	full := &ledger.StoreError{Op: "write", Err: errors.New("no space left on device")}
	if err := s.do(0, func() error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	calls := 0
	if err := s.do(0, func() error { calls++; return nil }); !errors.Is(err, full) || calls > 0 {
		t.Errorf("after a failure: %v, %d calls", err, calls)
	}
	if err := s.last(func() error { calls++; return nil }); err != nil || calls != 1 {
		t.Errorf("giving it up: %v, %d calls", err, calls)
	}
}

// Another process has the writers' lock: the first row waits for it, the others do
// not, no intent is made, what was not kept is counted, and nothing is written once
// nobody waits for it.
func TestStoreOfAnotherWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evidence.jsonl")
	r := &run{opts: &Options{}, ctx: t.Context(), recorder: recorder{doc: NewDocument(Tool{}, nil), keep: newStoreTime()}}
	store, err := ledger.OpenWithin(r.keep.ctx, path, Native)
	if err != nil {
		t.Fatal(err)
	}
	if r.run, err = store.Begin(struct{}{}); err != nil {
		t.Fatal(err)
	}
	other := flock.New(path + ".lock")
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	r.keep.left = 10 * time.Millisecond
	for i := range 1000 {
		r.observe(Observation{ID: "port.query", Device: fmt.Sprint("d", i), Level: rdma.CapabilityConfirmed})
	}
	if err := r.intent(intentBody{}); !errors.Is(err, ledger.ErrBusy) {
		t.Errorf("intent: %v", err)
	}
	if r.lost != 1000 || !errors.Is(r.err, ledger.ErrBusy) {
		t.Errorf("%d rows were not kept: %v", r.lost, r.err)
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if st, err := ledger.Scan(path, func(*ledger.Record) error { return nil }); err != nil || st.Records != 1 {
		t.Errorf("the ledger has %+v, %v", st, err)
	}
	if ledger.RunLive(path, r.run.ID) {
		t.Error("the run counts as going on")
	}
}

// The bound of a run has the time of its ledger, and an intent for each probe of
// class create and up.
func TestStoreIsInTheBound(t *testing.T) {
	r := &run{opts: &Options{Timeout: time.Second}}
	r.doc = NewDocument(Tool{}, nil)
	r.doc.Devices = []Device{{Name: "a", Listed: true}, {Name: "b", Listed: true}, {Name: "c"}}
	words := []string{"port", "pd", "mr"}
	without, listing := r.planBound(words), r.streamBound()
	r.path = "evidence.jsonl"
	if got := r.planBound(words) - without; got < storeLimit+4*intentLimit {
		t.Errorf("a run: %v", got)
	}
	if got := r.streamBound() - listing; got < storeLimit {
		t.Errorf("a listing: %v", got)
	}
}
