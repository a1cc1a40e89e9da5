package cmd

import (
	"github.com/spf13/cobra"
	"rdmaprobe/fixtures"
	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// completeDevices completes -d with the names of devices.
func (a *app) completeDevices(c *cobra.Command) {
	complete(c, "device", func(c *cobra.Command) []string {
		o, err := a.options()
		if err != nil {
			return nil
		}
		var names []string
		for _, n := range probe.Names(c.Context(), o) {
			names = append(names, report.Clean(n))
		}
		return names
	})
}

// completeGlobals completes the flags that all commands have.
func (a *app) completeGlobals(root *cobra.Command) {
	complete(root, "output", func(*cobra.Command) []string { return formatNames() })
	complete(root, "color", func(*cobra.Command) []string { return []string{"auto", "always", "never"} })
	complete(root, "provider", func(*cobra.Command) []string {
		names := []string{"native"}
		for _, p := range fixtures.Profiles() {
			names = append(names, "sim:"+p.Name)
		}
		return names
	})
}

// complete registers the values of a flag. It fails only for a flag that is not
// there, which is a mistake of ours.
func complete(c *cobra.Command, flag string, values func(*cobra.Command) []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return values(c), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err)
	}
}

// strictCompletion makes completion refuse a shell that it does not know: the
// library's own command prints its help and succeeds.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}
