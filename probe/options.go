package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rdmaprobe/probe/peer"
)

// Options are what a run is asked to do. The zero value of a field is its
// default. What cannot be is a *UsageError of the call that they are given to.
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

	Types      []string      // uc, rc: what transition and data probes connect; none: every type that is confirmed
	AllowRTR   bool          // consent to RTR and RTS
	Peer       string        // HOST[:PORT] of the other end
	Handshake  string        // how the other end is spoken to: "" or rdmaprobe, or ibv (rdma-core's ping-pong tools)
	PeerDevice string        // the other end: another device of this machine
	Sizes      []int         // of messages, bytes; none: 64
	Iterations int           // messages of a ping-pong; 0: 100
	Force      bool          // lift what earlier events closed, for this run
	Kill       bool          // kill also what on Thunderbolt is left running
	GIDIndex   *int          // taken as given
	MRSize     int           // bytes; 0: one page of 4096
	Timeout    time.Duration // of each child; 0: DefaultTimeout
	Verify     bool          // ListDevices: compare with the system's own ibv_devinfo

	Progress      func(Progress)    // called as the run goes on; may be nil
	OnObservation func(Observation) // called with every row that is kept, as it is observed, one call at a time; may be nil

	server bool // set by Serve
	lends  bool // set by Serve: peers may write into this end's memory
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

// UsageError is a wrong option: what is wrong, and what would be right.
type UsageError struct{ Text string }

// Error is the text, which names the input and the remedy.
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
	case o.Verify && o.Provider.Profile != nil:
		return usagef("--verify asks this system's own %s, which knows nothing of a simulated provider: drop one", verifyTool[0])
	case o.Timeout < 0 || o.Timeout > maxTimeout:
		return usagef("--timeout %v: want more than 0 and at most %v", o.Timeout, maxTimeout)
	case o.MRSize < 1 || o.MRSize > 1<<30:
		return usagef("--mr-size %d: want 1 byte to 1 GiB", o.MRSize)
	case o.Port < 0 || o.Port > maxPorts:
		return usagef("--port %d: ports are numbered from 1 to at most %d", o.Port, maxPorts)
	case o.GIDIndex != nil && (*o.GIDIndex < 0 || *o.GIDIndex > maxSGIDIndex):
		return usagef("--gid-index %d: want 0 to %d", *o.GIDIndex, maxSGIDIndex)
	}
	for _, w := range o.Only {
		if !slices.Contains(Words(), w) {
			return usagef("--only %s: no such probe; there are %s", w, strings.Join(Words(), ", "))
		}
	}
	if err := o.checkData(); err != nil {
		return err
	}
	return o.requireFlags()
}

// Bounds on a ping-pong.
const (
	maxMessage    = 16 << 20 // 4095 frames of 4096 bytes are Apple's limit (TN3205)
	maxIterations = 100_000_000
	defaultSize   = 64
	defaultIters  = 100
)

func (o *Options) checkData() error {
	if err := o.checkPeer(); err != nil {
		return err
	}
	if len(o.Sizes) == 0 {
		o.Sizes = []int{defaultSize}
	}
	if o.Iterations == 0 {
		o.Iterations = defaultIters
	}
	for _, n := range o.Sizes {
		if n < 1 || n > maxMessage {
			return usagef("--size %d: want 1 byte to 16 MiB", n)
		}
	}
	if len(o.Sizes) > peer.MaxSizes {
		return usagef("--size: %d sizes are named, and a run takes at most %d", len(o.Sizes), peer.MaxSizes)
	}
	if o.Iterations < 1 || o.Iterations > maxIterations {
		return usagef("--iters %d: want 1 to %d", o.Iterations, maxIterations)
	}
	return nil
}

// maxSGIDIndex is the last slot that a queue pair can be given: sgid_index of
// struct ibv_global_route is one byte (infiniband/verbs.h).
const maxSGIDIndex = 255

// checkPeer refuses another end that cannot be, and fills in what rdma-core's
// tools take for granted.
func (o *Options) checkPeer() error {
	if o.Peer != "" && o.PeerDevice != "" {
		return usagef("--peer and --peer-device name two other ends: drop one")
	}
	if o.Peer != "" {
		if _, _, err := peer.SplitTarget(o.Peer, peer.DefaultPort); err != nil {
			return usagef("--peer %v", err)
		}
	}
	switch {
	case !slices.Contains([]string{"", remoteOwn, remoteStock}, o.Handshake):
		return usagef("--handshake %s: want %s or %s", o.Handshake, remoteOwn, remoteStock)
	case o.Handshake != "" && o.Peer == "" && !o.server:
		return usagef("--handshake %s: say with --peer HOST who is at the other end", o.Handshake)
	case o.Handshake != remoteStock:
		return nil
	}
	switch {
	case len(o.Types) != 1:
		return usagef("--handshake ibv: say which tool is at the other end, with --uc for ibv_uc_pingpong or --rc for ibv_rc_pingpong")
	case len(o.Sizes) > 1:
		return usagef("--handshake ibv: rdma-core's tools send messages of one size")
	case len(o.Sizes) == 0:
		o.Sizes = []int{peer.StockSize}
	}
	o.Iterations = cmp.Or(o.Iterations, peer.StockIters)
	return nil
}

// words is the set of probes to run, in the table's order. A transition or data
// probe connects a type of queue pair whose creation is probed before it; which of
// them run is seen on the way.
func (o *Options) words() []string {
	set := o.set()
	connects := slices.ContainsFunc(table, func(r *tableRow) bool { return r.qp != "" && slices.Contains(set, r.optionOf()) })
	if connects {
		set = slices.Concat(set, o.Types)
		if !slices.Contains(set, string(qpUC)) && !slices.Contains(set, string(qpRC)) {
			set = append(set, string(qpUC))
		}
	}
	var words []string
	for _, r := range table {
		if slices.Contains(set, r.optionOf()) && (r.qp == "" || slices.Contains(set, string(r.qp))) {
			words = append(words, r.word)
		}
	}
	return words
}

// set is what was asked for, in words of --only. Class read is the preflight of
// all else.
func (o *Options) set() []string {
	set := slices.Concat(wordsWhere(func(r *tableRow) bool { return r.when.has(always) }), o.More)
	if o.Only != nil {
		set = slices.Concat(o.Only, o.More, []string{"port"})
		if slices.ContainsFunc(set, func(w string) bool { return w != "port" }) {
			set = append(set, "gid")
		}
	}
	if o.AllowRTR && !slices.Contains(set, "pingpong") {
		set = append(set, "rtr") // a ping-pong passes RTR anyway, and each attempt is one too many on Thunderbolt
	}
	return set
}

// asks tells whether a word of --only was asked for.
func (o *Options) asks(option string) bool {
	return slices.Contains(o.Only, option) || slices.Contains(o.More, option)
}

// gates is the consent that was given, for the record.
func (o *Options) gates() []string {
	var g []string
	for _, r := range table {
		w := r.optionOf()
		if r.when.has(consent) && !slices.Contains(g, w) && (o.asks(w) || w == taskWrite && o.lends) {
			g = append(g, w)
		}
	}
	for _, f := range []struct {
		given bool
		name  string
	}{{o.AllowRTR, "allow_rtr"}, {o.Force, "force"}, {o.Kill, "kill"}} {
		if f.given {
			g = append(g, f.name)
		}
	}
	return g
}
