package guard

// LeftProcess is a process that a child's library had started, and that was still
// there when the child ended.
type LeftProcess struct {
	PID   int    `json:"pid"`
	Name  string `json:"name,omitempty"` // as the system has it, escaped
	Ended bool   `json:"ended"`          // it was ended
}

// maxLeft is how many of them a result names. All that are found are ended.
const maxLeft = 8

// addLeft names one more, once.
func addLeft(all []LeftProcess, p LeftProcess) []LeftProcess {
	for _, known := range all {
		if known.PID == p.PID {
			return all
		}
	}
	if len(all) == maxLeft {
		return all
	}
	return append(all, p)
}

// lookAgain says of each what has become of it: a signal that was sent ends nobody who
// waits in the kernel, and who could not be sent one may have ended by itself.
func lookAgain(all []LeftProcess) []LeftProcess {
	for i := range all {
		all[i].Ended = !ProcessAlive(all[i].PID)
	}
	return all
}
