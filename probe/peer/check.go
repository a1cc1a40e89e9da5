package peer

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// Check refuses what no honest peer says.
func (h Hello) Check() error {
	if err := compatible(h.Version); err != nil {
		return err
	}
	switch h.Role {
	case RoleSession, RolePair, RoleTask:
	default:
		return invalid("role %.20q", h.Role)
	}
	if len(h.Token) > 64 {
		return invalid("a token of %d bytes", len(h.Token))
	}
	return texts(h.Tool, h.OS, h.OSBuild, h.Host)
}

// compatible refuses another major version.
func compatible(version string) error {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	if err != nil || n < 1 || len(version) > 20 {
		return invalid("protocol version %.20q", version)
	}
	own, _, _ := strings.Cut(Version, ".")
	if major != own {
		return &Failure{CodeVersion, fmt.Sprintf("this rdmaprobe speaks version %s of the control protocol, the other end %s: use the same release at both ends", Version, version)}
	}
	return nil
}

// Check refuses what no honest peer says.
func (p Port) Check() error {
	switch {
	case p.Num < 1 || p.Num > 255:
		return invalid("port %d", p.Num)
	case p.GIDIndex < -1 || p.GIDIndex > 1<<16:
		return invalid("GID index %d", p.GIDIndex)
	case len(p.Addresses) > 16 || len(p.Proof) > 16:
		return invalid("%d addresses of one port", len(p.Addresses)+len(p.Proof))
	}
	for _, a := range append(append([]string{}, p.Addresses...), p.Proof...) {
		if ap, err := netip.ParseAddrPort(a); err != nil || ap.Addr().Zone() != "" {
			return invalid("address %.60q", a)
		}
	}
	if err := link(p.LID, p.GID, p.MTU); err != nil {
		return err
	}
	return texts(p.Device, p.LinkLayer, p.State, p.Netdev, p.GIDType)
}

// link checks what an address vector is made of.
func link(lid int, gid string, mtu int) error {
	if gid != "" {
		if a, err := netip.ParseAddr(gid); err != nil || a.Zone() != "" || !a.Is6() {
			return invalid("GID %.60q", gid)
		}
	}
	switch {
	case lid < 0 || lid > 0xffff:
		return invalid("LID %d", lid)
	case mtu != 0 && mtu != 256 && mtu != 512 && mtu != 1024 && mtu != 2048 && mtu != 4096:
		return invalid("MTU %d", mtu)
	}
	return nil
}

// Check refuses what no honest peer says.
func (p Ports) Check() error {
	if len(p.Ports) > maxPorts {
		return invalid("%d ports", len(p.Ports))
	}
	for _, q := range p.Ports {
		if err := q.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses what no honest peer says.
func (n Nonce) Check() error {
	if len(n.Nonce) > 64 || len(n.Echo) > 64 {
		return invalid("a nonce of %d bytes", max(len(n.Nonce), len(n.Echo)))
	}
	return nil
}

// Check refuses what no honest peer says.
func (p Paired) Check() error {
	if err := texts(p.Device); err != nil {
		return err
	}
	return p.Nonce.Check()
}

// Check refuses what no honest peer says.
func (s Select) Check() error {
	if err := texts(s.Device); err != nil {
		return err
	}
	return s.Mine.Check()
}

// Check refuses what no honest peer says.
func (s Selected) Check() error { return s.Port.Check() }

// Check refuses what no honest peer says.
func (t Task) Check() error {
	switch t.Probe {
	case "pingpong", "write", "rtr":
	default:
		return invalid("probe %.20q", t.Probe)
	}
	switch {
	case t.Type != "uc" && t.Type != "rc":
		return invalid("queue pair type %.20q", t.Type)
	case len(t.Sizes) < 1 || len(t.Sizes) > MaxSizes:
		return invalid("%d sizes", len(t.Sizes))
	case t.Iterations < 1 || t.Iterations > maxCount:
		return invalid("%d iterations", t.Iterations)
	case t.Timeout <= 0 || t.Timeout > maxTimeout || t.Loss <= 0 || t.Loss > t.Timeout:
		return invalid("times of %d and %d ns", t.Timeout, t.Loss)
	}
	for _, n := range t.Sizes {
		if n < 1 || n > maxSize {
			return invalid("messages of %d bytes", n)
		}
	}
	return nil
}

// Check refuses what no honest peer says.
func (r Ready) Check() error {
	if len(r.Token) > 64 || r.Timeout < 0 || r.Timeout > maxTimeout {
		return invalid("token or timeout")
	}
	return nil
}

// Check refuses what no honest peer says.
func (e Endpoint) Check() error {
	switch {
	case e.QPN > 0xffffff || e.PSN > 0xffffff:
		return invalid("queue pair number %#x, packet number %#x", e.QPN, e.PSN)
	case e.MTU == 0:
		return invalid("an endpoint without MTU")
	case e.Length < 0 || e.Length > 2*maxSize:
		return invalid("a target of %d bytes", e.Length)
	}
	if err := link(e.LID, e.GID, e.MTU); err != nil {
		return err
	}
	return texts(e.Device)
}

// Check refuses what no honest peer says.
func (r Round) Check() error {
	if r.Size < 1 || r.Size > maxSize || r.Count < 1 || r.Count > maxCount {
		return invalid("a round of %d messages of %d bytes", r.Count, r.Size)
	}
	return nil
}

// Check refuses what no honest peer says.
func (e End) Check() error {
	if e.Sent < 0 || e.Sent > maxCount || e.Received < 0 || e.Received > e.Sent {
		return invalid("an end after %d messages and %d answers", e.Sent, e.Received)
	}
	return nil
}

// Check refuses what no honest peer says.
func (w Written) Check() error {
	if w.Size < 1 || w.Size > maxSize {
		return invalid("a write of %d bytes", w.Size)
	}
	return nil
}

// Check refuses what no honest peer says.
func (r Results) Check() error {
	if r.Received < 0 || r.Verified < 0 || r.Verified > r.Received || r.Received > maxCount {
		return invalid("results of %d and %d messages", r.Received, r.Verified)
	}
	return texts(r.Mismatch)
}

// Check refuses what no honest peer says.
func (d Done) Check() error { return texts(d.Outcome, d.Detail) }

func invalid(format string, args ...any) error {
	return &Failure{CodeInvalid, "the other end sent " + fmt.Sprintf(format, args...)}
}

// texts refuses names that are too long or hold what must not reach a terminal.
func texts(all ...string) error {
	for _, s := range all {
		if len(s) > maxText {
			return invalid("a text of %d bytes", len(s))
		}
		if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			return invalid("a text with a character that cannot be printed: %.40q", s)
		}
	}
	return nil
}
