package hostfacts

import (
	"errors"
	"strings"
)

// parseHardwarePorts reads `networksetup -listallhardwareports` (its manual
// page): blocks of "Hardware Port: NAME" and "Device: IFACE". The result is
// interface: name of the port.
func parseHardwarePorts(out []byte) (map[string]string, error) {
	ports := map[string]string{}
	name := ""
	lines(out, 1024, func(line string) bool {
		line = clean(line)
		if v, ok := strings.CutPrefix(line, "Hardware Port:"); ok {
			name = strings.TrimSpace(v)
		} else if v, ok := strings.CutPrefix(line, "Device:"); ok && name != "" {
			if dev := strings.TrimSpace(v); dev != "" {
				ports[dev] = name
			}
			name = ""
		}
		return len(ports) < maxInterfaces
	})
	if len(ports) == 0 {
		return nil, errors.New("parse hardware ports: none is listed")
	}
	return ports, nil
}

// receptacle returns the number in "Thunderbolt 2", the port that a system
// profile calls receptacle 2; "" for another port, as "Thunderbolt Bridge" or the
// "Thunderbolt Ethernet Slot 1" of a dock.
func receptacle(port string) string {
	n, ok := strings.CutPrefix(port, "Thunderbolt ")
	if !ok || n == "" || strings.Trim(n, "0123456789") != "" {
		return ""
	}
	return n
}

// nameLinks puts the interface of its receptacle on each link.
func nameLinks(tb *Thunderbolt, ports map[string]string) {
	of := map[string]string{}
	for dev, port := range ports {
		if n := receptacle(port); n != "" {
			of[n] = dev
		}
	}
	for i := range tb.Links {
		tb.Links[i].Interface = of[tb.Links[i].Port]
	}
}
