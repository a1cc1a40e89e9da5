package hostfacts

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// macOSSources are the outside programs and the long files of macOS.
func macOSSources() []source {
	return []source{
		{"sw_vers", []string{"os_version"}, readOSVersion},
		{"rdma_ctl status", []string{"rdma_ctl"}, readRDMACtl},
		{"system_profiler SPThunderboltDataType", []string{"thunderbolt", "hardware_ports"}, readThunderbolt},
		{"ifconfig -a", []string{"bridges", "interfaces"}, readIfconfig},
		{"ipconfig getsummary", []string{"interfaces.manual"}, readManual},
		{"netstat -rn", []string{"routes"}, readNetstat},
		{"ioclasscount", []string{"ioclasscount"}, readClassCount},
		{"ioreg", []string{"rdma_processes"}, readIOReg},
		{"log show", []string{"kernel_log"}, readLogShow},
		{"DiagnosticReports", []string{"crash_reports"}, readCrashReports},
		{"privacy database", nil, func(context.Context, *System) part {
			p := part{}
			p.miss("local_network_privacy", "TCC.db", "it needs Full Disk Access; a refused connection shows it")
			return p
		}},
	}
}

// readRDMACtl goes by the text: its exit status is reported both as 0 and as not.
func readRDMACtl(ctx context.Context, s *System) (p part) {
	out, err := s.run(ctx, "rdma_ctl", "status")
	state := parseRDMACtl(out)
	switch {
	case state != "":
	case errors.Is(err, fs.ErrNotExist):
		state = "missing"
	case err != nil:
		p.fail("rdma_ctl", "rdma_ctl status", err)
		return p
	default:
		p.miss("rdma_ctl", "rdma_ctl status", "it says neither enabled nor disabled: "+clean(string(out)))
		return p
	}
	p.apply = func(h *Host) { h.RDMACtl = state }
	return p
}

// parseRDMACtl finds the one word that rdma_ctl status prints. Text with both
// words, or with neither, says nothing.
func parseRDMACtl(out []byte) string {
	found := ""
	for _, word := range strings.FieldsFunc(strings.ToLower(clean(string(out))), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if word != "enabled" && word != "disabled" {
			continue
		}
		if found != "" && found != word {
			return ""
		}
		found = word
	}
	return found
}

// readThunderbolt joins two programs: the profiler knows receptacles and peers,
// networksetup which interface belongs to a receptacle.
func readThunderbolt(ctx context.Context, s *System) (p part) {
	var ports map[string]string
	var portErr error
	var both sync.WaitGroup
	both.Go(func() { ports, portErr = hardwarePorts(ctx, s) })
	out, err := s.run(ctx, "system_profiler", "SPThunderboltDataType", "-json")
	both.Wait()
	if portErr != nil {
		p.fail("hardware_ports", "networksetup -listallhardwareports", portErr)
	}
	var tb *Thunderbolt
	if err == nil {
		tb, err = parseProfiler(out)
	}
	if err != nil {
		p.fail("thunderbolt", "system_profiler SPThunderboltDataType", err)
	}
	if tb != nil {
		nameLinks(tb, ports)
		if tb.Generation == 0 {
			tb.Generation = modelGeneration(s.sysctlText("hw.model"))
		}
		if tb.Generation == 0 && len(tb.Links) > 0 {
			p.miss("thunderbolt.generation", "system_profiler SPThunderboltDataType", "no free port shows its ceiling, and the model is not known")
		}
	}
	p.apply = func(h *Host) { h.HardwarePorts, h.Thunderbolt = ports, tb }
	return p
}

func hardwarePorts(ctx context.Context, s *System) (map[string]string, error) {
	out, err := s.run(ctx, "networksetup", "-listallhardwareports")
	if err != nil {
		return nil, err
	}
	return parseHardwarePorts(out)
}

func readIfconfig(ctx context.Context, s *System) (p part) {
	out, err := s.run(ctx, "ifconfig", "-a")
	var c ifconfig
	if err == nil {
		c, err = parseIfconfig(out)
	}
	if err != nil {
		p.fail("bridges", "ifconfig -a", err)
		return p
	}
	p.apply = func(h *Host) {
		h.Bridges = c.bridges
		for name, i := range c.interfaces {
			if h.Interfaces == nil {
				h.Interfaces = map[string]Interface{}
			}
			h.Interfaces[name] = i
		}
	}
	return p
}

// readManual asks how the Thunderbolt interfaces got their addresses, which
// matters only where something resets manual ones.
func readManual(ctx context.Context, s *System) (p part) {
	if there, _ := s.exists(addressManager); !there {
		return p
	}
	ports, err := hardwarePorts(ctx, s)
	if err != nil {
		p.fail("interfaces.manual", "networksetup -listallhardwareports", err)
		return p
	}
	manual := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, dev := range slices.Sorted(maps.Keys(ports)) {
		if receptacle(ports[dev]) == "" {
			continue
		}
		all.Go(func() {
			out, err := s.run(ctx, "ipconfig", "getsummary", dev)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				p.fail("interfaces.manual", "ipconfig getsummary "+dev, err)
			} else if v, ok := parseManual(out); ok {
				manual[dev] = v
			}
		})
	}
	all.Wait()
	p.apply = func(h *Host) {
		for dev, v := range manual {
			if i, ok := h.Interfaces[dev]; ok {
				i.Manual = ptr(v)
				h.Interfaces[dev] = i
			}
		}
	}
	return p
}

func readNetstat(ctx context.Context, s *System) (p part) {
	out, err := s.run(ctx, "netstat", "-rn")
	var routes map[string]string
	if err == nil {
		routes, err = parseNetstat(out)
	}
	if err != nil {
		p.fail("routes", "netstat -rn", err)
		return p
	}
	p.apply = func(h *Host) { h.Routes = routes }
	return p
}
