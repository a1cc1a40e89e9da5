package cmd

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"rdmaprobe/probe"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// The test binary is the program too: scripts run it as rdmaprobe, and it runs
// itself as its own children.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"rdmaprobe": func() {
			probe.Main()
			os.Exit(Main())
		},
	})
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
