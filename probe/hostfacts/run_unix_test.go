//go:build linux

package hostfacts

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// run uses programs that every Linux has in /bin.
func TestProgramOutput(t *testing.T) {
	out, err := program(t.Context(), programEnv([]string{"HOME=/h", "LD_PRELOAD=/x.so", "PATH=/evil", "LC_ALL=de_DE"}), "env")
	if err != nil {
		t.Fatal(err)
	}
	text := "\n" + string(out)
	for _, want := range []string{"\nLC_ALL=C\n", "\nHOME=/h\n", "\nPATH=/usr/bin:/bin:/usr/sbin:/sbin\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("environment lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(text, "LD_PRELOAD") || strings.Contains(text, "evil") {
		t.Errorf("environment came through:\n%s", out)
	}
}

func TestProgramErrors(t *testing.T) {
	if _, err := program(t.Context(), nil, "no-such-program-anywhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing program: %v", err)
	}
	for _, name := range []string{"/bin/sh", "../sh", ""} {
		if _, err := program(t.Context(), nil, name, "-c", "true"); err == nil {
			t.Errorf("%q was run", name)
		}
	}
	out, err := program(t.Context(), nil, "sh", "-c", "echo partial; echo 'why\x1b not' >&2; exit 3")
	if string(out) != "partial\n" || err == nil || !strings.Contains(err.Error(), "exit status 3: why not") {
		t.Errorf("failing program: %q, %v", out, err)
	}
	out, err = program(t.Context(), nil, "sh", "-c", "yes")
	if len(out) != maxOutput || err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("endless program: %d bytes, %v", len(out), err)
	}
}

// The whole group dies with the program, and a grandchild that keeps the pipe
// open does not keep us.
func TestProgramDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // by then the shell has begun, on a busy machine too
	defer cancel()
	out, err := program(ctx, nil, "sh", "-c", "trap '' TERM; sleep 600 & echo $!; wait")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("err %v", err)
	}
	pid, convErr := strconv.Atoi(string(bytes.TrimSpace(out)))
	if convErr != nil || pid < 2 {
		t.Fatalf("no pid in %q", out)
	}
	for running(pid) { // ends with the test's own deadline
		time.Sleep(time.Millisecond)
	}
}

// running is false also for a zombie that a lazy init has not reaped.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !bytes.Contains(b, []byte(") Z "))
}

func TestCapture(t *testing.T) {
	calls := 0
	c := &capture{limit: 4, overflow: func() { calls++ }}
	for _, s := range []string{"ab", "cd", "ef", "gh"} {
		if n, err := c.Write([]byte(s)); n != 2 || err != nil {
			t.Errorf("write: %d, %v", n, err)
		}
	}
	if string(c.bytes()) != "abcd" || !c.full() || calls != 1 {
		t.Errorf("%q full %v, %d calls", c.bytes(), c.full(), calls)
	}
}
