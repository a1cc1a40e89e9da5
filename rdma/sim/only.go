package sim

import (
	"bytes"
	"encoding/json"
)

// Text is the text of a profile that Parse has accepted, taken apart by devices: a
// child that works on one of them need not read all the others, which takes time
// in proportion to their number.
type Text struct {
	whole   []byte
	head    []byte // without devices and without the closing brace
	devices map[string]json.RawMessage
}

// Split takes a profile apart. One that cannot be is given to everybody as it is.
func Split(profile []byte) *Text {
	t := &Text{whole: profile}
	var all map[string]json.RawMessage
	var devices []json.RawMessage
	if json.Unmarshal(profile, &all) != nil || json.Unmarshal(all["devices"], &devices) != nil {
		return t
	}
	by := map[string]json.RawMessage{}
	for _, d := range devices {
		var named struct{ Name string }
		if json.Unmarshal(d, &named) != nil || by[named.Name] != nil {
			return t // two of one name are told apart by their order
		}
		by[named.Name] = d
	}
	delete(all, "devices")
	head, err := json.Marshal(all)
	if err != nil {
		return t
	}
	t.head, t.devices = bytes.TrimSuffix(head, []byte("}")), by
	return t
}

// Only is the profile with the named devices alone, all of it when one of them is
// not in it.
func (t *Text) Only(names ...string) []byte {
	if t.devices == nil || len(names) == 0 {
		return t.whole
	}
	b := append(bytes.Clone(t.head), `,"devices":[`...)
	for i, n := range names {
		d, ok := t.devices[n]
		if !ok {
			return t.whole
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, d...)
	}
	return append(b, "]}"...)
}
