package cmd

import (
	"slices"
	"strings"

	"rdmaprobe/probe"
)

// deviceNames is the value of -d: a list in which an empty name is refused, for no
// names at all mean every device: an unset variable in a script must not widen what
// is tried.
type deviceNames []string

// String is the flag's text.
func (d *deviceNames) String() string { return (*list)(d).String() }

// Type names the kind of value in help.
func (d *deviceNames) Type() string { return "strings" }

// Set adds names.
func (d *deviceNames) Set(text string) error {
	if slices.ContainsFunc(strings.Split(text, ","), func(n string) bool { return strings.TrimSpace(n) == "" }) {
		return &probe.UsageError{Text: "-d: an empty device name"}
	}
	return (*list)(d).Set(text)
}
