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
// does: on macOS only, by one program. The second result says what was not read.
func Holders(ctx context.Context, s *System) ([]Process, []NotRead) {
	if s.OS != MacOS {
		return nil, nil
	}
	h, missing := gather(ctx, s, []source{{"ioreg", []string{"rdma_processes"}, readIOReg}})
	return h.RDMAProcesses, missing
}

func readIOReg(ctx context.Context, s *System) (p part) {
	out, err := s.run(ctx, "ioreg", "-r", "-c", "AppleThunderboltRDMAInterface", "-l", "-w", "0")
	var procs []Process
	if err == nil {
		procs, err = parseIOReg(out)
	}
	if err != nil {
		p.fail("rdma_processes", "ioreg -c AppleThunderboltRDMAInterface", err)
		return p
	}
	p.apply = func(h *Host) { h.RDMAProcesses = procs }
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

// ioregClient is one open user client.
type ioregClient struct {
	device   string
	inactive bool
}

// parseIOReg lists the processes that hold a user client of an RDMA interface,
// sorted by pid, with the devices they hold. A client that is inactive belongs to
// a process that is gone while its objects are not: leaked. No interface at all
// is an empty list: nobody holds one. How many queue pairs a client has is not
// shown there. Source of the shape: ioreg(8) and public captures.
func parseIOReg(out []byte) ([]Process, error) {
	procs := map[int]*Process{}
	var device string
	var deviceDepth int
	var client *ioregClient
	nodes := 0
	lines(out, 8192, func(line string) bool {
		if m := ioregNode().FindStringSubmatch(line); m != nil {
			nodes++
			depth := len(m[1])
			if device != "" && depth <= deviceDepth {
				device = ""
			}
			if m[3] == "AppleThunderboltRDMAInterface" {
				device, deviceDepth = clean(m[2]), depth
			}
			client = nil
			if m[3] == "IORDMAFamilyUC" {
				client = &ioregClient{device, strings.Contains(m[4], " inactive")}
			}
			return true
		}
		if client == nil {
			return true
		}
		if m := ioregCreator().FindStringSubmatch(line); m != nil {
			client.addTo(procs, m[1], m[2])
			client = nil
		}
		return len(procs) < maxProcesses
	})
	if nodes == 0 && len(strings.TrimSpace(clean(string(out)))) > 0 {
		return nil, errors.New("parse ioreg: no entry")
	}
	list := make([]Process, 0, len(procs))
	for _, p := range procs {
		list = append(list, *p)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].PID < list[j].PID })
	return list, nil
}

func (c *ioregClient) addTo(procs map[int]*Process, pid, command string) {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 || n > 1<<31-1 {
		return
	}
	p := procs[n]
	if p == nil {
		p = &Process{PID: n, Command: clean(command)}
		procs[n] = p
	}
	p.Leaked = p.Leaked || c.inactive
	if c.device != "" && !slices.Contains(p.Devices, c.device) {
		p.Devices = append(p.Devices, c.device)
	}
}
