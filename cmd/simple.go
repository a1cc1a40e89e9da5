package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// Set by the linker: -X rdmaprobe/cmd.version=... -X rdmaprobe/cmd.commit=...
var version, commit string

// tool tells which build this is. A build without stamps has what the Go
// toolchain recorded.
func (a *app) tool() probe.Tool {
	t := probe.Tool{Name: "rdmaprobe", Version: version, Commit: commit, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if t.Version == "" {
			t.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && t.Commit == "" {
				t.Commit = s.Value
			}
		}
	}
	if t.Version == "" {
		t.Version = "(devel)"
	}
	return t
}

// version tells which build this is.
func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Tell which build this is", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.onlyText("version", "text or json"); err != nil {
				return err
			}
			t := a.tool()
			if a.format == "json" {
				return a.object(t)
			}
			_, err := io.WriteString(a.out, versionText(t))
			return err
		},
	}
}

// versionText is a build in a line each of what is known.
func versionText(t probe.Tool) string {
	text := "rdmaprobe " + t.Version + "\n"
	if t.Commit != "" {
		text += "commit " + t.Commit + "\n"
	}
	return text + fmt.Sprintf("%s %s/%s\n", t.Go, runtime.GOOS, runtime.GOARCH)
}

// onlyText refuses the formats of documents where a command prints none.
func (a *app) onlyText(command, prints string) error {
	if slices.Contains([]string{"table", "wide", "json"}, a.format) {
		return nil
	}
	return &probe.UsageError{Text: fmt.Sprintf("-o %s: %s prints %s", a.format, command, prints)}
}

// schema prints the JSON Schema of the document.
func (a *app) schema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the document", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.onlyText("schema", "json"); err != nil {
				return err
			}
			_, err := a.out.Write(report.Schema())
			return err
		},
	}
}

// object prints a command's own JSON object.
func (a *app) object(v any) error {
	if a.redacts() {
		var err error
		if v, err = a.stand().Value(v); err != nil {
			return err
		}
	}
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
