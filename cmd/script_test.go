package cmd

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
	"rdmaprobe/probe"
	"rdmaprobe/probe/leaktest"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// The test binary is the program too: scripts run it as rdmaprobe, and it runs
// itself as its own children.
func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){
		"rdmaprobe": func() {
			probe.Main()
			os.Exit(Main())
		},
	})
}

// testsOver is closed when what hangs forever may end.
var testsOver = make(chan struct{})

// leakless are tests that may leave no goroutine behind.
type leakless struct{ *testing.M }

func (l leakless) Run() int {
	code := l.M.Run()
	close(testsOver)
	if code == 0 {
		// Whoever waits for a child that was left behind ends with that child.
		waiting := goleak.IgnoreAnyFunction("rdmaprobe/probe/guard.start.func1")
		if err := leaktest.Find(waiting); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Cmds:          reportCommands,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("NO_COLOR", "")
			return nil
		},
	})
}
