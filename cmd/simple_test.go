package cmd

import (
	"strings"
	"testing"

	"rdmaprobe/probe"
)

// A build without a commit says nothing of one.
func TestVersionText(t *testing.T) {
	for commit, want := range map[string]int{"": 2, "0123abcd": 3} {
		text := versionText(probe.Tool{Version: "v1.2.3", Commit: commit, Go: "go1.26"})
		if n := strings.Count(text, "\n"); n != want || strings.Contains(text, "commit ") != (commit != "") {
			t.Errorf("with the commit %q:\n%s", commit, text)
		}
		if !strings.HasPrefix(text, "rdmaprobe v1.2.3\n") || !strings.Contains(text, "\ngo1.26 ") {
			t.Errorf("with the commit %q:\n%s", commit, text)
		}
	}
}
