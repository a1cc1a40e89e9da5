package probe

import (
	"fmt"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/probe/peer"
)

// tally is what one end has received of the messages of a round.
type tally struct {
	received, verified int
	digest             pattern.Digest
	mismatch           string // the first wrong message
}

// right takes a message in whose bytes are those of number seq.
func (t *tally) right(b []byte, seq uint64) {
	t.verified++
	t.digest = t.digest.Add(b, seq)
}

// results are what the other end is told.
func (t *tally) results() peer.Results {
	return peer.Results{Received: t.received, Verified: t.verified, Mismatch: t.mismatch, Digest: uint64(t.digest)}
}

// unproven says what is missing in the results of the end that received, for them to
// be those of sent messages with a digest; "" when nothing is. What its own results
// cannot show is never taken from anything else: not from answers that came back, nor
// from completions.
func unproven(got *peer.Results, sent int, digest pattern.Digest) string {
	switch {
	case got == nil:
		return "the other end did not say what it received"
	case got.Received > sent || got.Verified > sent:
		return fmt.Sprintf("the other end says that it received %d messages, and %d were sent", got.Received, sent)
	case got.Received < sent || got.Verified < sent:
		return fmt.Sprintf("the other end received %d of %d messages, and verified %d", got.Received, sent, got.Verified)
	case got.Digest != uint64(digest):
		return fmt.Sprintf("the other end's digest of what it received is not that of the %d messages that were sent", sent)
	}
	return ""
}

// speak gives an end its keys: it sends in direction own, and receives what the end
// with the salt theirs sends.
func (e *wireEnd) speak(own pattern.Direction, theirs uint64) {
	other := pattern.Asks + pattern.Answers - own
	e.out, e.in = pattern.NewSender(e.info.Salt, own), pattern.NewKey(theirs, other)
}

// agree gives both ends their keys. The messages of an end in this process are known
// here to the last byte.
func (s *session) agree(c *connection) {
	own := pattern.Asks
	if s.req.Data.Server {
		own = pattern.Answers
	}
	c.near.speak(own, c.peer.Salt)
	switch {
	case c.far != nil:
		c.far.speak(pattern.Answers, c.near.info.Salt)
		c.theirs = &c.far.out
	case c.sim != nil:
		theirs := pattern.NewSender(c.peer.Salt, pattern.Answers)
		c.theirs = &theirs
	}
}

// answerSimulated is the simulated other end: it takes a message and writes its
// answer in the place of it.
func (p *pingpong) answerSimulated(m []byte) {
	p.took.received++
	if at := p.c.near.out.Mismatch(m, p.seq); at >= 0 || len(m) != p.size {
		if p.took.mismatch == "" {
			p.took.mismatch = fmt.Sprintf("message %d arrived with a wrong byte at offset %d", p.seq, at)
		}
		return
	}
	p.took.right(m, p.seq)
	p.c.theirs.Fill(m, p.seq)
}

// unproven says what is missing in what the end that received says of this loop's
// messages, "" when nothing is.
func (p *pingpong) unproven() string {
	if p.stock() {
		return "" // it has no results: the row says what was seen here
	}
	sent := p.warm + p.count
	why := unproven(p.results, sent, p.c.near.out.Digest(p.size, p.before+1, sent))
	if p.noResults != nil {
		why += ": " + p.noResults.Error()
	}
	return why
}
