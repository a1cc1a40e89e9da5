package probe

import (
	"context"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/peer"
)

// Samples of a port's state in doctor, and the time between two.
const (
	doctorSamples = 3
	sampleGap     = 200 * time.Millisecond
)

// factsLimit is how long a host's facts may take, whatever the outside programs
// do.
const factsLimit = 8 * time.Second

// DoctorOptions are what a diagnosis is asked to do.
type DoctorOptions struct {
	Options
	ReadOnly bool // class read only

	earlier *earlierRounds // set by Watch
}

// Doctor collects the host's facts, reads every device, creates and frees on
// ACTIVE ports what the guard leaves open, and concludes. It never moves a queue
// pair beyond INIT and sends nothing. The document is never nil.
func Doctor(ctx context.Context, o DoctorOptions) (*Document, error) {
	r, err := newRun(ctx, &o.Options)
	if err != nil {
		return r.doc, err
	}
	r.doctor, r.readClass, r.earlier = true, o.ReadOnly, o.earlier
	if r.earlier != nil && r.earlier.quiet {
		r.readClass, r.store = true, nil
	}
	if r.profile == nil {
		r.collectFacts(hostfacts.Native())
	}
	words := wordsWhere(func(r *tableRow) bool { return r.when.has(inDoctor | inDoctorOff) })
	if err := r.list(func() time.Duration { return r.planBound(words) + factsLimit + r.askBound() }); err != nil {
		r.fail(err)
	}
	if err := r.probeAll(words); err != nil {
		r.fail(err)
	}
	r.askPeer()
	r.keepEarlier()
	r.fill()
	r.capabilities()
	return r.finish("doctor")
}

// collectFacts replaces the quick facts by all that can be known.
func (r *run) collectFacts(s *hostfacts.System) {
	ctx, cancel := context.WithTimeout(r.ctx, factsLimit)
	defer cancel()
	facts, notRead := hostfacts.Collect(ctx, s)
	r.facts, r.doc.Host, r.doc.NotRead = facts, facts, notRead
}

// askPeer tries the side channel when a peer was named: its failure is told in
// the data rows, which doctor never tries.
func (r *run) askPeer() {
	if r.opts.Peer == "" {
		return
	}
	if r.profile == nil {
		r.askPeerHello()
	} else {
		r.notDialled()
		r.channel = r.simulatedChannel()
	}
	if r.channel == nil || r.channel.facts.Errno == nil && r.channel.why == "" {
		return
	}
	for _, d := range r.doc.Devices {
		for _, id := range []string{"pingpong.uc", "pingpong.rc"} {
			r.observe(r.channel.failedRow(Observation{ID: id, Device: d.Name, Port: activePort(d.Ports)}))
		}
	}
}

// askBound is how long asking a named peer can take.
func (r *run) askBound() time.Duration {
	if r.opts.Peer == "" || r.profile != nil {
		return 0
	}
	return helloBound + peer.StepLimit
}

// doctorSkips tells whether doctor leaves a row out on this device: RC and UD
// creation on Thunderbolt, where they have been refused, and everything that
// creates on a port that is not ACTIVE.
func (dr *deviceRun) doctorSkips(row *tableRow) (skip bool, why string) {
	switch {
	case row.class == ClassRead:
		return false, ""
	case dr.readClass:
		return true, "left out by --read-only"
	case dr.tb && row.when.has(inDoctorOff):
		return true, "doctor does not try it on Thunderbolt; probe --" + row.word + " does"
	case dr.earlier != nil && dr.earlier.tried[dr.name]:
		return true, "tried in an earlier round of this watch"
	case dr.portState() != stateActive:
		return true, "doctor creates nothing on a port that is not active" + dr.lack("dev.open", "port.query")
	}
	return false, ""
}
