//go:build linux || darwin

package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What does not look at the context ends with a further signal: the first one
// gives the next its usual meaning.
func TestSecondSignalEndsAnything(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &exec.Cmd{Path: exe, Args: []string{"rdmaprobe", "report", pipe}}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once the command reads
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	limit := time.After(time.Minute)
	for {
		_ = c.Process.Signal(os.Interrupt) // fails once it has ended
		select {
		case <-ended:
			if s := c.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGINT {
				t.Errorf("it ended with %v", c.ProcessState)
			}
			return
		case <-limit:
			_ = c.Process.Kill()
			<-ended
			t.Fatal("it does not end")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
