//go:build !(linux || darwin || freebsd)

package guard

import (
	"context"
	"os"
	"path/filepath"
)

// NativeLockDir is a name only: LockDevice works nowhere on this system.
func NativeLockDir() string { return filepath.Join(os.TempDir(), "rdmaprobe-locks") }

// LockDevice returns ErrUnsupported on this system.
func LockDevice(context.Context, string, string, bool) (*Lock, error) { return nil, ErrUnsupported }

// ProcessAlive is false: no child of ours runs on this system.
func ProcessAlive(int) bool { return false }

func unlock(*os.File) {}
