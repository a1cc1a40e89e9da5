package selftest

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/leaktest"
)

// Arguments that make the test binary a child: one that does its task, or one
// that does not.
const (
	asChild   = "__child"
	asLiar    = "__liar"    // says at once that all is done
	asQuitter = "__quitter" // ends without a word
	asHalf    = "__half"    // makes one check and dies
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		if play, ok := children[os.Args[1]]; ok {
			os.Exit(play())
		}
	}
	code := m.Run()
	if code == 0 {
		if err := leaktest.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// children are what the test binary plays, by argument.
var children = map[string]func() int{
	asChild: func() int {
		return entered(func(c *guard.Child) error {
			var r Request
			if err := json.Unmarshal(c.Request(), &r); err != nil {
				return err
			}
			if err := Child(c, r); err != nil {
				return err
			}
			return c.Done(nil)
		})
	},
	asLiar:    func() int { return entered(func(c *guard.Child) error { return c.Done(nil) }) },
	asQuitter: func() int { return entered(func(*guard.Child) error { return nil }) },
	asHalf: func() int {
		return entered(func(c *guard.Child) error {
			for _, check := range []Check{{"call.errno", OK, "seen"}, {"call.nonsense", OK, ""}} {
				if err := c.Send(msgCheck, check); err != nil {
					return err
				}
			}
			return fmt.Errorf("and no more")
		})
	},
}

// entered is a child of the guard's.
func entered(f func(*guard.Child) error) int {
	c, err := guard.Enter()
	if err == nil {
		err = f(c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// options are those of a test.
func options(t *testing.T, child string) Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Exe: exe, Args: []string{child}, Dir: t.TempDir()}
}
