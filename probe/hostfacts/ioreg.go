package hostfacts

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// maxProcesses bounds the processes that are listed.
const maxProcesses = 256

// Holders lists the processes that hold RDMA devices, as rdma_processes of Collect
// does: on macOS only, by asking ioreg. The second result says what was not read.
func Holders(ctx context.Context, s *System) ([]Process, []NotRead) {
	if s.OS != MacOS {
		return nil, nil
	}
	h, missing := gather(ctx, s, []source{{"ioreg", []string{"rdma_processes"}, readIOReg}})
	return h.RDMAProcesses, missing
}

// holderClasses are asked for, one after the other, with what hangs below them: the
// devices of Apple's provider; those of every provider, whose classes descend from the
// family's own; and the user clients that processes hold on either. The last finds also
// the holders on a device whose class is another, only without the device's name.
var holderClasses = []string{"AppleThunderboltRDMAInterface", "IORDMAInterface", clientClass}

// clientClass is the user client that IORDMAFamily gives for a device of any provider.
const clientClass = "IORDMAFamilyUC"

func readIOReg(ctx context.Context, s *System) (p part) {
	r := newHolders()
	read := false
	for _, class := range holderClasses {
		out, err := s.run(ctx, "ioreg", "-r", "-c", class, "-l", "-w", "0")
		if err == nil {
			err = r.parse(out)
		}
		if err != nil {
			p.fail("rdma_processes", "ioreg -c "+class, err)
		}
		read = read || err == nil
	}
	if read {
		p.apply = func(h *Host) { h.RDMAProcesses = r.list() }
	}
	return p
}

// ioregNode matches the head of an entry, "+-o rdma_en3  <class C, id 0x1,
// registered, matched, active, busy 0 (1 ms), retain 7>" (ioreg(8)).
var ioregNode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([ |]*)\+-o (.{1,256}?)  <class ([A-Za-z0-9_]{1,128})([^>]{0,512})>?`)
})

// ioregCreator matches the property that names a user client's process.
var ioregCreator = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ |]*"IOUserClientCreator" = "pid ([0-9]{1,10}), ([^"]{0,256})"`)
})

// holders are the processes that hold a user client of an RDMA device, by pid.
type holders struct {
	clients map[string]bool // by entry id: one that two questions find counts once
	procs   map[int]*Process
}

func newHolders() *holders {
	return &holders{clients: map[string]bool{}, procs: map[int]*Process{}}
}

// ioregDevice is an entry of a device and how deep it lies.
type ioregDevice struct {
	depth int
	name  string
}

// isDevice knows a device of Apple's by its class, one of another provider by its
// name: all are called rdma_ and the name of their interface.
func isDevice(name, class string) bool {
	return class == holderClasses[0] || strings.HasPrefix(name, "rdma_")
}

// parse adds what one question found. The device of a client is the one above it.
// A client that is inactive belongs to a process that is gone while its objects are
// not: leaked. No entry at all says that there is none. How many queue pairs a client
// has is not shown there. Source of the shape: ioreg(8) and public captures.
func (r *holders) parse(out []byte) error {
	var device ioregDevice
	client, inactive := false, false
	nodes := 0
	lines(out, 8192, func(line string) bool {
		if m := ioregNode().FindStringSubmatch(line); m != nil {
			nodes++
			depth := len(m[1])
			if depth <= device.depth {
				device = ioregDevice{}
			}
			if isDevice(m[2], m[3]) {
				device = ioregDevice{depth, clean(m[2])}
			}
			client = false
			if id := ioregID(m[4]); m[3] == clientClass && (id == "" || !r.clients[id]) {
				client, inactive = true, strings.Contains(m[4], " inactive")
				r.clients[id] = true
			}
			return true
		}
		if client {
			if m := ioregCreator().FindStringSubmatch(line); m != nil {
				r.add(device.name, inactive, m[1], m[2])
				client = false
			}
		}
		return len(r.procs) < maxProcesses
	})
	if nodes == 0 && len(strings.TrimSpace(clean(string(out)))) > 0 {
		return errors.New("parse ioreg: no entry")
	}
	return nil
}

// ioregID is an entry's number, of ", id 0x100000a03, registered, ...".
func ioregID(attributes string) string {
	_, id, _ := strings.Cut(attributes, "id 0x")
	id, _, _ = strings.Cut(id, ",")
	return id
}

// add notes a client of a process. Without device the process does not say where it
// holds something, whatever else it holds.
func (r *holders) add(device string, inactive bool, pid, command string) {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 || n > 1<<31-1 {
		return
	}
	p := r.procs[n]
	if p == nil {
		p = &Process{PID: n, Command: clean(command), Devices: []string{}}
		r.procs[n] = p
	}
	p.Leaked = p.Leaked || inactive
	switch {
	case device == "":
		p.Devices = nil
	case p.Devices != nil && !slices.Contains(p.Devices, device):
		p.Devices = append(p.Devices, device)
	}
}

// list are the processes, sorted by pid; it is empty where nobody holds anything.
func (r *holders) list() []Process {
	list := make([]Process, 0, len(r.procs))
	for _, p := range r.procs {
		list = append(list, *p)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].PID < list[j].PID })
	return list
}
