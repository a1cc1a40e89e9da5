//go:build linux || darwin || freebsd

package guard

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// finish closes the run's side of everything and judges. cancelled says that the
// context has ended.
func (r *run) finish(cancelled bool) error {
	c := r.p.page.read()
	r.p.close()
	r.res.InCall, r.res.Verb, r.res.Calls = c.inside(), c.verb, c.calls
	r.res.Stderr, r.res.StderrBytes = r.p.out.text(), r.p.out.total
	r.res.Foreign = r.p.foreign
	r.res.Exit = "still running"
	if r.over() {
		r.res.Exit = exitText(r.p.cmd.ProcessState)
		r.judge(r.p.cmd.ProcessState, cancelled)
	}
	if r.done {
		r.res.Outcome = Completed
		return nil
	}
	if !r.hello && r.res.Outcome == Crashed {
		return fmt.Errorf("child ended before it began: %s: %.300q", r.res.Exit, r.res.Stderr)
	}
	return nil
}

// judge names the end of a process that has ended. Without a done message it
// has crashed, unless a signal of ours ended it. Who ends this process may have sent
// SIGTERM to its children as well, as systemd does: one that cannot catch it yet has
// been ended by the same.
func (r *run) judge(ps *os.ProcessState, cancelled bool) {
	r.res.Outcome = Crashed
	status, ok := ps.Sys().(syscall.WaitStatus)
	if !ok {
		return
	}
	if status.Signaled() {
		theirs := cancelled && status.Signal() == syscall.SIGTERM
		if theirs || r.sent[status.Signal()] {
			r.res.Outcome, r.res.Interrupted = TimedOut, r.res.Interrupted || theirs && len(r.res.Rungs) == 0
			return
		}
		r.res.Signal = signalText(status.Signal())
		if r.res.Killed = status.Signal() == syscall.SIGKILL; r.res.Killed {
			r.res.OutOfMemory = r.p.kills >= 0 && memoryKills() > r.p.kills
		}
	}
	if r.done || status.ExitStatus() != goCrash && !aborted(status) {
		return // whatever its output looks like
	}
	crash, panicked := r.p.out.scan.verdict()
	if crash != "" {
		r.res.Signal = crash
	}
	r.res.Panic = panicked
}

// aborted is how a Go process ends that was told to dump core.
func aborted(s syscall.WaitStatus) bool { return s.Signaled() && s.Signal() == syscall.SIGABRT }

// goCrash is the status by which the Go runtime ends a process, after a panic
// and after a fault in C alike.
const goCrash = 2

// exitText is how the process ended, in words.
func exitText(ps *os.ProcessState) string {
	if ps == nil {
		return "not known"
	}
	return strings.TrimSuffix(ps.String(), " (core dumped)")
}

// signalText is a signal in the form in which the Go runtime announces one.
func signalText(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name + ": " + sig.String()
	}
	return fmt.Sprintf("signal %d", int(sig))
}
