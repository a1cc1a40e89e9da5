//go:build !linux

package cmd

import (
	"errors"
	"io/fs"
	"os"
)

// nameless makes a file without a name, which no system but Linux can name later.
func nameless(string, fs.FileMode) *os.File { return nil }

// link gives a file without a name one.
func link(*os.File, string) error { return errors.ErrUnsupported }
