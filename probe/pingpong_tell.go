package probe

import (
	"cmp"
	"errors"
	"fmt"

	"rdmaprobe/rdma"
)

// pollCall is the call by which a message is seen to arrive, or not to.
const pollCall = "ibv_poll_cq"

// tell finishes the row: confirmed only when every message came back right.
func (p *pingpong) tell(r *row, err error) {
	r.o.Data = p.summary()
	if err != nil || p.verified < p.count {
		p.s.noticePort(r)
	}
	var (
		bad     *payloadError
		gone    *peerError
		missing string
	)
	if p.verified == p.count {
		missing = p.unproven()
	}
	switch {
	case errors.As(err, &bad):
		r.o.Call = pollCall
		r.unknown(PayloadMismatch, err.Error()+p.whichWay())
	case errors.As(err, &gone):
		r.unknown(Unreachable, fmt.Sprintf("%v, after %d of %d messages", gone, p.verified, p.count))
	case told(err):
		r.unknown(Interrupted, err.Error())
	case errors.Is(err, errLeftover):
		r.unknown(Precondition, err.Error())
	case err == nil && p.results != nil && p.results.Mismatch != "":
		r.unknown(PayloadMismatch, "at the other end: "+p.results.Mismatch)
	case errors.Is(err, errNoCompletion):
		r.o.Call = pollCall
		r.unknown(NoCompletion, err.Error())
	case err != nil:
		r.failData(err)
	case p.verified == p.count && missing != "":
		r.unknown(Unproven, fmt.Sprintf("%d of %d messages were answered here, and %s", p.verified, p.count, missing))
	case p.verified == p.count:
		r.o.Level, r.o.Call, r.o.Value = rdma.CapabilityConfirmed, pollCall, p.verified
		r.send()
	default:
		why, detail := p.s.ended()
		came := fmt.Sprintf("%d of %d messages came back", p.verified, p.count)
		switch {
		case p.lost > 0:
			r.o.Call = pollCall
			r.unknown(NoCompletion, fmt.Sprintf("%s, %d were lost", came, p.lost))
		case why == Timeout:
			r.unknown(why, detail+": "+came+" until then, and none was lost; fewer --iters or a longer --timeout let it finish")
		default:
			r.unknown(cmp.Or(why, NoCompletion), came)
		}
	}
}

// noTime finishes the row of a size of which nothing was sent: the sizes before it
// took the time, or the run is over. It is no evidence, and replaces none.
func (r *row) noTime(why Reason, detail string) {
	if detail += ": no message of this size was sent"; why == Timeout {
		detail += "; a longer --timeout leaves time for it"
	}
	r.unknown(NotTried, detail)
}

// whichWay says what the other host's end saw of messages one of which is wrong
// here: whether it was so already there.
func (p *pingpong) whichWay() string {
	switch r := p.results; {
	case r == nil:
		return ""
	case r.Mismatch != "":
		return "; the other end: " + r.Mismatch
	case r.Verified == r.Received && r.Received > 0:
		return fmt.Sprintf("; all %d messages had arrived intact at the other end", r.Received)
	}
	return ""
}

// summary is what the loop measured. Times are round trips.
func (p *pingpong) summary() map[string]any {
	d := map[string]any{"count": p.count, "verified": p.verified, "lost": p.lost, "size": p.size}
	if p.late > 0 {
		d["late"] = p.late
	}
	if p.repeated > 0 {
		d["repeated"] = p.repeated
	}
	if p.stock() && p.verified > 0 {
		d["validated"] = "the round trip, here: every byte of what came back. Not the other end: the tool says nothing of what it received, and a wire that gives messages back to their sender looks the same"
	}
	if r := p.results; r != nil && p.c.remote != nil {
		d["peer_received"], d["peer_verified"] = r.Received, r.Verified // warm-up included
	}
	if p.verified == 0 {
		return d
	}
	d["min_ns"], d["max_ns"], d["mean_ns"] = p.times.Min(), p.times.Max(), int64(p.times.Mean())
	for name, q := range map[string]float64{"p50_ns": 50, "p90_ns": 90, "p99_ns": 99, "p999_ns": 99.9} {
		d[name] = p.times.ValueAtQuantile(q)
	}
	if span := p.last.Sub(p.first); span > 0 {
		rate := float64(p.verified-1) * float64(p.size) * 8 / span.Seconds()
		d["rate_bits_per_s"] = int64(rate)
		if link := p.c.near.gbps; link > 0 && rate > link*1e9 {
			d["above_link_speed"] = fmt.Sprintf("the link has %g Gb/s: a clock or the count is wrong, unless the messages take no link (loopback, software)", link)
		}
	}
	return d
}
