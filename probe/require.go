package probe

import (
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// capabilityIDs are the evidence ids behind each capability key.
var capabilityIDs = []struct {
	key string
	ids []string
}{
	{"queue_pair_uc", []string{"qp.uc.create"}},
	{"send_recv", []string{"pingpong.uc", "pingpong.rc"}},
	{"queue_pair_rc", []string{"qp.rc.create"}},
	{"rdma_read", []string{"op.rdma_read"}},
	{"rdma_write", []string{"op.rdma_write"}},
	{"remote_key", []string{"mr.rkey"}},
}

// CapabilityKeys are the names of the capabilities, as in the document.
func CapabilityKeys() []string {
	keys := make([]string, len(capabilityIDs))
	for i, c := range capabilityIDs {
		keys[i] = c.key
	}
	return keys
}

// requiredIDs are the evidence ids of which one must be confirmed.
func requiredIDs(what string) ([]string, bool) {
	for _, c := range capabilityIDs {
		if c.key == what {
			return c.ids, true
		}
	}
	if idIndex(what) < len(EvidenceIDs) {
		return []string{what}, true
	}
	return nil, false
}

// requireFlags adds the probes, and the consent, that --require needs: the one
// that does least, with the queue pair that it connects.
func (o *Options) requireFlags() error {
	for _, what := range o.Require {
		ids, ok := requiredIDs(what)
		if !ok {
			return usagef("--require %s: want a capability (%s) or an evidence id", what, strings.Join(CapabilityKeys(), ", "))
		}
		for _, row := range leastProbes(ids) {
			switch option := row.optionOf(); option {
			case "rtr":
				o.AllowRTR = true
			default:
				o.More = append(o.More, option)
			}
			if row.qp == qpRC && len(ids) == 1 {
				o.More = append(o.More, string(qpRC))
			}
		}
	}
	return nil
}

// leastProbes are the probes that see ids, for each type of queue pair the first
// of the table.
func leastProbes(ids []string) []*tableRow {
	var rows []*tableRow
	for _, id := range ids {
		for _, row := range table {
			sees := slices.Contains(row.ids(&request{Thunderbolt: true}), id)
			for _, s := range stages {
				sees = sees || s.id == id && slices.Contains(row.calls, s.call)
			}
			if sees || id == teardownID && row.class == ClassCreate {
				rows = append(rows, row)
				break
			}
		}
	}
	return rows
}

// unmet lists what --require asks and this run did not confirm: with named
// devices each of them must confirm it, else one is enough.
func unmet(require, named []string, d *Document) map[string][]string {
	missing := map[string][]string{}
	for _, what := range require {
		ids, _ := requiredIDs(what)
		confirmed := confirmedOn(d, ids)
		var lacking []string
		met := 0
		for _, dev := range d.Devices {
			if confirmed[dev.Name] {
				met++
			} else {
				lacking = append(lacking, dev.Name)
			}
		}
		switch {
		case slices.ContainsFunc(ids, func(id string) bool { return evidence(id).Host }):
			if !confirmed[""] {
				missing[what] = []string{""}
			}
		case len(named) > 0 && len(lacking) > 0, met == 0:
			missing[what] = lacking
		}
	}
	return missing
}

// oneSided tells whether a row is of messages to one of rdma-core's tools, which says
// nothing of what it received: this end has checked the round trip, and nobody the
// other one.
func oneSided(o *Observation) bool { return dataText(o.Params, "handshake") == remoteStock }

// confirmedOn are the devices, "" for the host, on which this run's rows confirm one
// of ids, with the proof of the end that received where they are about messages.
func confirmedOn(d *Document, ids []string) map[string]bool {
	on := map[string]bool{}
	for i := range d.Observations {
		o := &d.Observations[i]
		if o.Run == d.Run.ID && o.Level == rdma.CapabilityConfirmed && !oneSided(o) && slices.Contains(ids, o.ID) {
			on[o.Device] = true
		}
	}
	return on
}
