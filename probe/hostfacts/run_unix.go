//go:build linux || darwin

package hostfacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// runGrace is how long a killed program is waited for. After it the child is
	// left behind: one that sits in the kernel cannot be reaped.
	runGrace  = 200 * time.Millisecond
	maxOutput = 4 << 20
	maxStderr = 4 << 10
)

// programDirs are searched instead of PATH, which belongs to whoever calls us.
var programDirs = []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"}

// program runs one of the system's programs in its own process group, in the C
// locale, without standard input. It returns within RunLimit plus runGrace. A
// program that is not installed is an error that wraps fs.ErrNotExist.
func program(ctx context.Context, environ []string, name string, args ...string) ([]byte, error) {
	path, err := findProgram(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, RunLimit)
	defer cancel()
	stdout := &capture{limit: maxOutput, overflow: cancel}
	stderr := &capture{limit: maxStderr}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = environ
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = runGrace / 2

	// Start and Wait can both block for ever, in exec from a dead file system and
	// in wait4 for a child that ignores SIGKILL. Neither may take us along.
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(runGrace):
			err = errLeft
		}
	}
	return stdout.bytes(), runError(ctx, name, err, stdout, stderr)
}

// runError puts the reason a person needs into one line.
func runError(ctx context.Context, name string, err error, stdout, stderr *capture) error {
	switch {
	case stdout.full():
		return fmt.Errorf("run %s: more than %d bytes of output", name, maxOutput)
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("run %s: %w: %w", name, context.DeadlineExceeded, err)
	}
	if text := clean(string(stderr.bytes())); text != "" {
		return fmt.Errorf("run %s: %w: %s", name, err, text)
	}
	return fmt.Errorf("run %s: %w", name, err)
}

func findProgram(name string) (string, error) {
	if name != filepath.Base(name) {
		return "", fmt.Errorf("run %s: not a program of the system", name)
	}
	for _, dir := range programDirs {
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("run %s: %w", name, fs.ErrNotExist)
}

// programEnv is the environment of outside programs: the C locale, so that
// their text can be parsed, and nothing that changes how they are loaded.
func programEnv(env []string) []string {
	out := []string{"LC_ALL=C", "LANG=C", "PATH=" + strings.Join(programDirs, ":")}
	for _, kv := range env {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "HOME", "USER", "LOGNAME", "TMPDIR":
			out = append(out, kv)
		}
	}
	return out
}

// capture keeps the first limit bytes and calls overflow at the first one beyond.
type capture struct {
	mu       sync.Mutex
	buf      bytes.Buffer
	limit    int
	over     bool
	overflow func()
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keep := min(len(p), c.limit-c.buf.Len())
	c.buf.Write(p[:keep])
	if keep < len(p) && !c.over {
		c.over = true
		if c.overflow != nil {
			c.overflow()
		}
	}
	return len(p), nil
}

func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.buf.Bytes())
}

func (c *capture) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}
