package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"rdmaprobe/probe/guard"
)

// softLimit is a child's own deadline. Nothing waits for it: a child that has
// been brought where it should be is ended at once.
const softLimit = 30 * time.Second

// ladderFor is what follows when a child is to end. A wait is short where the
// child never does, and long where it costs nothing unless something is wrong: a
// busy machine may take seconds to bury a process.
func ladderFor(task string) guard.Ladder {
	l := guard.Ladder{Term: 500 * time.Millisecond, Kill: 500 * time.Millisecond, GiveUp: 20 * time.Second}
	if task == taskStuck {
		l.GiveUp = 500 * time.Millisecond
	}
	return l
}

// spec is how a child for a task is run.
func spec(exe string, args []string, r Request, conn *os.File) (guard.Spec, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return guard.Spec{}, fmt.Errorf("encode request: %w", err)
	}
	return guard.Spec{Exe: exe, Args: args, Request: b, Soft: softLimit, Ladder: ladderFor(r.Task), Conn: conn}, nil
}

// child runs a child. The error is a skip where there can be none.
func (o *Options) child(ctx context.Context, task string, conn *os.File, on func(guard.Message)) (guard.Result, error) {
	s, err := spec(o.Exe, o.Args, Request{Task: task, Library: o.Library}, conn)
	if err != nil {
		return guard.Result{}, err
	}
	res, err := guard.Run(ctx, s, on)
	switch {
	case errors.Is(err, guard.ErrUnsupported):
		return res, skipf("%v", err)
	case err != nil:
		return res, fmt.Errorf("run a child: %w", err)
	}
	return res, nil
}
