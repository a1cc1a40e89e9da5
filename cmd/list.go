package cmd

import (
	"errors"
	"strings"
)

// list is a flag that may be repeated, and whose a,b is two values. It is pflag's
// StringSlice without the quotes, and so without the package for CSV.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

// Type is what pflag shows as strings in help, and from which cobra takes that the
// flag may be used again.
func (l *list) Type() string { return "stringSlice" }

// Set adds to what was given before. Nothing is what a variable gives that nobody
// has set: see noEmptyFlag.
func (l *list) Set(text string) error {
	if text == "" {
		return errors.New("it is empty")
	}
	*l = append(*l, strings.Split(text, ",")...)
	return nil
}
