package sim

// Options of New.
type Options struct {
	// OnFault, when it is not nil, is called on the provider's thread before a
	// call blocks for good in a way that the process has to help with: kind is
	// "hang_term" (from now on SIGTERM is to be ignored) or "stuck" (whoever
	// guards the process is to act as if it could not be killed).
	OnFault func(kind string)
}

// Endpoint is a queue pair of the simulated other end, as a side channel would
// describe it.
type Endpoint struct {
	Device    string
	LinkLayer LinkLayer
	LID       uint16
	QPN       uint32
	PSN       uint32 // both its first send and what it expects to receive
	GIDs      []GIDSlot
	ActiveMTU MTU
	Addr      uint64 // the region that remote writes may reach
	Length    uint64 // of the region, bytes
	RKey      uint32 // 0: the region takes no remote write
}
