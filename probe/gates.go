package probe

import (
	"encoding/json"
	"fmt"
	"strings"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// history is what the ledger says about earlier runs, as far as it bears on
// this one: which probes are closed, and the evidence that there is.
type history struct {
	runs     map[string]*pastRun
	closures map[string][]closure // by identity
	tbClosed []closure            // for every Thunderbolt device
	newest   map[rowKey]*newestRows
	gids     map[string]string // by identity: the IPv4-mapped GID of the last recorded run
}

// pastRun is a run of the ledger.
type pastRun struct {
	id       string
	n        int64
	body     runSeen
	devices  map[string]Device // by name
	intents  map[string]ledger.Record
	outcomes map[string]bool // device and probe that have one
	host     *hostfacts.Host
	ended    bool
}

// runSeen is the part of a run's record that gates and summaries need.
type runSeen struct {
	Run      RunInfo  `json:"run"`
	Provider Provider `json:"provider"`
	Host     hostSeen `json:"host"`
}

type hostSeen struct {
	Name    string `json:"name"`
	OS      string `json:"os"`
	OSBuild string `json:"os_build"`
	Kernel  string `json:"kernel"`
}

// rowKey is what rows of evidence replace each other within: the newest counts.
type rowKey struct {
	identity, id, probe string
	port                int
	build, lib          string
}

// newestRows are the newest conclusive row of a key and the newest of all.
type newestRows struct {
	conclusive, last *pastRow
}

// pastRow is one row of evidence, with the run that orders it.
type pastRow struct {
	o Observation
	n int64
}

// newer orders rows by run and sequence number, never by the clock.
func (p *pastRow) newer(q *pastRow) bool {
	return q == nil || p.n > q.n || p.n == q.n && p.o.Seq >= q.o.Seq
}

// conclusive tells whether a level is an answer.
func conclusive(l rdma.Capability) bool { return l != rdma.CapabilityUnknown }

// keep files a row under its key.
func (h *history) keep(r *pastRun, identity string, o Observation) {
	k := rowKey{identity, o.ID, o.Probe, o.Port, r.body.build(), r.body.Provider.Library.ID}
	kept := h.newest[k]
	if kept == nil {
		kept = &newestRows{}
		h.newest[k] = kept
	}
	p := &pastRow{o: o, n: r.n}
	if p.newer(kept.last) {
		kept.last = p
	}
	if conclusive(o.Level) && p.newer(kept.conclusive) {
		kept.conclusive = p
	}
}

// build is what evidence is tied to: another one makes it stale.
func (r runSeen) build() string {
	if r.Host.OSBuild != "" {
		return r.Host.OSBuild
	}
	return r.Host.Kernel
}

// identity is what a device is recognised by: its node GUID, or, where that is
// absent, its name within one boot.
func identity(guid, name, boot string) string {
	if guid != "" && strings.Trim(guid, "0:") != "" {
		return guid
	}
	return name + "@" + boot
}

// newHistory knows nothing.
func newHistory() *history {
	return &history{
		runs: map[string]*pastRun{}, closures: map[string][]closure{}, newest: map[rowKey]*newestRows{}, gids: map[string]string{},
	}
}

// readHistory reads the ledger at path. live tells whether a run still goes on.
func readHistory(path string, live func(run string) bool) (*history, ledger.Stats, error) {
	h := newHistory()
	stats, err := ledger.Scan(path, h.add)
	if err != nil {
		return nil, stats, err
	}
	for _, r := range h.runs {
		h.openIntents(r, live)
	}
	return h, stats, nil
}

// add takes one record in.
func (h *history) add(rec *ledger.Record) error {
	r := h.runs[rec.Run]
	if r == nil {
		r = &pastRun{id: rec.Run, n: rec.N, devices: map[string]Device{}, intents: map[string]ledger.Record{}, outcomes: map[string]bool{}}
		h.runs[rec.Run] = r
	}
	// A body that cannot be read is a damaged line: it is no evidence.
	switch rec.Kind {
	case ledger.KindRun:
		var full struct{ Host *hostfacts.Host }
		if json.Unmarshal(rec.Body, &r.body) == nil && json.Unmarshal(rec.Body, &full) == nil {
			r.host = full.Host
		}
	case ledger.KindDevice:
		var d Device
		if json.Unmarshal(rec.Body, &d) == nil {
			r.devices[d.Name] = d
			h.rememberGID(r, d)
		}
	case ledger.KindIntent:
		var b intentBody
		if json.Unmarshal(rec.Body, &b) == nil {
			keep := *rec
			keep.Body = append(json.RawMessage(nil), rec.Body...)
			r.intents[b.Device+"\x00"+b.Probe] = keep
		}
	case ledger.KindObservation:
		var o Observation
		if json.Unmarshal(rec.Body, &o) == nil {
			o.Run, o.Seq = rec.Run, rec.Seq
			h.addRow(r, o)
		}
	case ledger.KindEnd:
		r.ended = true
	}
	return nil
}

func (h *history) rememberGID(r *pastRun, d Device) {
	for _, p := range d.Ports {
		if g, _, ok := chooseGID("thunderbolt", p.GIDs, nil); ok {
			h.gids[r.identity(d.Name)] = g.GID
		}
	}
}

func (r *pastRun) identity(device string) string {
	return identity(r.devices[device].NodeGUID, device, r.body.Run.BootID)
}

// addRow files a row and what it closes.
func (h *history) addRow(r *pastRun, o Observation) {
	if o.Device == "" {
		h.keep(r, "", o)
		return
	}
	id := r.identity(o.Device)
	r.outcomes[o.Device+"\x00"+o.Probe] = true
	h.keep(r, id, o)
	tb := r.devices[o.Device].thunderbolt(r.body.Host.OS)
	for _, c := range closuresOf(o, tb) {
		c.Run = r.id
		c.Until = "in this boot"
		if c.Event == "stuck" || c.Event == "left" {
			if tb {
				all := c
				all.From = max(all.From, ClassCreate)
				h.tbClosed = append(h.tbClosed, all)
			}
		}
		h.closures[id] = append(h.closures[id], c)
	}
}

// closuresOf lists what a row closes in its boot.
func closuresOf(o Observation, tb bool) []closure {
	c := closure{Call: o.Call, Event: "", From: ClassCreate}
	if o.StartedAt != nil {
		c.At = *o.StartedAt
	}
	class := evidence(o.ID).Class
	if row, ok := rowOf(o.Probe); ok {
		class = max(class, row.class)
	}
	if o.Child != nil && (o.Reason == Crash || o.Reason == Timeout || o.Reason == Stuck) {
		c.PID = o.Child.PID
		switch o.Child.Outcome {
		case guard.Crashed, guard.TimedOut:
			c.Event, c.PID = string(o.Child.Outcome), 0
			if class < ClassCreate {
				return nil
			}
		case guard.Stuck, guard.Left:
			c.Event = string(o.Child.Outcome)
		}
	}
	if c.Event != "" {
		return []closure{c}
	}
	if tb && strings.HasSuffix(o.ID, ".rtr") && o.Errno != nil {
		return []closure{{From: ClassTransition, Event: "rtr_failed", Call: o.Call, At: c.At, Errno: o.Errno}}
	}
	return nil
}

// openIntents turns the intents of a run that is over and recorded no outcome
// into closures of their probes.
func (h *history) openIntents(r *pastRun, live func(string) bool) {
	if r.ended || live(r.id) {
		return
	}
	for key, rec := range r.intents {
		if r.outcomes[key] {
			continue
		}
		var b intentBody
		if json.Unmarshal(rec.Body, &b) != nil {
			continue
		}
		id := identity(b.NodeGUID, b.Device, b.BootID)
		h.closures[id] = append(h.closures[id], closure{
			From: ClassCreate, Event: "interrupted", Probe: b.Probe, At: rec.At, Run: rec.Run, Until: "until the OS build changes",
		})
	}
}

// closed lists what keeps a device closed in this boot and OS build.
func (h *history) closed(id, boot, build string, tb bool, alive func(pid int) bool) []closure {
	if h == nil {
		return nil
	}
	var out []closure
	consider := func(c closure, own bool) {
		r := h.runs[c.Run]
		sameBoot := r != nil && boot != "" && r.body.Run.BootID == boot
		switch {
		case c.Event == "interrupted":
			if r != nil && r.body.build() != build {
				return
			}
		case !sameBoot:
			return
		}
		if own && (c.Event == "stuck" || c.Event == "left") && alive(c.PID) {
			c.From, c.Until = ClassRead, fmt.Sprintf("while process %d lives", c.PID)
		}
		out = append(out, c)
	}
	for _, c := range h.closures[id] {
		consider(c, true)
	}
	if tb {
		for _, c := range h.tbClosed {
			consider(c, false)
		}
	}
	return out
}
