package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// diff compares two files or builds.
func (a *app) diff(f *reportFlags, args []string) error {
	if len(args) != 2 {
		return &probe.UsageError{Text: fmt.Sprintf("--diff takes two files or OS builds, not %d", len(args))}
	}
	if a.rendering().Diff == nil {
		return &probe.UsageError{Text: fmt.Sprintf("-o %s: a diff has %s", a.format, strings.Join(report.DiffFormats(), ", "))}
	}
	var sides [2]*probe.Document
	for i, arg := range args {
		d, err := a.diffSide(f, arg)
		if err != nil {
			return err
		}
		d.OnlyDevices(f.Devices)
		if sides[i], err = a.redacted(d); err != nil {
			return err
		}
	}
	d := report.Compare(a.tool(), a.scrubFile(args[0]), sides[0], a.scrubFile(args[1]), sides[1])
	if d.Regressions > 0 && f.failOn == "regression" {
		d.Exit = probe.ExitFinding
	}
	if err := a.rendering().Diff(a.out, d, a.renderOptions("report")); err != nil {
		return err
	}
	a.exit = d.Exit
	if a.exit != probe.ExitOK {
		return &toldError{}
	}
	return nil
}

// diffSide is one side of a diff: a file, or what the ledger has of an OS build.
func (a *app) diffSide(f *reportFlags, arg string) (*probe.Document, error) {
	build, named := strings.CutPrefix(arg, "build:")
	if !named && (isStdin(arg) || exists(arg)) {
		ro := f.ReportOptions
		ro.Devices = nil
		in, err := a.readInput(arg, ro)
		if err != nil {
			return nil, err
		}
		d := probe.NewDocument(a.tool(), a.command())
		return d, probe.Merge(d, []probe.MergeInput{in}, f.AllBuilds)
	}
	path, err := probe.StorePath(f.Options)
	if err != nil {
		return nil, err
	}
	builds, err := probe.LedgerBuilds(path)
	if err != nil {
		return nil, &probe.UsageError{Text: err.Error()}
	}
	if !slices.Contains(builds, build) {
		what := "neither a file nor an OS build of the ledger"
		if named {
			what = "no OS build of the ledger"
		}
		return nil, &probe.UsageError{Text: fmt.Sprintf("--diff %s: %s, which has: %s", arg, what, orNone(builds))}
	}
	return readBuild(path, build, f)
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// readBuild is what the ledger at path has of one OS build.
func readBuild(path, build string, f *reportFlags) (*probe.Document, error) {
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	ro := f.ReportOptions
	ro.Devices = nil
	return probe.ReadLedger(in, probe.LedgerOptions{ReportOptions: ro, Build: build})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
