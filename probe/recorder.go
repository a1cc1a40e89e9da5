package probe

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// recorder collects a run's document and writes the same rows to the ledger,
// which may be nil. It is safe for concurrent use.
type recorder struct {
	mu   sync.Mutex
	doc  *Document
	run  *ledger.Run
	keep *storeTime        // of that; nil: no limit
	seq  int64             // without a ledger
	err  error             // the first failure to write
	lost int               // rows that were seen and not kept
	tell func(Observation) // of every row that is kept, as it comes; may be nil

	places map[string]int   // of the devices in the document, by name: see at
	seen   map[rowName]bool // which ids devices have rows of, and whether this run has confirmed them
}

// runBody is what the ledger's run record holds.
type runBody struct {
	Tool     Tool     `json:"tool"`
	Run      RunInfo  `json:"run"`
	Provider Provider `json:"provider"`
	Host     any      `json:"host,omitempty"`
}

// endBody is what the ledger's end record holds.
type endBody struct {
	Exit       int   `json:"exit"`
	DurationNS int64 `json:"duration_ns"`
}

// intentBody is what the ledger's intent record holds.
type intentBody struct {
	Device   string   `json:"device"`
	NodeGUID string   `json:"node_guid,omitempty"`
	Port     int      `json:"port,omitempty"`
	Probe    string   `json:"probe"`
	Class    string   `json:"class"`
	IDs      []string `json:"ids"`
	BootID   string   `json:"boot_id,omitempty"`
	OSBuild  string   `json:"os_build,omitempty"`
}

// newRunID names a run where there is no ledger to number it.
func newRunID(at time.Time) string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return at.UTC().Format("20060102T150405") + "-" + hex.EncodeToString(b[:])
}

// observe adds a row and keeps it, unless it is of what was not tried.
func (r *recorder) observe(o Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.Run, o.Seq = r.doc.Run.ID, 0
	if o.tried() {
		o.Seq = r.write(o)
	}
	r.doc.Observations = append(r.doc.Observations, o)
	if r.seen == nil {
		r.seen = map[rowName]bool{}
	}
	at := rowName{o.Device, o.ID}
	r.seen[at] = r.seen[at] || o.Level == rdma.CapabilityConfirmed
	if n := limitNote(&o); n != "" && !slices.Contains(r.doc.Notes, n) {
		r.doc.Notes = append(r.doc.Notes, n)
	}
	if r.tell != nil && o.Seq > 0 {
		r.tell(o)
	}
}

// at is the place of a device in the document, -1 for none.
func (r *recorder) at(name string) int {
	has := func(i int) bool { return i < len(r.doc.Devices) && r.doc.Devices[i].Name == name }
	i, known := r.places[name]
	if known && has(i) {
		return i
	}
	r.places = make(map[string]int, len(r.doc.Devices))
	for i := len(r.doc.Devices) - 1; i >= 0; i-- {
		r.places[r.doc.Devices[i].Name] = i
	}
	if i, known = r.places[name]; known {
		return i
	}
	return -1
}

// write keeps a row in the ledger, where there is one, and numbers it.
func (r *recorder) write(o Observation) int64 {
	if r.run == nil {
		r.seq++
		return r.seq
	}
	seq, err := r.append(ledger.KindObservation, o)
	if err != nil {
		r.lost++
	}
	r.failed(err)
	r.seq = max(r.seq, seq)
	return seq
}

// append adds a record to the ledger, in the time that there is for it.
func (r *recorder) append(kind string, body any) (int64, error) {
	b, err := json.Marshal(body) // the write may outlive this call
	if err != nil {
		return 0, err
	}
	more := time.Duration(0)
	if kind == ledger.KindIntent {
		more = intentLimit
	}
	seq := make(chan int64, 1)
	err = r.keep.do(more, func() error {
		n, err := r.run.Append(kind, json.RawMessage(b))
		seq <- n
		return err
	})
	if err != nil {
		return 0, err
	}
	return <-seq, nil
}

// number gives the rows that are in no ledger numbers after all others, so that
// run and number name one row of the document.
func (r *recorder) number() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.doc.Observations {
		if o := &r.doc.Observations[i]; o.Seq == 0 {
			r.seq++
			o.Seq = r.seq
		}
	}
}

// keepDevice writes a device as it was seen. It comes before the rows about the
// device: they are filed under its node GUID.
func (r *recorder) keepDevice(d Device) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run != nil {
		_, err := r.append(ledger.KindDevice, d)
		r.failed(err)
	}
}

// intent writes, and syncs, that something risky is about to be tried.
func (r *recorder) intent(b intentBody) error {
	if r.run == nil {
		return nil
	}
	_, err := r.append(ledger.KindIntent, b)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed(err)
	return err
}

func (r *recorder) failed(err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("cannot write the evidence: %w", err)
	}
}

// note adds a sentence to the document, once.
func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.doc.Notes, text) {
		r.doc.Notes = append(r.doc.Notes, text)
	}
}

// sortRows puts rows in the order of devices, ids, ports and, within one of
// those, of time: two runs then compare line by line.
func sortRows(d *Document) {
	place := map[string]int{}
	for i, dev := range d.Devices {
		place[dev.Host+"\x00"+dev.Name] = i
	}
	at := func(o *Observation) int {
		if o.Device == "" {
			return -1
		}
		if i, ok := place[o.Host+"\x00"+o.Device]; ok {
			return i
		}
		return len(place)
	}
	sort.SliceStable(d.Observations, func(i, j int) bool {
		a, b := &d.Observations[i], &d.Observations[j]
		return cmp.Or(
			cmp.Compare(at(a), at(b)), cmp.Compare(a.Device, b.Device),
			cmp.Compare(idIndex(a.ID), idIndex(b.ID)), cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Port, b.Port)) < 0
	})
}
