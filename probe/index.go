package probe

import "slices"

// index finds the devices and the rows of one machine's document. It is built once:
// a document may have thousands of both.
type index struct {
	devices map[string]*Device        // by name; of several with one name the first
	rows    map[string][]*Observation // by device, "" is the host
	ids     map[rowName][]*Observation
	ports   map[rowPort][]*Observation
}

// rowName is an id on a device, rowPort on one of its ports.
type (
	rowName struct{ device, id string }
	rowPort struct {
		rowName
		port int
	}
)

// newIndex makes the index of a document, with the rows that count.
func newIndex(d *Document, counts func(*Observation) bool) *index {
	x := &index{map[string]*Device{}, map[string][]*Observation{}, map[rowName][]*Observation{}, map[rowPort][]*Observation{}}
	for i := range d.Devices {
		if dev := &d.Devices[i]; x.devices[dev.Name] == nil {
			x.devices[dev.Name] = dev
		}
	}
	for i := range d.Observations {
		o := &d.Observations[i]
		if !counts(o) {
			continue
		}
		name := rowName{o.Device, o.ID}
		at := rowPort{name, o.Port}
		x.rows[o.Device] = append(x.rows[o.Device], o)
		x.ids[name], x.ports[at] = append(x.ids[name], o), append(x.ports[at], o)
	}
	return x
}

// of lists the rows of an id on a device, "" for the host.
func (x *index) of(device, id string) []*Observation {
	return slices.Clone(x.ids[rowName{device, id}])
}

// ofPort lists those of a port: what is about no port counts for each.
func (x *index) ofPort(device, id string, port int) []*Observation {
	name := rowName{device, id}
	if len(x.ports[rowPort{name, 0}]) == 0 {
		return slices.Clone(x.ports[rowPort{name, port}])
	}
	return slices.DeleteFunc(x.of(device, id), func(o *Observation) bool { return o.Port != 0 && o.Port != port })
}

// device is the device of a name, nil when there is none.
func (x *index) device(name string) *Device { return x.devices[name] }

// everyRow counts all rows.
func everyRow(*Observation) bool { return true }
