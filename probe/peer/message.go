package peer

import (
	"time"
)

// Version of the control protocol: a new message or field raises the minor
// number, a changed meaning the major one.
const Version = "2.0"

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
	Salt   uint64 `json:"salt,string,omitempty"` // of the messages that it sends; never 0
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

// End says that a round's messages have been sent, and what came back.
type End struct {
	Sent     int    `json:"sent"`                    // how many; fewer than announced where the client's deadline came first
	Received int    `json:"received"`                // answers, with every byte right
	Digest   uint64 `json:"digest,string,omitempty"` // of the answers
}

// Written says that a remote write has completed.
type Written struct {
	Size int    `json:"size"`
	Seq  uint64 `json:"seq"`
}

// Results are what the receiver at the server saw: of a round's messages, or of a
// remote write in its memory. The digest is what only who received them can know.
type Results struct {
	Received int    `json:"received"`
	Verified int    `json:"verified"`
	Mismatch string `json:"mismatch,omitempty"`      // the first wrong message
	Digest   uint64 `json:"digest,string,omitempty"` // of the verified ones
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
	MaxSizes   = 64 // of messages, in one task
	maxSize    = 16 << 20
	maxCount   = 100_000_100 // the largest --iters and its warm-up
	maxTimeout = 25 * time.Hour
)

// Error is the text.
func (f *Failure) Error() string { return f.Text }
