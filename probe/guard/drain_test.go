//go:build linux || darwin || freebsd

package guard

import (
	"os"
	"testing"
	"time"
)

// What a child said before its end is waited for as long as it is still in a
// pipe: on a busy machine it is this process that is late, and a child that
// completed must not be taken for one that crashed. What others hold open without
// a word is not waited for.
func TestDrain(t *testing.T) {
	var fs files
	msgs, msgsOurs := fs.pipeOut()
	stdout, stdoutOurs := fs.pipeOut()
	if fs.err != nil {
		t.Fatal(fs.err)
	}
	defer fs.closeOurs()
	defer fs.closeTheirs()
	r := &run{p: &process{msgs: msgsOurs, stdout: stdoutOurs}, timer: time.NewTimer(time.Hour), ended: time.Now()}
	for _, pipe := range []struct{ theirs, ours *os.File }{{msgs, msgsOurs}, {stdout, stdoutOurs}} {
		if _, err := pipe.theirs.WriteString("last words"); err != nil {
			t.Fatal(err)
		}
		if r.drain(); r.rung != onDrain {
			t.Errorf("rung %d with words in a pipe", r.rung)
		}
		if _, err := pipe.ours.Read(make([]byte, 64)); err != nil {
			t.Fatal(err)
		}
	}
	if r.drain(); r.rung != onDrained {
		t.Errorf("rung %d with nothing in the pipes", r.rung)
	}
	if _, err := msgsOurs.Read(make([]byte, 1)); err == nil {
		t.Error("the reader was not told to end")
	}

	_, _ = msgs.WriteString("and on and on")
	r.ended = time.Now().Add(-2 * drainLimit)
	if r.drain(); r.rung != onDrained {
		t.Errorf("rung %d long after the end", r.rung)
	}
}
