package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmaprobe/probe"
)

// Compare lists where a replay differs from what it replays. That a newer program
// knows of more that could be tried, and was not, is no difference.
func Compare(want, got *probe.Document) ([]Difference, error) {
	want, err := plain(want)
	if err != nil {
		return nil, err
	}
	if got, err = plain(got); err != nil {
		return nil, err
	}
	has := rowsOf(want)
	again := rowsOf(got)
	for path, o := range again {
		if has[path] == nil && !tried(o) {
			delete(again, path)
		}
	}
	var c comparing
	c.value("", tree(want, has), tree(got, again))
	return c.found, nil
}

// rowsOf are the observations by their paths; of several at one the later ones are
// numbered.
func rowsOf(d *probe.Document) map[string]*probe.Observation {
	rows := map[string]*probe.Observation{}
	for i := range d.Observations {
		base := strings.TrimPrefix(rowPath(&d.Observations[i]), "observations")
		path := base
		for n := 2; rows[path] != nil; n++ {
			path = fmt.Sprintf("%s#%d", base, n)
		}
		rows[path] = &d.Observations[i]
	}
	return rows
}

// tree is what of a document is compared, under names that stay the same.
func tree(d *probe.Document, observations map[string]*probe.Observation) map[string]any {
	lib := d.Provider.Library
	devices, rows := map[string]any{}, map[string]any{}
	for _, dev := range d.Devices {
		devices["["+dev.Name+"]"] = deviceTree(dev)
	}
	for path, o := range observations {
		rows[path] = rowTree(o)
	}
	return map[string]any{
		"library":      map[string]any{"loaded": lib.Loaded, "error": loaderText(lib), "id": lib.ID, "symbols": jsonTree(lib.Symbols)},
		"host":         jsonTree(d.Host),
		"devices":      devices,
		"observations": rows,
	}
}

func deviceTree(d probe.Device) any {
	d.Capabilities = nil // they follow from the rows, and from other runs
	ports := map[string]any{}
	for _, q := range d.Ports {
		q.GIDs = slices.Clone(q.GIDs)
		for i := range q.GIDs {
			q.GIDs[i].Netdev = "" // a simulated table names none
		}
		ports[fmt.Sprintf("[%d]", q.Num)] = jsonTree(q)
	}
	d.Ports = nil
	t, _ := jsonTree(d).(map[string]any)
	t["ports"] = ports
	return t
}

// unrepeatable are the members of parameters and data that no second run has
// again, and those that only a native run has.
var unrepeatable = []string{"sq_psn", "qp_num", "mode", "path_proof", "late", "rate_bits_per_s", "above_link_speed"}

func rowTree(o *probe.Observation) any {
	t := map[string]any{"level": string(o.Level), "reason": string(o.Reason)}
	if !tried(o) {
		return t
	}
	t["call"], t["failure_class"], t["value"] = o.Call, string(o.FailureClass), o.Value
	t["return"], t["errno"] = jsonTree(o.Return), jsonTree(o.Errno)
	t["params"], t["data"] = repeatable(o, o.Params), repeatable(o, o.Data)
	if o.Child != nil {
		t["child"] = map[string]any{"outcome": string(o.Child.Outcome)}
	}
	return t
}

// repeatable is an object without what is not compared.
func repeatable(o *probe.Observation, m map[string]any) any {
	out := map[string]any{}
	for k, x := range m {
		data := o.Data["phase"] == "data" // polls are counted as well
		if slices.Contains(unrepeatable, k) || strings.HasSuffix(k, "_ns") || k == "calls" && data {
			continue
		}
		if inner, ok := x.(map[string]any); ok {
			x = repeatable(o, inner)
		}
		out[k] = x
	}
	return out
}

// jsonTree is a value as its JSON decodes.
func jsonTree(v any) any {
	data, err := json.Marshal(v)
	var out any
	if err != nil || json.Unmarshal(data, &out) != nil {
		return fmt.Sprintf("not JSON: %v", err)
	}
	return out
}

type comparing struct{ found []Difference }

// value compares two trees, objects by their members and lists by their places.
func (c *comparing) value(path string, want, got any) {
	a, isA := want.(map[string]any)
	b, isB := got.(map[string]any)
	if isA && isB {
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			c.value(join(path, k), a[k], b[k])
		}
		return
	}
	x, isX := want.([]any)
	y, isY := got.([]any)
	if isX && isY && len(x) == len(y) {
		for i := range x {
			c.value(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])
		}
		return
	}
	if w, g := shown(want), shown(got); w != g {
		c.found = append(c.found, Difference{path, brief(w), brief(g)})
	}
}

func join(path, key string) string {
	if path == "" || strings.HasPrefix(key, "[") {
		return path + key
	}
	return path + "." + key
}

// shown is a value as a difference tells of it. An empty one is as good as none.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case string:
		if v == "" {
			return "absent"
		}
	case map[string]any:
		if len(v) == 0 {
			return "absent"
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// brief bounds a value in a message.
func brief(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
