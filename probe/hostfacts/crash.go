package hostfacts

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
)

const (
	maxReports     = 64      // newest reports that are looked into
	maxReportBytes = 2 << 20 // of one report
)

// reportMarks are what a crash or panic report has when the provider was in it:
// its user library, its kernel extension, the verbs library.
var reportMarks = [][]byte{
	[]byte("libthunderboltrdma"), []byte("AppleThunderboltRDMA"), []byte("IORDMAFamily"), []byte("librdma.dylib"),
}

// readCrashReports lists the names of the reports that name the provider. Their
// content stays where it is: it has paths and identifiers of its user.
func readCrashReports(ctx context.Context, s *System) (p part) {
	dirs := []string{"Library/Logs/DiagnosticReports"}
	if home := s.env("HOME"); home != "" {
		dirs = append([]string{strings.TrimPrefix(home, "/") + "/Library/Logs/DiagnosticReports"}, dirs...)
	}
	names, readable := []string{}, false
	for _, dir := range dirs {
		found, err := crashReports(ctx, s, dir)
		switch {
		case err == nil:
			readable = true
		case errors.Is(err, fs.ErrNotExist):
			readable = true // no report was ever written
		default:
			p.missFile("crash_reports", dir, err)
		}
		names = append(names, found...)
	}
	if readable {
		p.apply = func(h *Host) { h.CrashReports = names }
	}
	return p
}

func crashReports(ctx context.Context, s *System, dir string) ([]string, error) {
	all, err := s.list(dir)
	if err != nil {
		return nil, err
	}
	type report struct {
		name string
		at   time.Time
	}
	var reports []report
	for _, name := range all {
		if !strings.HasSuffix(name, ".ips") && !strings.HasSuffix(name, ".panic") && !strings.HasSuffix(name, ".crash") {
			continue
		}
		if st, err := os.Lstat(s.path(dir, name)); err == nil && st.Mode().IsRegular() {
			reports = append(reports, report{name, st.ModTime()})
		}
	}
	sort.SliceStable(reports, func(i, j int) bool { return reports[i].at.After(reports[j].at) })
	var found []string
	for _, r := range reports[:min(len(reports), maxReports)] {
		if ctx.Err() != nil {
			break
		}
		if namesProvider(s.path(dir, r.name)) {
			found = append(found, clean(r.name))
		}
	}
	return found, nil
}

func namesProvider(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxReportBytes))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(reportMarks, func(m []byte) bool { return bytes.Contains(b, m) })
}
