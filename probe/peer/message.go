package peer

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Version of the control protocol: a new message or field raises the minor
// number, a changed meaning the major one.
const Version = "1.0"

// Default ports of the two handshakes.
const (
	DefaultPort = 18516
	StockPort   = 18515 // rdma-core's ping-pong tools
)

// Roles of a connection, as its hello tells.
const (
	RoleSession = "session" // the first one: everything else hangs on it
	RolePair    = "pair"    // which port is at the other end of a cable, and is the path open
	RoleTask    = "task"    // the two children that run one probe
)

// Types of message.
const (
	TypeHello    = "hello"
	TypeError    = "error"
	TypePorts    = "ports"
	TypeNonce    = "nonce"
	TypePaired   = "paired"
	TypeSelect   = "select"
	TypeSelected = "selected"
	TypeTask     = "task"
	TypeReady    = "ready"
	TypeEndpoint = "endpoint"
	TypePrepared = "prepared"
	TypeRound    = "round"
	TypeEnd      = "end"
	TypeWritten  = "written"
	TypeResults  = "results"
	TypeDone     = "done"
	TypeBye      = "bye"
)

// Hello is the first message of each end of a connection.
type Hello struct {
	Version string `json:"version"`
	Role    string `json:"role"`
	Token   string `json:"token,omitempty"` // of the session or task that the connection belongs to
	Tool    string `json:"tool"`            // name and version
	OS      string `json:"os,omitempty"`    // macos or linux
	OSBuild string `json:"os_build,omitempty"`
	Host    string `json:"host,omitempty"`
}

// Port is one RDMA port as it announces itself.
type Port struct {
	Device    string   `json:"device"`
	Num       int      `json:"port"`
	LinkLayer string   `json:"link_layer,omitempty"`
	State     string   `json:"state,omitempty"`
	Netdev    string   `json:"netdev,omitempty"`
	MTU       int      `json:"mtu,omitempty"` // active, bytes
	LID       int      `json:"lid,omitempty"`
	GIDIndex  int      `json:"gid_index"` // the entry that it uses; -1: addressed by LID
	GID       string   `json:"gid,omitempty"`
	GIDType   string   `json:"gid_type,omitempty"`
	Addresses []string `json:"addresses,omitempty"` // ADDRESS:PORT where it can be paired, without zone
	Proof     []string `json:"proof,omitempty"`     // the same, for the proof of the path between two GIDs
}

// Ports is the server's list.
type Ports struct {
	Ports  []Port `json:"ports"`
	Writes bool   `json:"writes"` // it lets peers write into its memory
}

// Nonce is a value that the other end returns, which shows that what is sent
// arrives.
type Nonce struct {
	Nonce string `json:"nonce"`
	Echo  string `json:"echo,omitempty"`
}

// Paired is the server's answer on a connection that came in over a port.
type Paired struct {
	Nonce
	Device string `json:"device"`
	Num    int    `json:"port"`
}

// Select names the port that the client wants, and its own.
type Select struct {
	Device string `json:"device"`
	Num    int    `json:"port"`
	Mine   Port   `json:"mine"`
}

// Selected is the server's port as it is now.
type Selected struct {
	Port Port `json:"selected"`
}

// Task is one probe that both ends take part in.
type Task struct {
	Probe      string        `json:"probe"` // pingpong, write or rtr
	Type       string        `json:"type"`  // uc or rc
	Sizes      []int         `json:"sizes"` // bytes
	Iterations int           `json:"iterations"`
	Loss       time.Duration `json:"loss_ns"`
	Timeout    time.Duration `json:"timeout_ns"`
}

// Ready says that the task's connection may be made, with its token.
type Ready struct {
	Token   string        `json:"token"`
	Timeout time.Duration `json:"timeout_ns"`
}

// Endpoint is a queue pair.
type Endpoint struct {
	Device string `json:"device"`
	QPN    uint32 `json:"qpn"`
	PSN    uint32 `json:"psn"`
	LID    int    `json:"lid"`
	GID    string `json:"gid,omitempty"`
	MTU    int    `json:"mtu"` // active, bytes
	Addr   uint64 `json:"addr,string,omitempty"`
	Length int    `json:"length,omitempty"`
	RKey   uint32 `json:"rkey,omitempty"`
}

// Round begins a loop of one size. The answer, ready, says that a receive of that
// size is posted.
type Round struct {
	Size  int    `json:"size"`  // bytes
	Count int    `json:"count"` // messages, with those that are not timed
	First uint64 `json:"first"` // number of the first one
}

// End says that a round's messages have been sent.
type End struct {
	Sent int `json:"sent"` // how many; fewer than announced where the client's deadline came first
}

// Written says that a remote write has completed.
type Written struct {
	Size int    `json:"size"`
	Seq  uint64 `json:"seq"`
}

// Results are what the receiver at the server saw.
type Results struct {
	Received int    `json:"received"`
	Verified int    `json:"verified"`
	Mismatch string `json:"mismatch,omitempty"` // the first wrong message
	Posted   bool   `json:"posted,omitempty"`   // a receive is still outstanding
}

// Done is how a task ended at the server.
type Done struct {
	Outcome string `json:"outcome"` // of its child
	Detail  string `json:"detail,omitempty"`
}

// Failure is an error message. Code is one word that programs may look at.
type Failure struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Codes of a failure.
const (
	CodeVersion  = "version"  // the protocol's major version
	CodeUnknown  = "unknown"  // a message type that is not known
	CodeInvalid  = "invalid"  // a message that cannot be
	CodeRefused  = "refused"  // the peer's address is not allowed
	CodeBusy     = "busy"     // no session, or no device, is free
	CodeConsent  = "consent"  // what is asked for needs a flag at the server
	CodePath     = "path"     // the path between the ports is not proven
	CodeNotReady = "notready" // the port cannot be used as it is
	CodeFailed   = "failed"   // a step at that end went wrong
)

// Bounds on what a message may say.
const (
	maxPorts   = 256
	maxText    = 200
	maxSizes   = 64
	maxSize    = 16 << 20
	maxCount   = 100_000_100 // the largest --iters and its warm-up
	maxTimeout = 25 * time.Hour
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
	case len(t.Sizes) < 1 || len(t.Sizes) > maxSizes:
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
	if e.Sent < 0 || e.Sent > maxCount {
		return invalid("an end after %d messages", e.Sent)
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

// Error is the text.
func (f *Failure) Error() string { return f.Text }

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
