package hostfacts

import "strings"

// parseManual reads `ipconfig getsummary IFACE` (ipconfig(8)): a nested
// dictionary in which the first ConfigMethod under IPv4 says how the address came
// (Manual, DHCP, LinkLocal, ...). ok is false when it has none.
func parseManual(out []byte) (manual, ok bool) {
	inIPv4, indent := false, 0
	lines(out, 1024, func(line string) bool {
		key, value, found := strings.Cut(strings.TrimSpace(line), " : ")
		if !found {
			return true
		}
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case key == "IPv4":
			inIPv4, indent = true, depth
		case inIPv4 && depth <= indent:
			inIPv4 = false
		case inIPv4 && key == "ConfigMethod":
			manual, ok = value == "Manual", true
			return false
		}
		return true
	})
	return manual, ok
}
