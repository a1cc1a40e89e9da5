package report

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strings"

	"rdmaprobe/probe"
)

// rows finds the observations of a document.
type rows struct {
	byRef map[probe.ObservationRef]*probe.Observation
	last  map[rowKey]*probe.Observation
}

type rowKey struct {
	host, device string
	port         int
	id           string
}

// newRows indexes a document. Of several rows for one key the last one stands:
// a document is in the order of runs and sequence numbers. One of another OS
// build than the host's stands only where there is no other.
func newRows(d *probe.Document) rows {
	r := rows{map[probe.ObservationRef]*probe.Observation{}, map[rowKey]*probe.Observation{}}
	for i := range d.Observations {
		o := &d.Observations[i]
		r.byRef[probe.ObservationRef{Run: o.Run, Seq: o.Seq, ID: o.ID}] = o
		r.keep(rowKey{o.Host, o.Device, o.Port, o.ID}, o)
		any := rowKey{o.Host, o.Device, 0, o.ID}
		if old := r.last[any]; o.Port != 0 && (old == nil || o.Reason != probe.NotTried) {
			r.keep(any, o)
		}
	}
	return r
}

func (r rows) keep(k rowKey, o *probe.Observation) {
	if old := r.last[k]; old == nil || o.OSBuild == "" || old.OSBuild != "" {
		r.last[k] = o
	}
}

// of is the row of an id on a device, on any port when port is 0.
func (r rows) of(dev *probe.Device, port int, id string) *probe.Observation {
	return r.last[rowKey{dev.Host, dev.Name, port, id}]
}

// chosen is the index of the GID that would be used on a port, as gid.usable
// saw it.
func (r rows) chosen(dev *probe.Device, port int) (int, bool) {
	o := r.of(dev, port, "gid.usable")
	if o == nil {
		return 0, false
	}
	return whole64(o.Data["index"])
}

// whole64 reads a whole number from a value that came out of Go or out of JSON.
func whole64(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int32:
		return int(n), true
	case int64:
		return int(n), true
	case uint32:
		return int(n), true
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int(n), true
		}
	case json.Number:
		i, err := n.Int64()
		return int(i), err == nil
	}
	return 0, false
}

// scalar writes a value, or a composite as JSON.
func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool, int, int32, int64, uint, uint32, uint64, json.Number:
		return fmt.Sprint(v)
	}
	b, err := encode(v, "")
	if err != nil {
		return "?"
	}
	return strings.TrimSuffix(string(b), "\n")
}

// pairs writes a map as k=v, sorted.
func pairs(m map[string]any) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		keys[i] = k + "=" + scalar(m[k])
	}
	return strings.Join(keys, " ")
}

// errnoText writes an error number with its name and whose number it is.
func errnoText(e *probe.Errno) string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Number, e.Name, e.Platform))
}

// returnText writes what a call returned.
func returnText(r *probe.Return) string {
	if r == nil {
		return ""
	}
	b, err := r.MarshalJSON()
	if err != nil {
		return "?"
	}
	return strings.Trim(string(b), `"`)
}

// groups are the hosts of a document in order of appearance; a document of one
// host has the one group "".
func groups(d *probe.Document) []string {
	seen := map[string]bool{}
	var hosts []string
	add := func(h string) {
		if !seen[h] {
			seen[h] = true
			hosts = append(hosts, h)
		}
	}
	for _, h := range d.Hosts {
		add(h.Name)
	}
	for _, dev := range d.Devices {
		add(dev.Host)
	}
	if len(hosts) == 0 {
		add("")
	}
	return hosts
}
