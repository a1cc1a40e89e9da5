package report

import (
	"cmp"
	"fmt"

	"rdmaprobe/probe"
)

// verify says how the document compares with the system's own tool.
func (t *printer) verify() {
	for i, l := range verifyLines(t.d) {
		if i == 0 {
			t.section()
		}
		t.prose("", l)
	}
}

// verifyLines are the summary, each difference, and what was not compared.
func verifyLines(d *probe.Document) []string {
	v := d.Verify
	if v == nil {
		return nil
	}
	var lines []string
	if v.Fields > 0 || v.Error == "" {
		lines = append(lines, fmt.Sprintf("verified against %s: %d fields compared, %d differ", Clean(v.Tool), v.Fields, len(v.Differences)))
	}
	for _, x := range v.Differences {
		at := cleanName(x.Device)
		if x.Port != 0 {
			at += fmt.Sprintf(" port %d", x.Port)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s here, %s there", at, Clean(x.Field), orNothing(x.Ours), orNothing(x.Theirs)))
	}
	if n := len(v.NotCompared); n > 0 {
		lines = append(lines, fmt.Sprintf("%d fields of the tool are not in the document: -o json names them", n))
	}
	if v.Error != "" {
		lines = append(lines, "not verified: "+Clean(v.Error))
	}
	return lines
}

// orNothing is a value as a sentence holds it.
func orNothing(s string) string { return cmp.Or(Clean(s), "nothing") }
