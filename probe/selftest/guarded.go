package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma/cfunc"
)

// needsSim is a skip where there is no simulated provider to suffer in.
func needsSim() error {
	if !cfunc.Supported {
		return skipf("simulated providers do not run here")
	}
	return nil
}

// expect compares how a child ended.
func expect(res guard.Result, outcome guard.Outcome, verb string) error {
	if res.Outcome != outcome || res.InCall != (verb != "") || res.Verb != verb && verb != "" {
		return fmt.Errorf("want a child that is %s in %s, got %s", outcome, orNoCall(verb), ending(res))
	}
	return nil
}

func orNoCall(verb string) string {
	if verb == "" {
		return "no call"
	}
	return verb
}

// crash: a fault in C ends the child, not us, and is known for what it was.
func crash(ctx context.Context, o *Options) (string, error) {
	if err := needsSim(); err != nil {
		return "", err
	}
	res, err := o.child(ctx, taskCrash, nil, nil)
	if err != nil {
		return "", err
	}
	if err := expect(res, guard.Crashed, faultVerb); err != nil {
		return "", err
	}
	if !strings.HasPrefix(res.Signal, "SIGSEGV") && !strings.HasPrefix(res.Signal, "SIGBUS") || res.Panic != "" {
		return "", fmt.Errorf("the crash was taken for %q, panic %q", res.Signal, res.Panic)
	}
	return "a read through NULL in C: " + ending(res), nil
}

// hang: a call that never returns and a child that ignores SIGTERM are ended.
func hang(ctx context.Context, o *Options) (string, error) {
	res, err := o.blocked(ctx, taskHang)
	if err != nil {
		return "", err
	}
	if err := expect(res, guard.TimedOut, faultVerb); err != nil {
		return "", err
	}
	if res.Alive {
		return "", errors.New("the child was killed and lives")
	}
	return "a call that never returns: " + strings.Join(res.Rungs, ", "), nil
}

// stuck: a child that nothing kills is given up.
func stuck(ctx context.Context, o *Options) (string, error) {
	res, err := o.blocked(ctx, taskStuck)
	if err != nil {
		return "", err
	}
	if res.Alive { // it only plays
		if p, err := os.FindProcess(res.PID); err == nil {
			_ = p.Kill()
			_ = p.Release()
		}
	}
	if err := expect(res, guard.Stuck, faultVerb); err != nil {
		return "", err
	}
	return "a child that does not die: " + strings.Join(res.Rungs, ", "), nil
}

// blocked runs a child into a call that never returns, and then has it ended
// without waiting for its deadline.
func (o *Options) blocked(ctx context.Context, task string) (guard.Result, error) {
	if err := needsSim(); err != nil {
		return guard.Result{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return o.child(ctx, task, nil, func(m guard.Message) {
		if m.Type == msgFault {
			cancel()
		}
	})
}

// orphanWait is how long the orphan may take to notice. A broken lifeline would
// cost all of it.
const orphanWait = 20 * time.Second

// lifeline: a child whose parent dies knows it, and ends.
func lifeline(ctx context.Context, o *Options) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close()
	res, err := o.child(ctx, taskKeeper, w, nil) // closes w
	if err != nil {
		return "", err
	}
	if want := fmt.Sprintf("exit status %d", keeperExit); res.Outcome != guard.Crashed || res.Exit != want {
		return "", fmt.Errorf("the parent of the orphan was to die with %s, it %s: %s", want, ending(res), res.Stderr)
	}
	if err := r.SetReadDeadline(time.Now().Add(orphanWait)); err != nil {
		return "", fmt.Errorf("set a deadline: %w", err)
	}
	said, err := io.ReadAll(io.LimitReader(r, 1<<10)) // ends with the last process that holds the pipe
	if err != nil {
		return "", fmt.Errorf("an orphan did not end, it said %q: %w", said, err)
	}
	if got := strings.TrimSpace(string(said)); got != guard.ErrOrphaned.Error() {
		return "", fmt.Errorf("an orphan ended because %q, want %q", got, guard.ErrOrphaned)
	}
	return "an orphan noticed its parent's end, and ended", nil
}

// maxKept bounds what of a child's output may be kept: two ends of 4 KiB, in
// which each byte may be escaped.
const maxKept = 64 << 10

// flood: output costs bounded memory, blocks nobody and is no message.
func flood(ctx context.Context, o *Options) (string, error) {
	var ready []string
	res, err := o.child(ctx, taskFlood, nil, func(m guard.Message) {
		var when string
		if m.Type == msgReady && json.Unmarshal(m.Body, &when) == nil {
			ready = append(ready, when)
		}
	})
	if err != nil {
		return "", err
	}
	if err := expect(res, guard.Completed, ""); err != nil {
		return "", err
	}
	switch {
	case strings.Join(ready, " ") != "before after":
		return "", fmt.Errorf("of the messages around it only %q came through", ready)
	case res.StderrBytes != floodOutput:
		return "", fmt.Errorf("%d bytes were written, %d counted", floodOutput, res.StderrBytes)
	case len(res.Stderr) > maxKept || strings.ContainsAny(res.Stderr, "\x1b\a"):
		return "", fmt.Errorf("%d bytes of it were kept, or it was not made harmless", len(res.Stderr))
	case res.Foreign < floodMessages:
		return "", fmt.Errorf("%d bytes among the messages were none, %d were found out", floodMessages, res.Foreign)
	}
	return fmt.Sprintf("%d MiB of output and %d MiB among the messages: %d KiB kept", floodOutput>>20, floodMessages>>20, len(res.Stderr)>>10), nil
}
