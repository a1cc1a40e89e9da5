package docs

import (
	"fmt"
	"strings"
	"testing"

	"rdmaprobe/report/bundle"
)

// What bundle.md says of the form is what the reader takes.
func TestBundleIsDescribed(t *testing.T) {
	text := strings.Join(strings.Fields(read(t, "bundle.md")), " ")
	for _, want := range []string{
		bundle.Schema, bundle.ManifestFile, bundle.DocumentFile, bundle.IdentityFile, bundle.LedgerFile, bundle.SelfTestFile, bundle.VerifyFile,
		bundle.HostFolder + "/*.txt", fmt.Sprintf("at most %d MiB packed, %d MiB unpacked, %d MiB a file and %d files", bundle.MaxPacked>>20, bundle.MaxTotal>>20, bundle.MaxFile>>20, bundle.MaxEntries),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("bundle.md does not say %q", want)
		}
	}
}
