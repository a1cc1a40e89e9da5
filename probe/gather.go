package probe

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
)

// Gathered is what a machine tells about itself while nothing is tried on it.
type Gathered struct {
	Document *Document       // never nil; its Verify is that of ListDevices, nil for a simulated machine
	Partly   string          // why the document has this run's rows alone; "" when it has the ledger's
	Sources  []hostfacts.Raw // what each source of host facts gave
	Records  []ledger.Record // the ledger's, of this machine, oldest first
	LeftOut  int             // runs in the ledger that are left out of Records
	Ledger   string          // why there are no records; "" when there are
}

// maxRecords bounds the records that are gathered, in bytes; the newest runs stay.
const maxRecords = 16 << 20

// Gather reads the host's facts and keeps what their sources gave, lists the
// devices as ListDevices does, and adds what the ledger has of this machine: the
// document is that of Report, after a listing. It creates nothing on any device. An
// error is rdmaprobe's own failure or a usage error, and stands in the document too.
func Gather(ctx context.Context, o ReportOptions) (*Gathered, error) {
	r, err := newRun(ctx, &o.Options)
	g := &Gathered{Document: r.doc}
	if r.exit.usage || r.facts == nil {
		return g, err
	}
	s := hostfacts.Native()
	s.Record = &hostfacts.Record{}
	if r.profile == nil {
		r.collectFacts(s)
	}
	if err == nil {
		err = r.startSurvey(time.Now()).finish()
	}
	if err != nil {
		r.fail(err)
	}
	if r.profile == nil {
		r.verify(s)
		g.Sources = s.Record.Sources()
	} else {
		g.Sources = r.profileSources()
	}
	g.Document, err = r.finish("devices")
	g.addLedger(o, r)
	return g, err
}

// profileSources is what stands in for the sources of a simulated machine.
func (r *run) profileSources() []hostfacts.Raw {
	text, err := json.MarshalIndent(map[string]any{
		"host": r.facts, "boot_id": r.doc.Run.BootID, "control_channel": r.profile.ControlChannel,
	}, "", "  ")
	if err != nil {
		text = []byte(err.Error())
	}
	return []hostfacts.Raw{{Name: "profile", What: "the facts that the simulated machine's profile sets", Text: string(text) + "\n"}}
}

// addLedger puts the evidence of this machine into the document: that of Report,
// which has the rows of this run as well.
func (g *Gathered) addLedger(o ReportOptions, r *run) {
	if r.path == "" {
		g.Ledger = "nothing is kept with --store none"
		g.Partly = g.Ledger
		return
	}
	o.here = true
	d, err := Report(o)
	switch {
	case err != nil:
		g.Partly = "the ledger could not be read: " + err.Error()
	case d.Run.ID != r.doc.Run.ID:
		g.Partly = "this run could not be kept in the ledger"
	default:
		seen := g.Document
		d.NotRead, d.Verify, d.Error, d.Exit = seen.NotRead, seen.Verify, seen.Error, seen.Exit
		for _, n := range seen.Notes {
			if !slices.Contains(d.Notes, n) {
				d.Notes = append(d.Notes, n)
			}
		}
		g.Document = d
	}
	if err := g.readRecords(r.path, r.facts.Name); err != nil {
		g.Ledger = "it could not be read: " + err.Error()
	} else if len(g.Records) == 0 {
		g.Ledger = "there is nothing in it of this machine"
	}
}

// recordedRun is what a ledger has of one run.
type recordedRun struct {
	records []ledger.Record
	size    int
	ours    bool
}

// readRecords keeps the records of this machine's runs: those under its name, and
// under another those that saw a device of the document, since names change.
func (g *Gathered) readRecords(path, host string) error {
	guids := map[string]bool{}
	for _, d := range g.Document.Devices {
		guids[d.NodeGUID] = hasGUID(d.NodeGUID)
	}
	runs := map[string]*recordedRun{}
	var order []*recordedRun
	_, err := ledger.Scan(path, func(rec *ledger.Record) error {
		of := runs[rec.Run]
		if of == nil {
			of = &recordedRun{}
			runs[rec.Run] = of
			order = append(order, of)
		}
		of.ours = of.ours || isOf(rec, host, guids)
		kept := *rec
		kept.Body = slices.Clone(rec.Body)
		of.records, of.size = append(of.records, kept), of.size+len(kept.Body)
		return nil
	})
	if err != nil {
		return err
	}
	g.keepNewest(order)
	return nil
}

// isOf tells whether a record shows that its run was of a machine.
func isOf(rec *ledger.Record, host string, guids map[string]bool) bool {
	var body struct {
		Host     json.RawMessage `json:"host"`
		NodeGUID string          `json:"node_guid"`
	}
	if json.Unmarshal(rec.Body, &body) != nil {
		return false
	}
	var facts hostSeen
	return rec.Kind == ledger.KindRun && json.Unmarshal(body.Host, &facts) == nil && facts.Name == host ||
		rec.Kind == ledger.KindDevice && guids[body.NodeGUID]
}

// keepNewest keeps the records of this machine's newest runs, as many as fit.
func (g *Gathered) keepNewest(runs []*recordedRun) {
	size := 0
	for i, of := range slices.Backward(runs) {
		if of.ours {
			size += of.size
		}
		if !of.ours || size > maxRecords {
			runs[i] = nil
			g.LeftOut++
		}
	}
	for _, of := range runs {
		if of != nil {
			g.Records = append(g.Records, of.records...)
		}
	}
}
