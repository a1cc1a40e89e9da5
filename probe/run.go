package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma/sim"
)

// run is one command that asks a provider.
type run struct {
	recorder
	opts     *Options
	ctx      context.Context
	exe      string
	started  time.Time
	facts    *hostfacts.Host
	sights   map[string]expected // by name: what tells the listed devices apart; under mu
	listed   []Device            // all that there are, also those that are not probed
	named    byGUID              // what identityOf has learned of them; nil: nothing yet. Under mu
	profile  *sim.Profile        // nil: native
	text     *sim.Text           // that profile's
	past     *history
	store    *ledger.Store // until begin
	locks    string        // directory of the device locks
	path     string        // of the ledger; "" for none
	readOnly string        // why nothing of class create and up is tried; "" when it may be

	doctor    bool           // diagnose: see doctorSkips
	readClass bool           // diagnose with class read only
	earlier   *earlierRounds // the rounds of a watch before this one
	channel   *sideChannel
	peersSeen []PeerFacts // other ends that announced themselves; under mu
	orderly   bool        // the end of the context is how this run is meant to end
	hereOnly  bool        // a report of this host alone

	exit     exitState // under mu while devices are probed
	platform struct{ os, build string }
	tbClosed []closure // what this run has closed on all Thunderbolt devices
	total    int
	done     int
}

// newRun prepares everything that needs no child.
func newRun(ctx context.Context, o *Options) (*run, error) {
	r, err := newAsker(ctx, o)
	if err == nil {
		err = r.prepare()
	}
	return r, err
}

// newDraft is newRun without the store: what comes of it is not kept. It knows
// what the store has.
func newDraft(ctx context.Context, o *Options) (*run, error) {
	r, err := newAsker(ctx, o)
	if err == nil {
		r.readFacts()
		err = r.openStore()
	}
	return r, err
}

// prepare reads the host and the ledger, and makes that ready for writing. A
// listing can go on meanwhile: see start.
func (r *run) prepare() error {
	r.readFacts()
	if err := r.openStore(); err != nil {
		return err
	}
	return r.createStore()
}

// newAsker is newRun that knows no more than a listing needs: the options, and the
// profile.
func newAsker(ctx context.Context, o *Options) (*run, error) {
	r := &run{opts: o, ctx: ctx, started: time.Now(), past: newHistory()}
	r.doc, r.tell, r.keep = NewDocument(o.Tool, o.Command), o.OnObservation, newStoreTime()
	if !mainCalled.Load() {
		return r, r.fail(ErrNoMain)
	}
	if err := o.check(); err != nil {
		r.exit.usage = true
		return r, r.fail(err)
	}
	exe, err := os.Executable()
	if err != nil {
		return r, r.fail(fmt.Errorf("find this executable: %w", err))
	}
	r.exe = exe
	if err := r.readProfile(); err != nil {
		r.exit.usage = true
		return r, r.fail(err)
	}
	return r, nil
}

// NewDocument is a document of nothing yet.
func NewDocument(t Tool, command []string) *Document {
	now := time.Now()
	if command == nil {
		command = []string{}
	}
	return &Document{
		Schema: Schema, SchemaVersion: SchemaVersion, Tool: t, Devices: []Device{}, Observations: []Observation{}, Findings: []Finding{},
		Run:      RunInfo{ID: newRunID(now), Command: command, StartedAt: now.UTC()},
		Provider: Provider{Kind: Native, Library: Library{Symbols: map[string]bool{}}},
	}
}

// fail marks the document as that of a run that failed.
func (r *run) fail(err error) error {
	r.doc.Error = err.Error()
	switch {
	case errors.Is(err, guard.ErrUnsupported):
		r.exit.nothing = true // this system has no child to ask with
	case !r.exit.usage:
		r.exit.own = true
	}
	r.doc.Exit = r.exit.code()
	return err
}

// readProfile takes the host's facts from the profile, where there is one.
func (r *run) readProfile() error {
	if r.opts.Provider.Profile == nil {
		return nil
	}
	r.facts = &hostfacts.Host{}
	p, err := sim.Parse(r.opts.Provider.Profile, r.facts)
	if err != nil {
		return usagef("profile %s: %v", r.opts.Provider.Name, err)
	}
	r.profile, r.text = p, sim.Split(r.opts.Provider.Profile)
	r.doc.Provider.Kind, r.doc.Provider.Profile = Simulated, r.opts.Provider.Name
	r.doc.Run.BootID = p.BootID
	if p.BootID == "" {
		r.doc.Run.BootID = r.doc.Run.ID // every run is a new boot
	}
	r.simulatedSysfs(p)
	return nil
}

// readHost takes the host's facts from the profile or the machine.
func (r *run) readHost() error {
	err := r.readProfile()
	if err == nil {
		r.readFacts()
	}
	return err
}

// readFacts takes the host's facts from the machine, unless a profile gave them.
func (r *run) readFacts() {
	if r.profile == nil {
		s := hostfacts.Native()
		r.facts = hostfacts.Quick(s)
		r.doc.Run.BootID = hostfacts.BootID(s)
	}
	r.doc.Host = r.facts
	r.platform.os, r.platform.build = r.facts.OS, r.facts.OSBuild
	if r.platform.build == "" {
		r.platform.build = r.facts.Kernel
	}
	r.doc.Run.Gates, r.doc.Run.Require = r.opts.gates(), r.opts.Require
}

// simulatedSysfs fills in which devices a simulated kernel has, when the profile
// does not say.
func (r *run) simulatedSysfs(p *sim.Profile) {
	if r.facts.SysfsDevices != nil || r.facts.OS != "linux" {
		return
	}
	r.facts.SysfsDevices = []string{}
	for _, d := range p.Devices {
		if d.InSysfs() {
			r.facts.SysfsDevices = append(r.facts.SysfsDevices, d.Name)
		}
	}
}

// finish completes the document: sorted rows, findings, status.
func (r *run) finish(command string) (*Document, error) {
	r.number()
	sortRows(r.doc)
	r.doc.Run.DurationNS = time.Since(r.started).Nanoseconds()
	r.doc.Findings = r.findings(command)
	if r.doctor {
		r.doc.Verdict = VerdictOf(r.doc)
	}
	r.exit.nothing = r.exit.nothing || command != "serve" && r.allRefused()
	r.exit.interrupted = r.ctx.Err() != nil && !r.orderly
	r.exit.contained = r.exit.contained || slices.ContainsFunc(r.doc.Observations, func(o Observation) bool {
		return o.Run == r.doc.Run.ID && o.Child.contained()
	})
	r.exit.finding = slices.ContainsFunc(r.doc.Findings, func(f Finding) bool {
		return f.Severity == SeverityError && (command == "probe" || command == "doctor") || f.Code == codeLimitMet && command != "serve"
	})
	if r.err != nil {
		r.fail(r.err)
		r.note(count(r.lost, "row") + " of this run could not be kept in the ledger")
	}
	r.doc.Exit = r.exit.code()
	if err := r.end(); err != nil && r.doc.Error == "" {
		r.fail(err)
	}
	if r.doc.Error != "" {
		return r.doc, errors.New(r.doc.Error)
	}
	return r.doc, nil
}

// allRefused tells whether nothing was tried on any device because the guard refused:
// all of them were busy, or closed by earlier events.
func (r *run) allRefused() bool {
	refused := false
	for i := range r.doc.Observations {
		o := &r.doc.Observations[i]
		if o.Device != "" && o.Run == r.doc.Run.ID {
			if o.tried() {
				return false
			}
			refused = refused || o.Reason == Guarded
		}
	}
	return refused
}

// ownFailure notes a failure of rdmaprobe's own.
func (r *run) ownFailure() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exit.own = true
}

// progress tells the caller what comes next.
func (r *run) progress(device, word string) {
	if r.opts.Progress != nil {
		r.opts.Progress(Progress{Device: device, Probe: word, Done: r.done, Total: r.total})
	}
}

// request is a request with what every child needs.
func (r *run) request(task string) *request {
	q := &request{Task: task, Library: r.opts.Provider.Library, MRSize: r.opts.MRSize, GIDIndex: r.opts.GIDIndex}
	if r.profile != nil {
		q.Profile = r.opts.Provider.Profile
	}
	return q
}

// spec is how a child is run.
func (r *run) spec(q *request, leave bool, lock *guard.Lock) (guard.Spec, error) {
	q.Expect = r.expect(q)
	b, err := json.Marshal(q)
	if err != nil {
		return guard.Spec{}, fmt.Errorf("encode request: %w", err)
	}
	return guard.Spec{Exe: r.exe, Args: []string{childArg}, Request: b, Soft: cmp.Or(q.soft, r.opts.Timeout), Ladder: ladder, Leave: leave, Lock: lock, Conn: q.conn}, nil
}

// ladder is what follows a child's own deadline.
var ladder = guard.Ladder{Term: 500 * time.Millisecond, Kill: 500 * time.Millisecond, GiveUp: time.Second}
