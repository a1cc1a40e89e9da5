package selftest

import (
	"errors"
	"fmt"
	"runtime"
)

// Result is how a check ended.
type Result string

// The results.
const (
	OK      Result = "ok"
	Failed  Result = "failed"
	Skipped Result = "skipped" // it cannot be made here; the detail says why
)

// Check is one check and how it ended.
type Check struct {
	Name   string `json:"name"` // dotted: call.errno
	Result Result `json:"result"`
	Detail string `json:"detail"` // what was seen, or why it failed or was skipped; partly foreign text
}

// Report is all checks, in the order of their table.
type Report struct {
	OS      string  `json:"os"`
	Arch    string  `json:"arch"`
	Checks  []Check `json:"checks"`
	OK      int     `json:"ok"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	Proven  string  `json:"proven"` // in one line: what was, and what only a device can prove
}

// newReport counts and concludes.
func newReport(checks []Check) *Report {
	r := &Report{OS: runtime.GOOS, Arch: runtime.GOARCH, Checks: checks, Proven: conclude(checks)}
	for _, c := range checks {
		switch c.Result {
		case OK:
			r.OK++
		case Skipped:
			r.Skipped++
		default:
			r.Failed++
		}
	}
	return r
}

// skip is the error of a check that cannot be made here.
type skip struct{ why string }

func (s *skip) Error() string { return s.why }

func skipf(format string, args ...any) error { return &skip{fmt.Sprintf(format, args...)} }

// checkOf turns what a check function said into its line.
func checkOf(name, detail string, err error) Check {
	var s *skip
	switch {
	case errors.As(err, &s):
		return Check{name, Skipped, s.why}
	case err != nil:
		return Check{name, Failed, err.Error()}
	}
	return Check{name, OK, detail}
}
