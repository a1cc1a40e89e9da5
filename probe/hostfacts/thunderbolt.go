package hostfacts

import (
	"strconv"
	"strings"
)

const busThunderbolt = "sys/bus/thunderbolt/devices"

// thunderboltLinux reads /sys/bus/thunderbolt (Documentation/ABI/testing/
// sysfs-bus-thunderbolt): D-0 is a host's router, D-R with a unique_id and
// without generation is another host (XDomain), D-R.N one of its services, whose
// prtcid is the protocol. A machine without the bus has no facts of it. The
// kernel's generation 4 means any USB4, so Thunderbolt 5 too: it says nothing here.
func thunderboltLinux(s *System, h *Host) {
	names, err := s.list(busThunderbolt)
	if err != nil || len(names) == 0 {
		return
	}
	tb := &Thunderbolt{Links: []Link{}}
	for _, name := range names {
		domain, route, ok := strings.Cut(name, "-")
		if _, err := strconv.Atoi(domain); !ok || err != nil || strings.Contains(route, ".") {
			continue
		}
		generation, err := strconv.Atoi(s.text(busThunderbolt, name, "generation"))
		if err == nil {
			if route == "0" && generation > 0 && generation < 4 {
				tb.Generation = max(tb.Generation, generation)
			}
			continue
		}
		if s.text(busThunderbolt, name, "unique_id") != "" && len(tb.Links) < maxLinks {
			tb.Links = append(tb.Links, xdomainLink(s, name, names))
		}
	}
	h.Thunderbolt = tb
}

func xdomainLink(s *System, name string, all []string) Link {
	l := Link{Peer: s.text(busThunderbolt, name, "device_name"), Port: name}
	if l.Peer == "" {
		l.Peer = "unnamed"
	}
	if v, ok := linuxSpeed(s.text(busThunderbolt, name, "rx_speed"), s.text(busThunderbolt, name, "rx_lanes")); ok {
		l.SpeedGbps = ptr(v)
	}
	l.PeerRDMA = ptr(false)
	for _, service := range all {
		if !strings.HasPrefix(service, name+".") {
			continue
		}
		if s.text(busThunderbolt, service, "prtcid") == strconv.Itoa(rdmaService) || s.text(busThunderbolt, service, "key") == "rdma" {
			l.PeerRDMA = ptr(true)
		}
		if nets, err := s.list(busThunderbolt, service, "net"); err == nil && len(nets) > 0 {
			l.Interface = clean(nets[0])
		}
	}
	return l
}

// linuxSpeed multiplies "20.0 Gb/s" of a lane by the lanes that are in use.
func linuxSpeed(speed, lanes string) (float64, bool) {
	value, _, ok := strings.Cut(speed, " Gb/s")
	v, err1 := strconv.ParseFloat(value, 64)
	n, err2 := strconv.Atoi(lanes)
	if !ok || err1 != nil || err2 != nil || !(v > 0 && v < 1000) || n < 1 || n > 16 {
		return 0, false
	}
	return v * float64(n), true
}
