package probe

import (
	"errors"
	"fmt"
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
//
// A TMPDIR that names no folder to write to is replaced by the system's, since every
// child would fail without one.
//
// A set-user-ID or set-group-ID executable is refused: whoever starts it chooses
// the library, its environment and the files.
func Main() {
	if os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() {
		fmt.Fprintln(os.Stderr, "rdmaprobe: refuses to run set-user-ID or set-group-ID: it needs no rights of its own; remove the bit (chmod ug-s)")
		os.Exit(ExitOwn)
	}
	mendTempDir()
	mainCalled.Store(true)
	if len(os.Args) == 2 && os.Args[1] == childArg {
		os.Exit(childMain())
	}
}
