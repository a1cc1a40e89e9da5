package report

import (
	"strconv"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// column is one capability: its head, its key in the document and the ids whose
// rows stand behind it.
type column struct {
	head, key string
	ids       []string
	of        func(*probe.Capabilities) *probe.Summary
}

var columns = []column{
	{"UC", "queue_pair_uc", []string{"qp.uc.create"}, func(c *probe.Capabilities) *probe.Summary { return &c.QueuePairUC }},
	{"RC", "queue_pair_rc", []string{"qp.rc.create"}, func(c *probe.Capabilities) *probe.Summary { return &c.QueuePairRC }},
	{"SEND/RECV", "send_recv", []string{"pingpong.uc", "pingpong.rc"}, func(c *probe.Capabilities) *probe.Summary { return &c.SendRecv }},
	{"RKEY", "remote_key", []string{"mr.rkey"}, func(c *probe.Capabilities) *probe.Summary { return &c.RemoteKey }},
	{"WRITE", "rdma_write", []string{"op.rdma_write"}, func(c *probe.Capabilities) *probe.Summary { return &c.RDMAWrite }},
	{"READ", "rdma_read", []string{"op.rdma_read"}, func(c *probe.Capabilities) *probe.Summary { return &c.RDMARead }},
}

// verdict is one cell of the matrix.
type verdict struct {
	level  rdma.Capability
	reason probe.Reason
	word   string // ok, no EOPNOTSUPP, 0, ? port
	marks  string // of marks, below
	sum    probe.Summary
}

// matrixRow is one device of the matrix.
type matrixRow struct {
	dev      *probe.Device
	port     string // its state, with the number when there are several
	verdicts []verdict
	oldest   *time.Time // of the evidence in the row
}

// shortReasons are the reasons as a cell shows them. One that is not here shows
// as itself: a later version may have more.
var shortReasons = map[probe.Reason]string{
	probe.NotTried: "", probe.Precondition: "pre", probe.Timeout: "time", probe.Crash: "crash",
	probe.Stuck: "stuck", probe.Unstable: "varies", probe.Interrupted: "intr", probe.Guarded: "guard",
	probe.Exhausted: "full", probe.Permission: "perm", probe.Invalid: "inval", probe.Unreachable: "peer",
	probe.NoCompletion: "noack", probe.PayloadMismatch: "bytes", probe.Unproven: "proof", probe.SymbolMissing: "symbol",
	probe.LibraryMissing: "lib", probe.ProviderError: "error",
}

// portShort is shown for a precondition on a port that is not active.
const portShort = "port"

// shortText explains what shortReasons shortens.
var shortText = map[string]string{
	portShort: "its port is not active", "pre": "what it needs is missing or failed",
	"time": "the deadline came first", "crash": "the child died in a provider call",
	"proof": "the end that received did not show that it did",
	"stuck": "the child could not be killed, or was left in a call", "varies": "successive answers differ",
	"intr": "ended before it had an answer", "guard": "the guard refused",
	"full": "a pool is used up", "perm": "this user may not",
	"inval": "arguments refused, or an impossible answer", "peer": "the peer does not answer",
	"noack": "work was posted, nothing came back", "bytes": "the receiver does not have what was sent",
	"symbol": "the library lacks the function", "lib": "no library",
	"error": "the provider failed",
}

// matrixByHost works out the matrix of each host's devices.
func matrixByHost(d *probe.Document, r rows) map[string][]matrixRow {
	m := map[string][]matrixRow{}
	for i := range d.Devices {
		dev := &d.Devices[i]
		row := matrixRow{dev: dev, port: portCell(dev, bestPort(dev), r)}
		for _, c := range columns {
			v := judge(dev, r, c)
			if at := v.sum.ObservedAt; at != nil && (row.oldest == nil || at.Before(*row.oldest)) {
				row.oldest = at
			}
			row.verdicts = append(row.verdicts, v)
		}
		m[dev.Host] = append(m[dev.Host], row)
	}
	return m
}

// bestPort is the port that a device is shown by: the one that its evidence
// names, else the first active one, else the first.
func bestPort(dev *probe.Device) *probe.Port {
	var best *probe.Port
	for i := range dev.Ports {
		p := &dev.Ports[i]
		if dev.Capabilities != nil && p.Num != 0 && p.Num == dev.Capabilities.SendRecv.Port {
			return p
		}
		if best == nil || p.State == "active" && best.State != "active" {
			best = p
		}
	}
	return best
}

func portCell(dev *probe.Device, p *probe.Port, r rows) string {
	switch {
	case !dev.Listed:
		return r.unlistedWord(dev)
	case p == nil:
		return ""
	case len(dev.Ports) > 1:
		return strconv.Itoa(p.Num) + " " + cleanName(p.State)
	}
	return cleanName(p.State)
}

// judge fills one cell: the summary's state where the document has one, else the
// level of the newest row.
func judge(dev *probe.Device, r rows, c column) verdict {
	v := verdict{}
	if dev.Capabilities != nil {
		v.sum = *c.of(dev.Capabilities)
	}
	row := behind(dev, r, c, v.sum)
	v.level = v.sum.State
	if v.level == "" && row != nil {
		v.level = row.Level
		v.sum.ObservedAt = row.StartedAt
	}
	switch v.level {
	case rdma.CapabilityConfirmed:
		v.word = "ok"
	case rdma.CapabilityObservedZero:
		v.word = "0"
	case rdma.CapabilityRejected:
		v.word = "no"
		if row != nil && row.Level == rdma.CapabilityRejected && row.Errno != nil {
			v.word += " " + errnoName(row.Errno)
		}
	default:
		v.reason = reasonOf(v.sum, row)
		v.word = questionMark(v.reason, dev)
	}
	v.marks = marksOf(v)
	return v
}

// behind is the row that a summary stands on: the one that it refers to, else
// the newest with the same level, else the newest.
func behind(dev *probe.Device, r rows, c column, s probe.Summary) *probe.Observation {
	if s.Observation != nil {
		if o := r.byRef[*s.Observation]; o != nil {
			return o
		}
	}
	var found *probe.Observation
	for _, id := range c.ids {
		o := r.of(dev, 0, id)
		if o != nil && (found == nil || found.Reason == probe.NotTried || o.Level == s.State && found.Level != s.State) {
			found = o
		}
	}
	return found
}

func errnoName(e *probe.Errno) string {
	if e.Name == "" {
		return strconv.Itoa(e.Number)
	}
	return cleanName(e.Name)
}

func reasonOf(s probe.Summary, row *probe.Observation) probe.Reason {
	if s.LastAttempt != nil && s.LastAttempt.Reason != "" {
		return s.LastAttempt.Reason
	}
	if row != nil {
		return row.Reason
	}
	return ""
}

// questionMark is the word of an unknown cell.
func questionMark(reason probe.Reason, dev *probe.Device) string {
	short, known := shortReasons[reason]
	if !known {
		short = cleanName(string(reason))
	}
	if p := bestPort(dev); reason == probe.Precondition && p != nil && p.State != "" && p.State != "active" {
		short = portShort
	}
	if short == "" {
		return "?"
	}
	return "? " + short
}

// The marks behind a cell's word, and what they say.
const (
	markStale      = "*"
	markContradict = "!"
	markRetried    = "~"
)

var markText = []struct{ mark, text string }{
	{markStale, "seen under another OS build or library"},
	{markContradict, "differs from what a document claims"},
	{markRetried, "a later try was inconclusive"},
}

func marksOf(v verdict) string {
	m := ""
	if v.sum.Stale {
		m += markStale
	}
	if v.sum.Contradicts {
		m += markContradict
	}
	if v.sum.LastAttempt != nil && v.conclusive() {
		m += markRetried
	}
	return m
}

func (v verdict) conclusive() bool {
	return v.level == rdma.CapabilityConfirmed || v.level == rdma.CapabilityRejected || v.level == rdma.CapabilityObservedZero
}

// tone is the colour of a verdict; stale evidence has none.
func (v verdict) tone() tone {
	switch {
	case v.sum.Stale || !v.conclusive():
		return faint
	case v.level == rdma.CapabilityConfirmed:
		return good
	case v.level == rdma.CapabilityRejected:
		return bad
	}
	return odd
}
