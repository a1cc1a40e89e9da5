package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// message is one of those that govulncheck -format json writes.
type message struct {
	SBOM    *struct{ Modules []json.RawMessage } `json:"SBOM"`
	OSV     *entry                               `json:"osv"`
	Finding *finding                             `json:"finding"`
}

type entry struct {
	ID       string `json:"id"`
	Summary  string `json:"summary"`
	Affected []struct {
		Specific struct {
			Imports []struct {
				Path string   `json:"path"`
				GOOS []string `json:"goos"`
			} `json:"imports"`
		} `json:"ecosystem_specific"`
	} `json:"affected"`
}

type finding struct {
	OSV   string  `json:"osv"`
	Fixed string  `json:"fixed_version"`
	Trace []frame `json:"trace"` // from the vulnerable function to our code
}

type frame struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Package  string `json:"package"`
	Function string `json:"function"`
}

// called are the vulnerabilities whose code is called on the system, each once.
// govulncheck reports those of other systems too.
func called(r io.Reader, system string) ([]string, error) {
	entries := map[string]*entry{}
	var found []string
	looked := false
	for dec := json.NewDecoder(r); ; {
		var m message
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read what govulncheck says: %w", err)
		}
		looked = looked || m.SBOM != nil && len(m.SBOM.Modules) > 1
		if m.OSV != nil {
			entries[m.OSV.ID] = m.OSV
		}
		f := m.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" {
			continue // required or imported, not called
		}
		e := entries[f.OSV]
		if e == nil {
			return nil, fmt.Errorf("govulncheck says nothing of %s", f.OSV)
		}
		if e.affects(f.Trace[0].Package, system) && !slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, f.OSV+" ") }) {
			found = append(found, f.text(e))
		}
	}
	if !looked {
		return nil, errors.New("govulncheck looked at no modules")
	}
	return found, nil
}

// affects tells whether a package has the vulnerability on a system.
func (e *entry) affects(pkg, system string) bool {
	named := false
	for _, a := range e.Affected {
		for _, i := range a.Specific.Imports {
			if i.Path != pkg {
				continue
			}
			if len(i.GOOS) == 0 || slices.Contains(i.GOOS, system) {
				return true
			}
			named = true
		}
	}
	return !named
}

func (f *finding) text(e *entry) string {
	v, last := f.Trace[0], f.Trace[len(f.Trace)-1]
	fixed := "no version is without it"
	if f.Fixed != "" {
		fixed = "use " + f.Fixed + " or newer"
	}
	return fmt.Sprintf("%s %s: %s.%s of %s %s, called from %s.%s; %s", f.OSV, e.Summary, v.Package, v.Function, v.Module, v.Version, last.Package, last.Function, fixed)
}
