package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// endSignals are those that end a run in good order. A hangup is one of them,
// unless whoever started this process had it ignored, as nohup does.
func endSignals() []os.Signal {
	s := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		s = append(s, syscall.SIGHUP)
	}
	return s
}

// errInterrupted is why a read of stdin ended that the user would not wait for.
var errInterrupted = errors.New("interrupted")

// untilDone reads from in until the context is done, also while a read of it
// would go on: a terminal or a pipe that nobody writes to cannot be closed under
// it. The read that is left behind ends with the process.
type untilDone struct {
	ctx  context.Context
	in   io.Reader
	pipe *io.PipeReader // nil until the first read: most commands never read
}

func (u *untilDone) Read(b []byte) (int, error) {
	if u.pipe == nil {
		r, w := io.Pipe()
		u.pipe = r
		go func() {
			_, err := io.Copy(w, u.in)
			w.CloseWithError(err)
		}()
		context.AfterFunc(u.ctx, func() { w.CloseWithError(errInterrupted) })
	}
	return u.pipe.Read(b)
}
