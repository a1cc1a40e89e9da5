package probe

// Exit statuses. This is the one place that knows them and their order.
const (
	ExitOK          = 0   // it ran; a rejected capability is an answer
	ExitFinding     = 1   // an error finding, or what a script asked for was not so: ExitCodes has all of it
	ExitUsage       = 2   // a wrong flag, value, profile or input file
	ExitNothing     = 3   // nothing was probed: no library, no device that may be, or none of the named ones
	ExitContained   = 4   // a child crashed, hung or got stuck and was contained
	ExitOwn         = 5   // rdmaprobe itself failed
	ExitInterrupted = 130 // interrupted; what was observed is kept
)

// ExitCodes describes each status, for help texts and documentation.
var ExitCodes = []struct {
	Code  int
	Means string
}{
	{ExitOK, "it ran; a rejected capability is an answer, and warnings never fail"},
	{ExitFinding, "doctor or probe: a finding of severity error, or a --require that this run did not confirm; devices: a limit that left something out; report: what --fail-on names; selftest: a failed check; profiles import: another answer than the recorded one"},
	{ExitUsage, "usage: a wrong flag or value, an unknown profile, or an input file that cannot be understood"},
	{ExitNothing, "nothing was probed: no library, no listed device, none of the named ones, or the guard refused all (each device is busy, or closed by an earlier event)"},
	{ExitContained, "a child crashed, hung or got stuck and was contained; the document is complete"},
	{ExitOwn, "rdmaprobe itself failed"},
	{ExitInterrupted, "interrupted; what was observed is kept"},
}

// exitState is what decides a run's status.
type exitState struct {
	usage, interrupted, own, contained, nothing, finding bool
}

// statusOrder is their precedence: where several hold, the first of these is told.
var statusOrder = []int{ExitUsage, ExitInterrupted, ExitOwn, ExitContained, ExitNothing, ExitFinding, ExitOK}

// Worst is the status of what ended with both: by precedence 2, 130, 5, 4, 3, 1,
// 0. A status that is none of these comes after all others.
func Worst(a, b int) int {
	for _, c := range statusOrder {
		if a == c || b == c {
			return c
		}
	}
	return a
}

// code is the status of all that holds.
func (s exitState) code() int {
	code := ExitOK
	for _, c := range []struct {
		holds bool
		code  int
	}{
		{s.usage, ExitUsage}, {s.interrupted, ExitInterrupted}, {s.own, ExitOwn}, {s.contained, ExitContained},
		{s.nothing, ExitNothing}, {s.finding, ExitFinding},
	} {
		if c.holds {
			code = Worst(code, c.code)
		}
	}
	return code
}
