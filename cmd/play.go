package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"rdmaprobe/probe"
	"rdmaprobe/probe/replay"
	"rdmaprobe/report"
)

// playLimit bounds a replay: the commands in a recording are a stranger's, and so
// are their timeouts.
const playLimit = 10 * time.Minute

// player runs recorded commands on a simulated machine. A recording that was
// rebuilt from a ledger is compared with what a ledger gives again.
func (a *app) player(commands [][]string, rebuilt bool) (replay.Runner, error) {
	var lines [][]string
	for _, c := range commands {
		line, err := recordedLine(c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return func(ctx context.Context, profile []byte) (*probe.Document, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, playLimit, fmt.Errorf("the replay did not end in %v", playLimit))
		defer cancel()
		dir, gone, err := scratch("rdmaprobe-replay-")
		if err != nil {
			return nil, err
		}
		defer gone()
		file := filepath.Join(dir, "profile.json")
		if err := os.WriteFile(file, profile, 0o600); err != nil {
			return nil, err
		}
		globals := []string{"--provider", "sim:" + file, "--store", filepath.Join(dir, "evidence.jsonl"), "--json"}
		var d *probe.Document
		for _, line := range lines {
			if d, err = playLine(ctx, slices.Concat(globals, line)); err != nil {
				return nil, err
			}
		}
		if rebuilt {
			return playLine(ctx, append(globals, "report"))
		}
		return d, nil
	}, nil
}

// playLine runs one command line and reads its document.
func playLine(ctx context.Context, args []string) (*probe.Document, error) {
	var out bytes.Buffer
	quiet := streams{
		in: strings.NewReader(""), out: &out, err: io.Discard,
		terminal: func(io.Writer) (int, bool) { return 0, false }, env: func(string) string { return "" },
	}
	run(ctx, quiet, args)
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			return nil, cause
		}
		return nil, errInterrupted
	}
	d, err := report.Read(&out)
	if err == nil && d.Error != "" {
		err = errors.New(d.Error)
	}
	if err != nil { // the command is the recording's
		return nil, &replay.CannotError{Where: "run.command", Why: fmt.Sprintf("%s: %v", report.Clean(strings.Join(args, " ")), err)}
	}
	return d, nil
}

// notPlayed are the flags of a recorded command that a replay leaves out: they
// ask the real system, or are about the output.
var notPlayed = []string{"verify", "help"}

// recordedLine is the part of a recorded command line that says what is asked of
// the provider. Everything else in it is dropped, and only commands that ask are
// taken.
func recordedLine(recorded []string) ([]string, error) {
	refuse := func(why string) ([]string, error) {
		return nil, &replay.CannotError{Where: "run.command", Why: fmt.Sprintf("%s: %s", report.Clean(strings.Join(recorded, " ")), why)}
	}
	if len(recorded) == 0 {
		return refuse("it says no command")
	}
	root := (&app{}).root()
	c, rest, err := root.Find(recorded[1:])
	if err != nil {
		return refuse(err.Error())
	}
	name := c.Name()
	switch name {
	case "devices", "probe", "doctor":
	case "report": // --bundle lists the devices, and no other report has a run
		name = "devices"
	default:
		return refuse("only devices, probe and doctor ask a provider")
	}
	if err := c.ParseFlags(rest); err != nil {
		return refuse(err.Error())
	}
	line, asks := []string{name}, commandNamed(root, name).Flags()
	c.Flags().Visit(func(f *pflag.Flag) {
		if root.PersistentFlags().Lookup(f.Name) != nil || asks.Lookup(f.Name) == nil || slices.Contains(notPlayed, f.Name) {
			return
		}
		text := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			text = strings.Join(list.GetSlice(), ",")
		}
		line = append(line, "--"+f.Name+"="+text)
	})
	return line, nil
}

// commandNamed is a command of the tree.
func commandNamed(root *cobra.Command, name string) *cobra.Command {
	c, _, err := root.Find([]string{name})
	if err != nil {
		panic("cmd: no command " + name)
	}
	return c
}
