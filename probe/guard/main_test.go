package guard

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"rdmaprobe/probe/leaktest"
)

// helperEnv names the helper that a re-executed test binary plays.
const helperEnv = "RDMAPROBE_GUARD_HELPER"

// helpers are the programs that the test binary impersonates.
var helpers = map[string]func(){}

// used notes which of them the tests started.
var used sync.Map

func TestMain(m *testing.M) {
	if name := os.Getenv(helperEnv); name != "" {
		helper, ok := helpers[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "no helper %q\n", name)
			os.Exit(1)
		}
		helper()
		os.Exit(0)
	}
	flag.Parse()
	code := m.Run()
	if code == 0 {
		code = checkAfter()
	}
	os.Exit(code)
}

// checkAfter fails a whole run that left goroutines or did not need a helper.
func checkAfter() int {
	if err := leaktest.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" ||
		flag.Lookup("test.list").Value.String() != "" {
		return 0
	}
	var idle []string
	for name := range helpers {
		if _, ok := used.Load(name); !ok {
			idle = append(idle, name)
		}
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		fmt.Fprintf(os.Stderr, "helpers that no test starts: %v\n", idle)
		return 1
	}
	return 0
}
