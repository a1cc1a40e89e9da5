package probe

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rdmaprobe/probe/ledger"
)

// history is what the ledger says about earlier runs: which probes are closed,
// and the newest evidence. A ledger may hold any number of rows; what is kept of
// it is bounded by what can differ: devices, ids, ports and builds, and a few
// words about each run.
type history struct {
	path     string
	provider string // whose ledger it has to be; "" takes any
	every    bool   // keep all rows, not only the newest

	runs     map[string]*pastRun
	hosts    map[string]*pastHost // by name
	sights   map[string]*sight    // by identity
	newest   filedRows
	rows     []*pastRow           // only when every
	damaged  int                  // rows that cannot be read, or say what no row can
	closures map[string][]closure // by identity
	tbClosed []closure            // of all Thunderbolt devices
	gids     map[string]string    // by identity: the IPv4-mapped GID that was seen last
}

// pastRun is a run of the ledger.
type pastRun struct {
	id, boot, build, lib, os, host string

	n        int64
	ended    bool                  // it wrote all that it had to
	devices  map[string]pastDevice // by name
	named    map[string][]string   // by GUID: the names of the devices that have it
	intents  map[string]pastIntent // by device and probe
	outcomes map[string]bool       // by device and probe
}

// pastDevice is what tells a device's identity and kind.
type pastDevice struct {
	guid string
	tb   bool
}

// pastIntent is a probe that was about to be tried.
type pastIntent struct {
	intentBody
	seq int64
	at  time.Time
}

// pastHost is a machine with the newest run that was on it.
type pastHost struct {
	last      *pastRun
	body, end []byte // that run's first and last record
}

// sight is the newest record of a device. Name and host are labels: another name
// may have been on the same device before.
type sight struct {
	host, name string
	n, seq     int64
	body       []byte
}

// newer orders sights by run, and within one by record.
func (s *sight) newer(t *sight) bool { return s.n > t.n || s.n == t.n && s.seq > t.seq }

// hostSeen is the part of a host that evidence is tied to.
type hostSeen struct {
	Name    string `json:"name"`
	OS      string `json:"os"`
	OSBuild string `json:"os_build"`
	Kernel  string `json:"kernel"`
}

// build is what makes evidence stale when it is another one.
func (h hostSeen) build() string {
	if h.OSBuild != "" {
		return h.OSBuild
	}
	return h.Kernel
}

// newHistory knows nothing.
func newHistory() *history {
	return &history{
		runs: map[string]*pastRun{}, hosts: map[string]*pastHost{}, sights: map[string]*sight{}, newest: filedRows{},
		closures: map[string][]closure{}, gids: map[string]string{},
	}
}

// read takes in the ledger at h.path. live tells whether a run still goes on. A
// ledger of another provider is a *ledger.ForeignError, and a file of something
// else ErrNotLedger.
func (h *history) read(live func(run string) bool) (ledger.Stats, error) {
	if h.provider != "" && h.provider != Native && isNativeStore(h.path) {
		return ledger.Stats{}, &ledger.ForeignError{Path: h.path, Want: h.provider, Found: Native}
	}
	stats, err := ledger.Scan(h.path, h.add)
	stats.Skipped += h.damaged
	switch {
	case err != nil:
		return stats, err
	case stats.Records == 0 && stats.Newer == 0:
		return stats, ledger.Check(h.path)
	}
	for _, r := range h.runs {
		h.openIntents(r, live)
	}
	return stats, nil
}

// isNativeStore tells whether a path is that of the user's own native ledger.
func isNativeStore(path string) bool {
	home, err := ledger.DefaultPath(Native)
	if err != nil {
		return false
	}
	abs, err := filepath.Abs(path)
	return err == nil && abs == home
}

// add takes in one record. A body that cannot be read is a damaged line: it is
// no evidence.
func (h *history) add(rec *ledger.Record) error {
	r := h.runs[rec.Run]
	if r == nil {
		r = &pastRun{id: rec.Run, n: rec.N}
		h.runs[rec.Run] = r
	}
	switch rec.Kind {
	case ledger.KindRun:
		if h.provider != "" && rec.Provider != h.provider {
			return &ledger.ForeignError{Path: h.path, Want: h.provider, Found: rec.Provider}
		}
		h.addRun(r, rec.Body)
	case ledger.KindDevice:
		h.addDevice(r, rec)
	case ledger.KindIntent:
		r.addIntent(rec)
	case ledger.KindObservation:
		h.addRow(r, rec)
	case ledger.KindEnd:
		h.addEnd(r, rec.Body)
	}
	return nil
}

// addRun takes in a run's first record.
func (h *history) addRun(r *pastRun, body []byte) {
	var b struct {
		Run struct {
			BootID string `json:"boot_id"`
		} `json:"run"`
		Provider struct {
			Library struct {
				ID string `json:"id"`
			} `json:"library"`
		} `json:"provider"`
		Host hostSeen `json:"host"`
	}
	if json.Unmarshal(body, &b) != nil {
		return
	}
	r.boot, r.lib, r.build, r.os, r.host = b.Run.BootID, b.Provider.Library.ID, b.Host.build(), b.Host.OS, b.Host.Name
	host := h.hosts[r.host]
	if host == nil {
		host = &pastHost{}
		h.hosts[r.host] = host
	}
	if host.last == nil || r.n >= host.last.n {
		host.last, host.body, host.end = r, append(host.body[:0], body...), host.end[:0]
	}
}

// addEnd takes in a run's last record. Nothing more comes of it.
func (h *history) addEnd(r *pastRun, body []byte) {
	r.ended = true
	r.devices, r.named, r.intents, r.outcomes = nil, nil, nil, nil
	if host := h.hosts[r.host]; host != nil && host.last == r {
		host.end = append(host.end[:0], body...)
	}
}

// addDevice takes in a device as a run saw it. What the run knows of its devices
// only then can change what they are recognised by: what is filed moves there.
func (h *history) addDevice(r *pastRun, rec *ledger.Record) {
	var d struct {
		Name      string `json:"name"`
		NodeGUID  string `json:"node_guid"`
		Transport string `json:"transport"`
		Ports     []Port `json:"ports"`
	}
	if json.Unmarshal(rec.Body, &d) != nil {
		return
	}
	seen := Device{Name: d.Name, Transport: d.Transport, Ports: d.Ports}
	for name, from := range r.learn(d.Name, pastDevice{guid: d.NodeGUID, tb: seen.thunderbolt(r.os)}) {
		h.refile(r, name, from, r.identity(name))
	}
	id := r.identity(d.Name)
	s := h.sights[id]
	if s == nil {
		s = &sight{}
		h.sights[id] = s
	}
	if r.n >= s.n {
		s.host, s.name, s.n, s.seq, s.body = r.host, d.Name, r.n, rec.Seq, append(s.body[:0], rec.Body...)
	}
	for _, p := range d.Ports {
		if g, _, ok := chooseGID("thunderbolt", p.GIDs, nil); ok {
			h.gids[id] = g.GID
		}
	}
}

// identity is what a device of the run is recognised by.
func (r *pastRun) identity(device string) string {
	guid := r.devices[device].guid
	if len(r.named[guid]) > 1 {
		guid = "" // a GUID that two devices share identifies neither
	}
	return identity(guid, device, r.boot)
}

// identity is what a device is recognised by: its node GUID, or, where that is
// absent, its name within one boot.
func identity(guid, name, boot string) string {
	if hasGUID(guid) {
		return guid
	}
	return name + "@" + boot
}

func hasGUID(guid string) bool { return strings.Trim(guid, "0:") != "" }

// addIntent notes a probe that is about to be tried. What is on record of an
// earlier attempt in the same run is no outcome of this one.
func (r *pastRun) addIntent(rec *ledger.Record) {
	i := pastIntent{seq: rec.Seq, at: rec.At}
	if json.Unmarshal(rec.Body, &i.intentBody) != nil {
		return
	}
	if r.intents == nil {
		r.intents = map[string]pastIntent{}
	}
	key := attemptKey(i.Device, i.Probe)
	r.intents[key] = i
	delete(r.outcomes, key)
}

func attemptKey(device, probe string) string { return device + "\x00" + probe }

// last is the run with the highest number, nil when there is none.
func (h *history) last() *pastRun {
	if len(h.runs) == 0 {
		return nil
	}
	return slices.MaxFunc(slices.Collect(maps.Values(h.runs)), func(a, b *pastRun) int { return int(min(1, max(-1, a.n-b.n))) })
}
