package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
)

// LedgerOptions say what is read of a ledger that is not necessarily this
// machine's.
type LedgerOptions struct {
	ReportOptions
	Build string                // only what was seen under this OS build; "" is each host's newest
	Live  func(run string) bool // tells whether a run still goes on; nil: none does
}

// ErrNoBuild says that a ledger holds nothing of an OS build.
var ErrNoBuild = errors.New("the ledger has no evidence of that OS build")

// ReadLedger rebuilds a document from a ledger as Report does, whoever's it is:
// host, provider and run are those of its newest run. The error is
// ledger.ErrNotLedger when no line of it is a record, or ErrNoBuild.
func ReadLedger(in io.Reader, o LedgerOptions) (*Document, error) {
	r := &run{opts: &o.Options, ctx: context.Background(), started: time.Now(), facts: &hostfacts.Host{}}
	r.doc = NewDocument(o.Tool, o.Command)
	r.past = newHistory()
	r.past.every = o.AllRows
	stats, err := ledger.ScanReader(in, r.past.ofBuild(o.Build))
	if err != nil {
		return nil, err
	}
	if stats.Records == 0 && stats.Skipped > 0 {
		return nil, ledger.ErrNotLedger
	}
	live := o.Live
	if live == nil {
		live = func(string) bool { return false }
	}
	for _, p := range r.past.runs {
		r.past.openIntents(p, live)
	}
	stats.Skipped += r.past.damaged
	r.noteDamage(stats)
	last := r.past.last()
	switch {
	case last != nil:
		r.platform.os = last.os
		r.rebuild(last, o.AllBuilds)
	case o.Build != "":
		return nil, fmt.Errorf("%s: %w", printable(o.Build), ErrNoBuild)
	}
	r.doc.Exit = ExitOK
	return r.doc, nil
}

// ofBuild takes in the records of runs under one OS build; "" is any. A run's
// first record says which it is of.
func (h *history) ofBuild(build string) func(*ledger.Record) error {
	if build == "" {
		return h.add
	}
	of := map[string]bool{}
	return func(rec *ledger.Record) error {
		if rec.Kind == ledger.KindRun {
			var b struct {
				Host hostSeen `json:"host"`
			}
			of[rec.Run] = json.Unmarshal(rec.Body, &b) == nil && b.Host.build() == build
		}
		if !of[rec.Run] {
			return nil
		}
		return h.add(rec)
	}
}

// LedgerBuilds lists the OS builds under which the runs of the ledger at path
// were made, in the order in which they were first seen. A missing file has none.
func LedgerBuilds(path string) ([]string, error) {
	var builds []string
	_, err := ledger.Scan(path, func(rec *ledger.Record) error {
		if rec.Kind != ledger.KindRun {
			return nil
		}
		var b struct {
			Host hostSeen `json:"host"`
		}
		if json.Unmarshal(rec.Body, &b) == nil && b.Host.build() != "" && !slices.Contains(builds, b.Host.build()) {
			builds = append(builds, b.Host.build())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the builds of a ledger: %w", err)
	}
	return builds, nil
}

// StorePath is where the ledger of a run with these options is, "none" for none.
// Nothing is created.
func StorePath(o Options) (string, error) {
	if o.Store != "" {
		return o.Store, nil
	}
	name := Native
	if o.Provider.Profile != nil {
		name = "sim:" + o.Provider.Name
	}
	return ledger.DefaultPath(name)
}
