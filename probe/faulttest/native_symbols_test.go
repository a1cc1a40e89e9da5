//go:build linux

package faulttest

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// definedFunctions are the verbs that testdata/faultverbs.c has.
func definedFunctions(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("nm", "-D", "--defined-only", needLibrary(t)).Output()
	if err != nil {
		t.Skipf("NOT CHECKED: nm: %v", err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m) T (ibv_\w+)$`).FindAllStringSubmatch(string(out), -1) {
		names = append(names, m[1])
	}
	if len(names) < 18 {
		t.Fatalf("the library defines %v", names)
	}
	return names
}

// A real library that lacks any one function: what needs it is unknown and names it,
// all else is as with the whole library, and no error is found unless devices cannot be
// listed.
func TestNativeLibraryLacksAFunction(t *testing.T) {
	t.Parallel()
	names := definedFunctions(t)
	for _, verb := range names {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			library := filepath.Join(t.TempDir(), "liblean.so")
			out, err := exec.Command("cc", "-shared", "-fPIC", "-O0", "-D"+verb+"=absent_"+verb, "-o", library, "testdata/faultverbs.c").CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			o := newPlace(t).native(t, library, verb, "", "", "--timeout", slow)
			if verb == "ibv_get_device_list" || verb == "ibv_get_device_name" {
				if o.exit != probe.ExitNothing || !strings.Contains(string(mustJSON(o.doc.Findings)), verb) {
					t.Errorf("exit %d, findings %s", o.exit, mustJSON(o.doc.Findings))
				}
				return
			}
			if o.exit != probe.ExitOK {
				t.Errorf("exit %d: %s", o.exit, o.doc.Error)
			}
			for _, f := range o.doc.Findings {
				if f.Severity == probe.SeverityError {
					t.Errorf("%s: %s", f.Code, f.Message)
				}
			}
			for _, r := range o.doc.Observations {
				if r.Level == rdma.CapabilityUnknown && r.Reason != probe.NotTried && slices.Contains(probed, r.ID) && !strings.Contains(r.Detail+string(mustJSON(r.Data)), verb) {
					t.Errorf("%s is unknown (%s) without naming %s: %s", r.ID, r.Reason, verb, r.Detail)
				}
			}
		})
	}
}
