package probe

import (
	"errors"
	"os"
	"sync/atomic"
)

// childArg as the only argument makes a process a probe's child.
const childArg = "__rdmaprobe-child"

// ErrNoMain reports that the running program never called Main, so that its
// executable cannot act as a child. Nothing was started: such a child would run
// the program itself.
var ErrNoMain = errors.New("probe.Main was not called at the start of main: this program cannot run its probes in a child")

var mainCalled atomic.Bool

// Main makes this executable able to be a probe's child. Call it first in main:
// in a child it runs the probe and does not return, otherwise it returns at
// once.
func Main() {
	mainCalled.Store(true)
	if len(os.Args) == 2 && os.Args[1] == childArg {
		os.Exit(childMain())
	}
}
