package cmd

import (
	"io"

	"github.com/spf13/cobra"
)

// Root is the command tree, for the program that generates its documentation.
func Root() *cobra.Command {
	a := &app{streams: streams{out: io.Discard, err: io.Discard, terminal: func(io.Writer) (int, bool) { return 0, false }, env: func(string) string { return "" }}}
	return a.root()
}
