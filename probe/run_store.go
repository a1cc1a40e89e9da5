package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/ledger"
)

// openStore finds the ledger and reads what it knows. One that cannot be read
// leaves class read, with a note.
func (r *run) openStore() error {
	unread, err := r.readStore()
	if unread != nil {
		r.past = newHistory() // nor is it known what it closes
		r.onlyRead("the evidence of earlier runs could not be read", unread)
	}
	return err
}

// readStore is openStore that leaves it to the caller what a ledger that could
// not be read means; unread is why.
func (r *run) readStore() (unread, err error) {
	path, err := r.storePath()
	if err != nil {
		return nil, err
	}
	r.locks = guard.NativeLockDir()
	if path == noStore {
		if r.profile != nil {
			r.locks = filepath.Join(os.TempDir(), fmt.Sprintf("rdmaprobe-simulated-%d", os.Getuid()))
		}
		return nil, nil
	}
	if r.profile != nil {
		r.locks = filepath.Join(filepath.Dir(path), "locks")
	}
	r.path = path
	r.past.path, r.past.provider = path, r.ledgerProvider()
	past, read := r.past, make(chan ledger.Stats, 1) // which a read that hangs keeps
	err = r.keep.do(0, func() error {
		stats, err := past.read(func(run string) bool { return ledger.RunLive(path, run) })
		read <- stats
		return err
	})
	var foreign *ledger.ForeignError
	if errors.As(err, &foreign) || errors.Is(err, ledger.ErrNotLedger) {
		return nil, r.wrongStore(err)
	}
	if !errors.Is(err, errStoreSlow) {
		r.noteDamage(<-read)
	}
	return err, nil
}

// wrongStore fails a run for the file that was named as its ledger.
func (r *run) wrongStore(err error) error {
	r.exit.usage = true
	return r.fail(usagef("--store %s: %v", r.path, err))
}

// noStore is the name of the store that keeps nothing.
const noStore = "none"

// ledgerProvider is the provider as the ledger's records name it.
func (r *run) ledgerProvider() string {
	if r.profile != nil {
		return "simulated:" + r.profile.ID
	}
	return Native
}

// createStore makes the ledger ready for writing. One that cannot be written
// leaves class read, with a note.
func (r *run) createStore() error {
	if r.path == "" {
		return nil
	}
	path, provider, opened := r.path, r.ledgerProvider(), make(chan *ledger.Store, 1)
	err := r.keep.do(0, func() error {
		store, err := ledger.OpenWithin(r.keep.ctx, path, provider)
		opened <- store
		return err
	})
	var foreign *ledger.ForeignError
	switch {
	case errors.As(err, &foreign), errors.Is(err, ledger.ErrNotLedger):
		r.exit.usage = true
		return r.fail(&UsageError{err.Error()})
	case err != nil:
		r.onlyRead(notKept, err)
		return nil
	}
	r.store = <-opened
	return nil
}

// noteDamage says what of the ledger could not be read.
func (r *run) noteDamage(s ledger.Stats) {
	if s.Skipped > 0 {
		r.note("skipped in the ledger: " + count(s.Skipped, "damaged line"))
	}
	if s.Newer > 0 {
		r.note("skipped in the ledger: " + count(s.Newer, "line") + " of a newer version")
	}
}

// begin opens the run in the ledger, once it is known which library answers:
// evidence is tied to it.
func (r *run) begin() {
	if r.store == nil {
		return
	}
	store, begun := r.store, make(chan *ledger.Run, 1)
	r.store = nil
	body := runBody{Tool: r.doc.Tool, Run: r.doc.Run, Provider: r.doc.Provider}
	body.Provider.Library.Symbols = maps.Clone(body.Provider.Library.Symbols)
	facts, err := json.Marshal(r.facts) // a copy: see storeTime.do
	if err == nil {
		err = r.keep.do(0, func() error {
			lr, err := store.Begin(func(lr *ledger.Run) any {
				body.Run.ID, body.Run.Seq, body.Host = lr.ID, lr.N, json.RawMessage(facts)
				return body
			})
			begun <- lr
			return err
		})
	}
	if err != nil {
		r.onlyRead(notKept, err)
		return
	}
	lr := <-begun
	r.run = lr
	r.doc.Run.ID, r.doc.Run.Seq = lr.ID, lr.N
	for _, d := range r.listed {
		r.keepDevice(d)
	}
}

// notKept is what a ledger that cannot be written means.
const notKept = "the evidence cannot be kept"

// onlyRead goes on without a ledger. The first reason is the one that is told.
func (r *run) onlyRead(what string, err error) {
	if r.readOnly != "" {
		return
	}
	r.readOnly = fmt.Sprintf("%s (%v), so nothing that could hurt is tried; --store none lifts this", what, err)
	r.note(r.readOnly)
}

// end closes the run in the ledger. One that could not write all its rows ends
// without a word: what it announced then counts as interrupted.
func (r *run) end() error {
	switch {
	case r.run == nil:
		return nil
	case r.err != nil:
		return r.keep.last(r.run.Close)
	}
	body := endBody{Exit: r.doc.Exit, DurationNS: r.doc.Run.DurationNS}
	return r.keep.do(intentLimit, func() error { return r.run.End(body) })
}
