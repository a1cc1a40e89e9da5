package probe

import "slices"

// Class is how much a probe does to a machine. Each class includes the risks of
// those before it.
type Class int

// The risk classes.
const (
	ClassRead       Class = iota // queries
	ClassCreate                  // allocates and frees
	ClassTransition              // moves a queue pair to RTR and RTS
	ClassData                    // sends
)

var classNames = []string{"read", "create", "transition", "data"}

// String is the name of a class.
func (c Class) String() string { return classNames[c] }

// Evidence is one id under which something can be observed.
type Evidence struct {
	ID    string
	Class Class
	Host  bool   // about the machine, not about a device
	Ports bool   // its rows name a port
	Extra bool   // not every document has a row for it
	Seen  string // what an observation of it means
}

// EvidenceIDs is the vocabulary, in the order of documents and tables.
var EvidenceIDs = []Evidence{
	{ID: "lib.load", Host: true, Seen: "the verbs library was loaded"},
	{ID: "lib.symbols", Host: true, Seen: "every function that the probes need is in the library"},
	{ID: "dev.enumerate", Host: true, Seen: "the library listed devices; the value is how many"},
	{ID: "dev.open", Seen: "the device was opened; data.ops tells which of the four inline verbs its table has"},
	{ID: "port.query", Ports: true, Seen: "the port's attributes were read"},
	{ID: "port.state", Ports: true, Seen: "the port's state; the value is its name"},
	{ID: "gid.usable", Ports: true, Seen: "the GID table has non-empty entries; the value is how many, data.index the one to choose"},
	{ID: "gid.ipv4_mapped", Ports: true, Seen: "the GID table has an IPv4-mapped entry, which Thunderbolt needs; the value is how many"},
	{ID: "pd.alloc", Class: ClassCreate, Seen: "a protection domain was allocated"},
	{ID: "cq.create", Class: ClassCreate, Seen: "a completion queue was created"},
	{ID: "mr.register", Class: ClassCreate, Seen: "a region of mapped memory was registered for local write and remote read and write"},
	{ID: "mr.register.local", Class: ClassCreate, Extra: true, Seen: "on Thunderbolt: the same with local write only"},
	{ID: "mr.rkey", Class: ClassCreate, Seen: "the rkey of a region asked for remote access; the value is the key"},
	{ID: "qp.uc.create", Class: ClassCreate, Seen: "an unreliable-connected queue pair was created; data.granted has its capacities"},
	{ID: "qp.uc.init", Class: ClassCreate, Ports: true, Seen: "it went from RESET to INIT"},
	{ID: "qp.rc.create", Class: ClassCreate, Seen: "a reliable-connected queue pair was created; data.granted has its capacities"},
	{ID: "qp.rc.init", Class: ClassCreate, Ports: true, Seen: "it went from RESET to INIT"},
	{ID: "qp.ud.create", Class: ClassCreate, Seen: "an unreliable-datagram queue pair was created; data.granted has its capacities"},
	{ID: "qp.ud.init", Class: ClassCreate, Ports: true, Seen: "it went from RESET to INIT"},
	{ID: "qp.uc.rtr", Class: ClassTransition, Ports: true, Seen: "it went from INIT to ready-to-receive"},
	{ID: "qp.uc.rts", Class: ClassTransition, Ports: true, Seen: "it went from RTR to ready-to-send"},
	{ID: "qp.rc.rtr", Class: ClassTransition, Ports: true, Seen: "it went from INIT to ready-to-receive"},
	{ID: "qp.rc.rts", Class: ClassTransition, Ports: true, Seen: "it went from RTR to ready-to-send"},
	{ID: "pingpong.uc", Class: ClassData, Ports: true, Seen: "messages went there and back over UC and every byte was verified by the receiver"},
	{ID: "pingpong.rc", Class: ClassData, Ports: true, Seen: "messages went there and back over RC and every byte was verified by the receiver"},
	{ID: "op.rdma_write", Class: ClassData, Ports: true, Seen: "a remote write changed the target's bytes as asked"},
	{ID: "op.rdma_read", Class: ClassData, Ports: true, Seen: "never tried: the binding does not expose RDMA READ"},
	{ID: "cq.channel", Class: ClassCreate, Seen: "a completion channel was created; only tried when asked"},
	{ID: "cq.notify", Class: ClassCreate, Seen: "a completion notification was requested and, where one was possible, its event arrived"},
	{ID: "teardown", Class: ClassCreate, Seen: "everything that the probe made was released"},
}

// idIndex is the place of an id in EvidenceIDs; unknown ones sort last.
func idIndex(id string) int {
	if i := slices.IndexFunc(EvidenceIDs, func(e Evidence) bool { return e.ID == id }); i >= 0 {
		return i
	}
	return len(EvidenceIDs)
}

// evidence is the entry of an id that the table has.
func evidence(id string) Evidence { return EvidenceIDs[idIndex(id)] }
