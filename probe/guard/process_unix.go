//go:build linux || darwin || freebsd

package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// process is a running child with this side's ends of its channels. Its
// goroutines end when the channels are closed; the waiter ends with the child.
type process struct {
	cmd      *exec.Cmd
	page     *page
	mark     string        // in the environment of all that it starts
	messages chan Message  // closed at the end of the message channel
	outEnd   chan struct{} // closed at the end of the output
	exited   chan error    // gets one value

	out     output // of the drainer until outEnd is closed
	foreign int64  // of the reader until messages is closed
	kills   int64  // memoryKills at the start

	stdin, stdout, msgs *os.File
	gone                chan struct{} // closed when nobody takes messages any more
	workers             sync.WaitGroup
}

// start runs the child and the goroutines that serve its channels.
func start(s Spec) (*process, error) {
	h := header{Nonce: newNonce(), Soft: s.Soft, Began: uptime(), Lock: s.Lock != nil, Conn: s.Conn != nil}
	if !s.Leave {
		h.Kill = s.Ladder.Term + s.Ladder.Kill
	}
	request, err := encodeRequest(h, s.Request)
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	var fs files
	defer fs.closeTheirs()
	kills := memoryKills()
	mark := newNonce() // another one: the library can read it
	if markVariable != "" {
		s.Env = append(slices.Clone(s.Env), markVariable+"="+mark)
	}
	cmd, ours, err := command(s, &fs)
	s.Lock.lend()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.Lock.back()
		fs.closeOurs()
		return nil, fmt.Errorf("start child: %w", err)
	}
	p := &process{
		mark: mark, kills: kills, cmd: cmd, page: fs.mapped,
		messages: make(chan Message), outEnd: make(chan struct{}), exited: make(chan error, 1),
		stdin: ours.stdin, stdout: ours.stdout, msgs: ours.messages,
		gone: make(chan struct{}),
	}
	p.serve(request, h.Nonce)
	go func() {
		err := cmd.Wait()
		s.Lock.back()
		ours.lifeline.Close() // held to here: the child takes its end for our death
		p.exited <- err
	}()
	return p, nil
}

// command is the child's command line with its channels.
func command(s Spec, fs *files) (*exec.Cmd, ours, error) {
	stdin, stdinOurs := fs.pipeIn()
	stdout, stdoutOurs := fs.pipeOut()
	messages, messagesOurs := fs.pipeOut()
	lifeline, lifelineOurs := fs.pipeIn()
	shared := fs.page()
	if fs.err != nil {
		return nil, ours{}, fs.err
	}
	image, err := imageOf(s.Exe)
	if err != nil {
		return nil, ours{}, err
	}
	cmd := exec.Command(s.Exe, s.Args...)
	cmd.Path = image // its name, as ps shows it, stays
	cmd.Env = childEnv(os.Environ(), s.Env)
	// Plain files: exec starts no goroutines of its own, and Wait waits for the
	// process alone.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stdout
	cmd.ExtraFiles = []*os.File{messages, lifeline, shared} // from descriptor 3 on
	if s.Lock != nil {
		if s.Lock.file.Fd() == ^uintptr(0) {
			return nil, ours{}, errors.New("its lock is not held any more")
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, s.Lock.file)
	}
	if s.Conn != nil {
		for len(cmd.ExtraFiles) < fdConn-fdMessages {
			cmd.ExtraFiles = append(cmd.ExtraFiles, nil) // no lock: its descriptor stays closed
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, s.Conn)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, ours{stdin: stdinOurs, stdout: stdoutOurs, messages: messagesOurs, lifeline: lifelineOurs}, nil
}

// serve starts the goroutines of the channels.
func (p *process) serve(request []byte, nonce string) {
	p.workers.Go(func() {
		_, _ = p.stdin.Write(request) // a child that does not read it sends no hello
		p.stdin.Close()
	})
	p.workers.Go(func() {
		defer close(p.outEnd)
		buf := make([]byte, readSize)
		for {
			n, err := p.stdout.Read(buf)
			p.out.write(buf[:n])
			if err != nil {
				return
			}
		}
	})
	p.workers.Go(func() {
		defer close(p.messages)
		p.foreign = readMessages(p.msgs, nonce, func(m Message) bool {
			select {
			case p.messages <- m:
				return true
			case <-p.gone:
				return false
			}
		})
	})
}

// close ends all goroutines but the waiter. The child may live on.
func (p *process) close() {
	close(p.gone)
	for _, f := range []io.Closer{p.stdin, p.stdout, p.msgs} {
		f.Close()
	}
	p.workers.Wait()
	p.page.close()
}

// signal reaches the child's whole group, and the child where the library has moved
// it to another one.
func (p *process) signal(sig syscall.Signal) {
	pid := p.cmd.Process.Pid
	_ = syscall.Kill(-pid, sig)
	if group, err := syscall.Getpgid(pid); err == nil && group != pid {
		_ = p.cmd.Process.Signal(sig) // which knows whether it was reaped
	}
}

// childEnv adds to env what the guard depends on: how the Go runtime of the
// child announces a crash. A user's GOTRACEBACK=crash would end it by a signal
// and wake the system's crash reporter; under the race detector an exit takes a
// second.
func childEnv(env, added []string) []string {
	env = append(append([]string(nil), env...), added...)
	gorace := "GORACE=atexit_sleep_ms=0"
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "GORACE="); ok {
			gorace = "GORACE=" + strings.TrimSpace(v+" atexit_sleep_ms=0")
		}
	}
	return append(env, "GOTRACEBACK=single", gorace)
}
