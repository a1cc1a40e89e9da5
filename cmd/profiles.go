package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"rdmaprobe/fixtures"
	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma/sim"
)

// profiles lists the simulated machines, shows and checks one, and makes one.
func (a *app) profiles() *cobra.Command {
	c := &cobra.Command{
		Use: "profiles", Short: "List the built-in simulated machines; show, check or import one", Args: cobra.NoArgs,
		Long: "List the simulated machines that --provider sim:NAME plays. They play public\n" +
			"reports through the same code that calls a real library; none is a recording.",
		RunE: func(*cobra.Command, []string) error { return a.listProfiles() },
	}
	c.AddCommand(a.showProfile(), a.checkProfile(), a.importProfile())
	return c
}

func (a *app) listProfiles() error {
	if err := a.onlyText("profiles", "text or json"); err != nil {
		return err
	}
	if a.format == "json" {
		return a.object(map[string]any{"profiles": fixtures.Profiles()})
	}
	for _, p := range fixtures.Profiles() {
		if _, err := fmt.Fprintf(a.out, "%-16s %s\n%-16s source: %s\n", p.Name, p.About, "", p.Source); err != nil {
			return err
		}
	}
	return nil
}

// showProfile prints a profile.
func (a *app) showProfile() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME|FILE", Short: "Print a profile in its canonical form", Args: cobra.ExactArgs(1),
		Long: "Print a profile as JSON in the one form that its contents have. A name with a\n" +
			"slash or ending in .json is a file, any other a built-in profile.",
		Example: "  rdmaprobe profiles show mac-studio\n  rdmaprobe profiles show ./machine.json",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.onlyText("profiles show", "json"); err != nil {
				return err
			}
			data, err := readProfile(args[0])
			if err != nil {
				return err
			}
			return a.writeProfile(args[0], data)
		},
		ValidArgsFunction: completeProfiles,
	}
}

// writeProfile prints a profile's canonical form. With --redact it is still a
// profile; its stand-ins are those of a document.
func (a *app) writeProfile(name string, data []byte) error {
	if a.redacts() {
		var v any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		err := d.Decode(&v)
		if err == nil {
			v, err = a.stand().Value(v)
		}
		if err == nil {
			data, err = json.Marshal(v)
		}
		if err != nil {
			return &probe.UsageError{Text: fmt.Sprintf("profile %s: %v", name, err)}
		}
	}
	out, err := sim.Canonical(data, &hostfacts.Host{})
	if err != nil {
		return &probe.UsageError{Text: fmt.Sprintf("profile %s: %v", name, err)}
	}
	if _, err := a.out.Write(out); err != nil {
		return fmt.Errorf("write the profile: %w", err)
	}
	return nil
}

// completeProfiles offers the built-in names, and files.
func completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, p := range fixtures.Profiles() {
		names = append(names, p.Name)
	}
	return names, cobra.ShellCompDirectiveDefault
}
