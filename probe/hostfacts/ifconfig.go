package hostfacts

import (
	"errors"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
)

// ifconfig is what `ifconfig -a` of macOS says (ifconfig(8)).
type ifconfig struct {
	bridges    map[string][]string
	interfaces map[string]Interface
}

// parseIfconfig reads blocks that start at the margin with "NAME: flags=" and
// have indented lines: inet, inet6, member, media, status. Every bridge that is
// there has an entry, without members an empty one.
func parseIfconfig(out []byte) (ifconfig, error) {
	c := ifconfig{bridges: map[string][]string{}, interfaces: map[string]Interface{}}
	var name string
	var up *bool
	var prefixes []netip.Prefix
	flush := func() {
		if name != "" && len(c.interfaces) < maxInterfaces {
			i := newInterface(prefixes)
			i.Up = up
			c.interfaces[name] = i
		}
		name, up, prefixes = "", nil, nil
	}
	lines(out, 1024, func(line string) bool {
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			flush()
			var flagged bool
			name, flagged = ifconfigHead(line)
			up = ptr(flagged)
			if strings.HasPrefix(name, "bridge") {
				c.bridges[name] = []string{}
			}
			return len(c.bridges) <= maxInterfaces
		}
		f := strings.Fields(line)
		if name == "" || len(f) < 2 {
			return true
		}
		switch f[0] {
		case "inet", "inet6":
			if p, ok := ifconfigPrefix(f); ok && len(prefixes) < maxInterfaces {
				prefixes = append(prefixes, p)
			}
		case "member:":
			if _, ok := c.bridges[name]; ok && len(c.bridges[name]) < maxInterfaces {
				c.bridges[name] = append(c.bridges[name], clean(f[1]))
			}
		case "media:", "status:":
			up = mediaUp(up, f[0], f[1])
		}
		return true
	})
	flush()
	if len(c.interfaces) == 0 {
		return ifconfig{}, errors.New("parse ifconfig: no interface")
	}
	return c, nil
}

// mediaUp is whether an interface that has media is up. Its flags alone do not tell,
// IFF_RUNNING least of all; the line "status:" does, which comes after "media:" where
// the status is valid. An interface without media (lo0, utun) has neither line.
func mediaUp(flagged *bool, line, word string) *bool {
	switch {
	case flagged != nil && !*flagged:
		return flagged
	case line == "status:" && word == "active":
		return ptr(true)
	case line == "status:" && word == "inactive":
		return ptr(false)
	}
	return nil
}

// ifconfigHead reads "en3: flags=8863<UP,BROADCAST,RUNNING> mtu 1500".
func ifconfigHead(line string) (name string, up bool) {
	name, rest, ok := strings.Cut(line, ": flags=")
	name = clean(name)
	if !ok || name == "" || len(name) > 64 || strings.ContainsAny(name, " /") {
		return "", false
	}
	_, flags, _ := strings.Cut(rest, "<")
	flags, _, _ = strings.Cut(flags, ">")
	for _, f := range strings.Split(flags, ",") {
		if f == "UP" {
			return name, true
		}
	}
	return name, false
}

// ifconfigPrefix reads "inet 192.0.2.1 netmask 0xffffff00" and "inet6
// fe80::1%en3 prefixlen 64". Without a usable mask the address stands alone.
func ifconfigPrefix(f []string) (netip.Prefix, bool) {
	text, _, _ := strings.Cut(f[1], "%")
	a, err := netip.ParseAddr(text)
	if err != nil || a.Is4() != (f[0] == "inet") {
		return netip.Prefix{}, false
	}
	length := a.BitLen()
	for i := 2; i+1 < len(f); i++ {
		switch f[i] {
		case "prefixlen":
			if n, err := strconv.Atoi(f[i+1]); err == nil && n >= 0 && n <= length {
				length = n
			}
		case "netmask":
			if m, err := strconv.ParseUint(f[i+1], 0, 32); err == nil {
				if ones := bits.LeadingZeros32(^uint32(m)); uint32(m)<<ones == 0 {
					length = ones
				}
			}
		}
	}
	return netip.PrefixFrom(a, length), true
}
