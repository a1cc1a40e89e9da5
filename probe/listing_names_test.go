//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/rdma"
)

// Devices that cannot be told apart are left out, and so are nameless ones.
func TestNamed(t *testing.T) {
	for _, tt := range []struct {
		in   []string
		want []string
		left leftOut
	}{
		{nil, nil, leftOut{}},
		{[]string{"a", "b"}, []string{"a", "b"}, leftOut{}},
		{[]string{"a", "a", "", "b", "a"}, []string{"a", "b"}, leftOut{1, 2, []string{"a"}}},
		{[]string{"", ""}, nil, leftOut{nameless: 2}},
		{[]string{"a\xff", "a\x1b[2J"}, []string{"a\ufffd", "a\x1b[2J"}, leftOut{}},
	} {
		devices, left := named(listOf(tt.in))
		var got []string
		for _, d := range devices {
			got = append(got, d.Name)
		}
		if !slices.Equal(got, tt.want) || !reflect.DeepEqual(left, tt.left) {
			t.Errorf("%q: %q, %+v", tt.in, got, left)
		}
	}
}

func TestListingNotes(t *testing.T) {
	for _, tt := range []struct {
		data map[string]any
		want []string
	}{
		{nil, nil},
		{map[string]any{"ignored": 1, "nameless": 1}, []string{"left out: 1 listed device without a name; a probe finds its device by name"}},
		{map[string]any{"ignored": 3, "nameless": 1, "same_name": []string{"a", "b"}}, []string{
			"left out: 1 listed device without a name; a probe finds its device by name",
			"left out: 2 listed devices with the name of another: a, b",
		}},
		{map[string]any{"claimed": 0, "read": 3}, []string{"the library does not count its devices, and its list has 3: the list was believed"}},
		{map[string]any{"claimed": 9000, "read": rdma.MaxDevices}, nil},
		{map[string]any{"claimed": -1, "read": 3}, []string{"the library counts -1 devices, but its list ends after 3: the list was believed"}},
	} {
		if got := listingNotes(tt.data); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %q", tt.data, got)
		}
	}
}

// A library that counts other than it lists is told of, in the row and in a note.
func TestListMiscounted(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.rules(1, "ibv_get_device_list", object{"set": object{"num_devices": 1000}})
	d := m.devices(nil)
	for _, o := range d.Observations {
		if o.ID != "dev.enumerate" {
			continue
		}
		if claimed, _ := dataInt(o.Data, "claimed"); claimed != 1000 || len(d.Devices) != 2 {
			t.Errorf("%v, %d devices", o.Data, len(d.Devices))
		}
	}
	if !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.HasPrefix(n, "the library counts 1000 devices") }) {
		t.Errorf("notes %q", d.Notes)
	}
}
