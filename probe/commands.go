package probe

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"rdmaprobe/probe/hostfacts"
)

// ListDevices reads every device: attributes, ports, GID tables. It creates
// nothing on any of them. The document is never nil; the error is rdmaprobe's
// own failure or a usage error, and stands in the document too.
func ListDevices(ctx context.Context, o Options) (*Document, error) {
	r, err := newAsker(ctx, &o)
	if err != nil {
		return r.doc, err
	}
	s := r.startSurvey(time.Now())
	if err := r.prepare(); err != nil {
		s.abandon()
		return r.doc, err
	}
	if err := s.finish(); err != nil {
		r.fail(err)
	}
	if o.Verify {
		r.verify(hostfacts.Native())
	}
	return r.finish("devices")
}

// Run probes devices, one child for each probe of each device. The document is
// never nil; the error is rdmaprobe's own failure or a usage error, and stands
// in the document too.
func Run(ctx context.Context, o Options) (*Document, error) {
	r, err := newAsker(ctx, &o)
	if err != nil {
		return r.doc, err
	}
	words := o.words()
	var listing *started
	if r.profile != nil || !slices.ContainsFunc(words, connects) { // else lookForHarm would see it
		listing = r.start(r.request(taskList))
	}
	if err := r.prepare(); err != nil {
		listing.abandon()
		return r.doc, err
	}
	r.notDialled()
	if r.lookFirst(words) {
		r.lookForHarm()
	}
	if listing == nil {
		listing = r.start(r.request(taskList))
	}
	if err := r.takeList(listing, func() time.Duration { return r.planBound(words) }); err != nil {
		r.fail(err)
	}
	if err := r.twinListed(); err != nil {
		r.fail(err)
		return r.finish("probe")
	}
	if err := r.probeAll(words); err != nil {
		r.fail(err)
	}
	r.fill()
	r.capabilities()
	return r.finish("probe")
}

// lookFirst tells whether a run asks the host more than the quick facts before it
// starts: on a Mac, when it connects something.
func (r *run) lookFirst(words []string) bool {
	return r.profile == nil && r.platform.os == hostfacts.MacOS && slices.ContainsFunc(words, connects)
}

// connects tells whether a probe connects a queue pair to another.
func connects(word string) bool {
	row, _ := rowOf(word)
	return row.class >= ClassTransition
}

// lookForHarm looks for what speaks against a transition before one is made: a
// failed one in this boot, and other processes on the devices. Reading that takes
// programs and seconds.
func (r *run) lookForHarm() {
	ctx, cancel := context.WithTimeout(r.ctx, factsLimit)
	defer cancel()
	s := hostfacts.Native()
	var noLog, noHolders []hostfacts.NotRead
	var both sync.WaitGroup
	both.Go(func() { r.facts.KernelLog, noLog = hostfacts.KernelLog(ctx, s) })
	both.Go(func() { r.facts.RDMAProcesses, noHolders = hostfacts.Holders(ctx, s) })
	both.Wait()
	r.doc.NotRead = slices.Concat(noLog, noHolders)
}

// capabilities summarises each device: what this run saw, and what the ledger
// has.
func (r *run) capabilities() {
	n := r.doc.Run.Seq
	if n == 0 {
		n = math.MaxInt64 // without a ledger this run is the newest
	}
	lib := r.doc.Provider.Library.ID
	seen := newIndex(r.doc, (*Observation).tried)
	for i := range r.doc.Devices {
		d := &r.doc.Devices[i]
		id := r.identityOf(*d)
		for _, o := range seen.rows[d.Name] {
			r.past.keep(rowKey{id, o.ID, o.Probe, o.Port, r.platform.build, lib}, pastRow{run: o.Run, n: n, seq: o.Seq, level: o.Level, row: o})
		}
		d.Capabilities = r.past.summarise(id, r.platform.build, lib, d.thunderbolt(r.platform.os))
	}
}

// findings are the conclusions from what this run has.
func (r *run) findings(command string) []Finding {
	c := FindingContext{
		Command: command, NamedDevices: r.opts.Devices, Port: r.opts.Port, GIDIndex: r.opts.GIDIndex, Required: r.opts.Require,
		PreviousGIDs: map[string]string{}, Peers: r.peers(),
	}
	if r.channel != nil {
		c.Control = r.channel.facts
	}
	for _, d := range r.doc.Devices {
		if g := r.past.gids[r.identityOf(d)]; g != "" {
			c.PreviousGIDs[d.Name] = g
		}
	}
	return Findings(r.doc, c)
}

// peers are the other ends that this run has heard of: only where it meant to
// send something.
func (r *run) peers() []PeerFacts {
	if len(r.peersSeen) > 0 {
		return r.peersSeen
	}
	if slices.ContainsFunc(r.opts.words(), connects) {
		return r.simulatedPeers()
	}
	return nil
}
