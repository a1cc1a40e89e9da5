package probe

import (
	"encoding/json"
	"strings"

	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// rowKey is what rows of evidence replace each other within: the newest counts.
type rowKey struct {
	identity, id, probe string
	port                int
	build, lib          string
}

// newestRows are the newest row of a key that is an answer, and the newest that
// is none. Either may be nil.
type newestRows struct {
	answer, other *pastRow
}

// filedRows are the newest rows by the identity that they are about.
type filedRows map[string]map[rowKey]*newestRows

// at is the place of a key, which is made where there is none.
func (f filedRows) at(k rowKey) *newestRows {
	of := f[k.identity]
	if of == nil {
		of = map[rowKey]*newestRows{}
		f[k.identity] = of
	}
	if of[k] == nil {
		of[k] = &newestRows{}
	}
	return of[k]
}

// place is where a row of a level belongs.
func (k *newestRows) place(l rdma.Capability) **pastRow {
	if conclusive(l) {
		return &k.answer
	}
	return &k.other
}

// last is the newer of the two.
func (k newestRows) last() *pastRow {
	if k.answer == nil || k.other != nil && k.other.newer(k.answer) {
		return k.other
	}
	return k.answer
}

// pastRow is one row of evidence, in the form in which it was found: as a row of
// this run, or as the body of a record, which is decoded when it is needed.
type pastRow struct {
	run      string
	n, seq   int64 // of the run, and of the record in it
	identity string
	build    string
	level    rdma.Capability
	row      *Observation
	body     []byte
}

// newer orders rows by run and sequence number, never by the clock.
func (p *pastRow) newer(q *pastRow) bool {
	return q == nil || p.n > q.n || p.n == q.n && p.seq >= q.seq
}

// observation is the whole row. A ledger's body has been decoded once already,
// as far as it was needed.
func (p *pastRow) observation() Observation {
	if p.row != nil {
		return *p.row
	}
	var o Observation
	_ = json.Unmarshal(p.body, &o)
	o.Run, o.Seq = p.run, p.seq
	return o
}

// conclusive tells whether a level is an answer.
func conclusive(l rdma.Capability) bool { return l != rdma.CapabilityUnknown }

// tried tells whether anything was done to see a row. Other rows are no
// evidence: they stay out of the ledger and replace nothing.
func (o *Observation) tried() bool {
	if conclusive(o.Level) {
		return true
	}
	switch o.Reason {
	case NotTried, Precondition, Guarded:
		return false
	case Interrupted: // before its child was started
		return o.Child != nil
	}
	return true
}

// failed tells whether a stage is not called again in this run. A child that
// crashed in it stops no other probe.
func (o *Observation) failed() bool {
	bad := o.Level == rdma.CapabilityRejected || o.Level == rdma.CapabilityUnknown && o.tried()
	return bad && o.Reason != Crash && o.Reason != Interrupted
}

// rowHead is what of a row is needed to file it.
type rowHead struct {
	ID     string          `json:"id"`
	Probe  string          `json:"probe"`
	Device string          `json:"device"`
	Port   int             `json:"port"`
	Level  rdma.Capability `json:"level"`
	Reason Reason          `json:"reason"`
	Errno  *Errno          `json:"errno"`
	Value  any             `json:"value"`
	Child  *struct {
		Outcome Outcome `json:"outcome"`
	} `json:"child"`
}

// sound is Sound of a row of the ledger. An id that this version does not know is
// none of its business.
func (o *rowHead) sound() bool {
	return soundAnswer(o.Level, o.Reason, o.Errno) && scalar(o.Value) && (o.Child == nil || soundOutcome(o.Child.Outcome))
}

// addRow files a row of the ledger, and what it closes. One that is not of the
// vocabulary is a damaged line.
func (h *history) addRow(r *pastRun, rec *ledger.Record) {
	var o rowHead
	if json.Unmarshal(rec.Body, &o) != nil || !o.sound() {
		h.damaged++
		return
	}
	switch o.Reason {
	case NotTried, Precondition, Guarded:
		return
	}
	id := hostIdentity(r.host)
	if o.Device != "" {
		id = r.identity(o.Device)
		if r.outcomes == nil {
			r.outcomes = map[string]bool{}
		}
		r.outcomes[attemptKey(o.Device, o.Probe)] = true
	}
	h.keep(rowKey{id, o.ID, o.Probe, o.Port, r.build, r.lib}, pastRow{run: r.id, n: r.n, seq: rec.Seq, level: o.Level, body: rec.Body})
	if o.Device != "" && mayClose(o) {
		h.close(r, id, o.Device, rec)
	}
}

// hostIdentity files the rows that are about a machine.
func hostIdentity(host string) string { return "host " + host }

// mayClose tells from a row's head whether it is worth reading for what it
// closes.
func mayClose(o rowHead) bool {
	return o.Reason == Crash || o.Reason == Timeout || o.Reason == Stuck || o.Child != nil && (o.Reason == Interrupted || o.Reason == Exhausted) || strings.HasSuffix(o.ID, ".rtr") && o.Level != rdma.CapabilityConfirmed
}

// keep files a row under its key, in the memory of the row that it replaces.
func (h *history) keep(k rowKey, p pastRow) {
	p.identity, p.build = k.identity, k.build
	place := h.newest.at(k).place(p.level)
	if !p.newer(*place) {
		return
	}
	body := p.body
	if *place == nil || h.every {
		*place = &pastRow{}
	}
	p.body = append((*place).body[:0], body...)
	**place = p
	if h.every {
		h.rows = append(h.rows, *place)
	}
}
