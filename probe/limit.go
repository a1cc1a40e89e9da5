package probe

import (
	"fmt"
	"slices"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// limit is a bound of this program on what it takes from a provider or a child. One
// that is met is told by the row of what was cut: see row.met, attempt.met and
// limitMet, which makes the note and the finding of it. What is cut in any other way is cut
// in silence, so that a new bound is a row here.
type limit struct {
	name string // as the rows have it
	most int
	what string // what was left out: "of N what" is how much there was
	todo string
}

// codeLimitMet is the finding of a limit that was met.
const codeLimitMet = "limit_met"

// Names of the limits.
const (
	limitDevices  = "devices"
	limitGIDSlots = "gid_slots"
	limitGIDs     = "gids"
	limitRows     = "rows"
	limitMessage  = "message"
)

var limits = []limit{
	{limitDevices, rdma.MaxDevices, "devices of the library's list", "probe on a machine, or in a container, whose library lists fewer"},
	{limitGIDSlots, maxGIDs, "slots of the GID table", "name the entry to use with `--gid-index`: what no slot that was read has may be in another"},
	{limitGIDs, maxKept, "GIDs", "name the entry to use with `--gid-index`: the counts are of all that were read, and the document shows the first"},
	{limitRows, maxRows, "rows of one child", "name the devices that matter with `-d`, some at a time"},
	{limitMessage, guard.MaxMessage, "bytes of what one child had to say at once", "name the devices that matter with `-d`, and report it with `rdmaprobe report --redact`"},
}

// limitOf is the row of a name, with words for one that this version does not know.
func limitOf(name string) limit {
	if i := slices.IndexFunc(limits, func(l limit) bool { return l.name == name }); i >= 0 {
		return limits[i]
	}
	return limit{name: name, what: printable(name), todo: "use the rdmaprobe that wrote the document"}
}

// text says what a limit left out; n is how much there was, 0 where nobody knows.
func (l limit) text(n int64) string {
	there := "more " + l.what
	if n > 0 {
		there = fmt.Sprintf("%d %s", n, l.what)
	}
	return fmt.Sprintf("there were %s, and rdmaprobe takes %d: the rest was left out", there, l.most)
}

// Keys of a row's data that tell of a limit.
const (
	dataLimit      = "limit"
	dataLimitFound = "limit_found"
)

// met tells that a limit cut what the row is about; n is how much there was.
func (r *row) met(name string, n int64) {
	r.set(dataLimit, name)
	if n > 0 {
		r.set(dataLimitFound, n)
	}
}

// meets notes a limit that the parent met with a child's messages.
func (a *attempt) meets(name string) {
	if !slices.Contains(a.met, name) {
		a.met = append(a.met, name)
	}
}

// tellMet puts the limits that the parent met into the child's last rows, one into
// each, so that they are told wherever these rows are. It returns notes of those for
// which there is no row.
func (a *attempt) tellMet() (notes []string) {
	i := len(a.rows) - 1
	for _, name := range a.met {
		for i >= 0 && dataText(a.rows[i].Data, dataLimit) != "" {
			i--
		}
		if i < 0 {
			notes = append(notes, "not complete: "+limitOf(name).text(0))
			continue
		}
		if a.rows[i].Data == nil {
			a.rows[i].Data = map[string]any{}
		}
		a.rows[i].Data[dataLimit] = name
	}
	return notes
}

// limitNote is the note of a row that tells of a limit, "" for any other.
func limitNote(o *Observation) string {
	name := dataText(o.Data, dataLimit)
	if name == "" {
		return ""
	}
	n, _ := dataInt(o.Data, dataLimitFound)
	where := ""
	if o.Device != "" {
		where = " of " + printable(o.Device)
		if o.Port > 0 {
			where = fmt.Sprintf(" of port %d of %s", o.Port, printable(o.Device))
		}
	}
	return "not complete" + where + ": " + limitOf(name).text(n)
}

// limitMet finds the rows that tell of a limit.
func limitMet(v *findingView) []findingHit {
	var hits []findingHit
	for i := range v.d.Observations {
		o := &v.d.Observations[i]
		name := dataText(o.Data, dataLimit)
		if name == "" || o.OSBuild != "" {
			continue
		}
		n, _ := dataInt(o.Data, dataLimitFound)
		l := limitOf(name)
		h := findingHit{scope: o.Device, message: l.text(n), remedy: l.todo, seen: keysOf(o)}
		if o.Port > 0 {
			h.ports = []int{o.Port}
		}
		hits = append(hits, h)
	}
	return hits
}
