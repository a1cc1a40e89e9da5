package probe

import (
	"context"
	"fmt"
	"os"

	"rdmaprobe/probe/selftest"
)

// SelfTestOptions say what a self-test looks at.
type SelfTestOptions struct {
	Library string // for dlopen; "" is the system's
	Header  bool   // compile struct layouts and constants against the system's infiniband/verbs.h
	Dir     string // an empty folder for the checks; "" makes one, and removes it
}

// SelfTest checks that this build works on this machine. It touches no device
// and keeps nothing. The error is rdmaprobe's own failure; a check that failed
// is in the report.
func SelfTest(ctx context.Context, o SelfTestOptions) (*selftest.Report, error) {
	if !mainCalled.Load() {
		return nil, ErrNoMain
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this executable: %w", err)
	}
	dir := o.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "rdmaprobe-selftest-"); err != nil {
			return nil, fmt.Errorf("make a directory for the checks: %w", err)
		}
		defer os.RemoveAll(dir)
	}
	return selftest.Run(ctx, selftest.Options{
		Exe: exe, Args: []string{childArg}, Library: o.Library, Header: o.Header, Dir: dir,
	}), nil
}
