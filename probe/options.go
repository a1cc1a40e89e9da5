package probe

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options are what a run is asked to do. The zero value of a field is its
// default; Check tells what cannot be.
type Options struct {
	Tool     Tool
	Command  []string // as typed, for the record
	Provider ProviderOptions
	Store    string // a ledger's path; "" is the provider's own, "none" keeps nothing

	Devices []string // names; none means all
	Port    int      // 0: the first ACTIVE one
	Only    []string // words of the table; replaces the base set
	More    []string // words added to it
	Require []string // capability keys or evidence ids that this run must confirm

	AllowRTR bool // consent to RTR and RTS
	Force    bool // lift what earlier events closed, for this run
	Kill     bool // kill also what on Thunderbolt is left running
	GIDIndex *int // taken as given
	MRSize   int  // bytes; 0: one page of 4096
	Timeout  time.Duration

	Progress func(Progress) // called as the run goes on; may be nil
}

// ProviderOptions say whose functions are called.
type ProviderOptions struct {
	Profile []byte // a simulated machine; nil is this machine
	Name    string // how the profile was asked for: sim:NAME or sim:FILE without the sim:
	Library string // native: path for dlopen, "" is the system's
}

// Progress tells how far a run is.
type Progress struct {
	Device string
	Probe  string
	Done   int
	Total  int
}

// DefaultTimeout is the deadline of one child.
const DefaultTimeout = 5 * time.Second

// maxTimeout keeps a typo from holding a device for days.
const maxTimeout = 24 * time.Hour

// baseWords are always probed; port and GID are the preflight of all others.
var baseWords = []string{"port", "gid", "mr", "uc"}

// UsageError is a wrong option: what is wrong, and what would be right.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

func usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// check completes the options and refuses what cannot be.
func (o *Options) check() error {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MRSize == 0 {
		o.MRSize = pageSize
	}
	switch {
	case o.Timeout < 0 || o.Timeout > maxTimeout:
		return usagef("--timeout %v: want more than 0 and at most %v", o.Timeout, maxTimeout)
	case o.MRSize < 1 || o.MRSize > 1<<30:
		return usagef("--mr-size %d: want 1 byte to 1 GiB", o.MRSize)
	case o.Port < 0 || o.Port > maxPorts:
		return usagef("--port %d: ports are numbered from 1 to at most %d", o.Port, maxPorts)
	case o.GIDIndex != nil && (*o.GIDIndex < 0 || *o.GIDIndex >= maxGIDs):
		return usagef("--gid-index %d: want 0 to %d", *o.GIDIndex, maxGIDs-1)
	}
	for _, w := range slices.Concat(o.Only, o.More) {
		if _, ok := rowOf(w); !ok {
			return usagef("--only %s: no such probe; there are %s", w, strings.Join(Words(), ", "))
		}
	}
	return o.requireFlags()
}

// words is the set of probes to run, in the table's order.
func (o *Options) words() []string {
	set := baseWords
	if o.Only != nil {
		set = slices.Concat(o.Only, []string{"port"})
		if !slices.Equal(o.Only, []string{"port"}) {
			set = append(set, "gid")
		}
	}
	set = slices.Concat(set, o.More)
	var words []string
	for _, r := range table {
		if slices.Contains(set, r.word) {
			words = append(words, r.word)
		}
	}
	return words
}

// gates is the consent that was given, for the record.
func (o *Options) gates() []string {
	var g []string
	for _, f := range []struct {
		given bool
		name  string
	}{
		{slices.Contains(o.words(), "rc"), "rc"}, {o.AllowRTR, "allow_rtr"}, {slices.Contains(o.words(), "pingpong"), "pingpong"},
		{slices.Contains(o.words(), "write"), "write"}, {o.Force, "force"}, {o.Kill, "kill"},
	} {
		if f.given {
			g = append(g, f.name)
		}
	}
	return g
}
