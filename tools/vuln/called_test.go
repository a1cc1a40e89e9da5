package main

import (
	"strings"
	"testing"
)

// A vulnerability counts where its code is called and there is: not where it is
// only required, and not on another system.
func TestCalled(t *testing.T) {
	const sbom = `{"SBOM":{"modules":[{"path":"rdmaprobe"},{"path":"example.com/m"}]}}`
	osv := func(goos string) string {
		return `{"osv":{"id":"GO-1","summary":"it breaks","affected":[{"ecosystem_specific":{"imports":[{"path":"example.com/m/p","goos":[` + goos + `]}]}}]}}`
	}
	find := func(function string) string {
		return `{"finding":{"osv":"GO-1","fixed_version":"v1.2.4","trace":[{"module":"example.com/m","version":"v1.2.3","package":"example.com/m/p","function":"` + function +
			`"},{"module":"rdmaprobe","package":"rdmaprobe/cmd","function":"Main"}]}}`
	}
	for name, c := range map[string]struct {
		in   string
		want int // -1: an error
	}{
		"called":            {sbom + osv("") + find("F"), 1},
		"called twice":      {sbom + osv("") + find("F") + find("G"), 1},
		"here and there":    {sbom + osv(`"windows","linux"`) + find("F"), 1},
		"on another":        {sbom + osv(`"windows"`) + find("F"), 0},
		"only required":     {sbom + osv("") + find(""), 0},
		"none":              {sbom, 0},
		"nothing looked at": {osv(""), -1},
		"unknown entry":     {sbom + find("F"), -1},
		"no JSON":           {"govulncheck: no", -1},
	} {
		found, err := called(strings.NewReader(c.in), "linux")
		if (err != nil) != (c.want < 0) || err == nil && len(found) != c.want {
			t.Errorf("%s: %q, %v", name, found, err)
		}
	}
	found, _ := called(strings.NewReader(sbom+osv("")+find("F")), "linux")
	if len(found) != 1 || !strings.Contains(found[0], "use v1.2.4") || !strings.Contains(found[0], "rdmaprobe/cmd.Main") {
		t.Errorf("%q", found)
	}
}
