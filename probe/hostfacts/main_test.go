package hostfacts

import (
	"fmt"
	"os"
	"testing"

	"rdmaprobe/probe/leaktest"
)

// testsOver is closed when what hangs forever may end.
var testsOver = make(chan struct{})

// No test may leave a goroutine behind, but one that hangs in a source of facts.
func TestMain(m *testing.M) {
	code := m.Run()
	close(testsOver)
	if err := leaktest.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
