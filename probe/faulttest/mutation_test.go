//go:build linux

package faulttest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutation is a change that takes a part out of the proof that messages arrived, and
// the test that has to fail of it.
type mutation struct{ name, file, was, is, pkg, test string }

const (
	sender  = "probe/pattern/sender.go"
	layout  = "probe/pattern/pattern.go"
	proof   = "probe/proof.go"
	pattern = "./probe/pattern"
	whole   = "./probe/faulttest" // builds the program too
	lying   = "TestLyingPeer/ok/results/(another_digest|three_verified)$"
)

var mutations = []mutation{
	{"no salt", layout, "spread(salt ^ uint64(d)*mix)", "spread(uint64(d)*mix)", pattern, "TestKeysApart"},
	{"no direction", layout, "spread(salt ^ uint64(d)*mix)", "spread(salt)", pattern, "TestKeysApart"},
	{"no number in a message", layout, "spread(uint64(k) + seq*mix)", "spread(uint64(k))", pattern, "TestKeysApart"},
	{"no secret", sender, "spread(spread(s.secret[0]+seq*mix) ^ s.secret[1])", "spread(seq*mix)", pattern, "TestDigest"},
	{"no challenge in the digest", sender, "spread(challenge^spread(", "spread(spread(", pattern, "TestDigest"},
	{"no length in the digest", sender, "seq*mix+uint64(size)", "seq*mix", pattern, "TestDigest"},
	{"no number in the digest", sender, "seq*mix+uint64(size)", "uint64(size)", pattern, "TestDigest"},
	{"no message but the last in the digest", sender, "spread(uint64(d) + mix ^", "spread(mix ^", pattern, "TestDigest"},
	{"one key for both directions", proof, "pattern.NewKey(theirs, other)", "pattern.NewKey(theirs, own+0*other)", "./probe", "TestSpeak"},
	{"the count is not compared", proof, "got.Received < sent || got.Verified < sent", "false", "./probe", "TestUnproven"},
	{"too many are not told", proof, "got.Received > sent || got.Verified > sent", "false", "./probe", "TestUnproven"},
	{"the digest is not compared", proof, "got.Digest != uint64(digest)", "false", "./probe", "TestUnproven"},
	{"results are ignored", "probe/pingpong_tell.go", "missing = p.unproven()", "_ = p.unproven", whole, lying},
	{"the target's digest is ignored", "probe/write.go", "missing := unproven(&got, 1, c.near.out.Digest(size, seq, 1))", "missing := \"\"", whole, lying},
	{"the client's digest is ignored", "probe/echo.go", "missing = unproven(&back,", "_ = unproven(&back,", whole, "TestLyingClient"},
	{"what comes back is compared with what was sent", "probe/pingpong.go", "mismatch: c.near.in.Mismatch", "mismatch: c.near.out.Mismatch", whole, "TestWire/(ok|reflect)/two_hosts"},
	{"the far queue pair is not asked", "probe/proof.go", "c.theirs = &c.far.out", "c.theirs = &c.near.out", whole, "TestWire/(ok|reflect)/one_port"},
}

// Whatever is taken out of the proof, a test fails of it.
func TestProofMutations(t *testing.T) {
	if os.Getenv("RDMAPROBE_MUST_RUN") == "" {
		t.Skip("NOT CHECKED: it builds the tests once for each mutation: make test does")
	}
	needLibrary(t)
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			if m.pkg == whole && *faults != "all" {
				t.Skip("NOT CHECKED: it builds the program once more: make faults does")
			}
			out, err := m.run(t)
			switch {
			case err == nil:
				t.Errorf("%s passes all the same:\n%s", m.test, out)
			case strings.Contains(out, "[build failed]"), strings.Contains(out, "no tests to run"), !strings.Contains(out, "--- FAIL: "):
				t.Errorf("%s did not run: %v\n%s", m.test, err, out)
			}
		})
	}
}

// run runs the test of a mutation.
func (m mutation) run(t *testing.T) (string, error) {
	t.Helper()
	root, err := filepath.Abs("../..")
	must(t, err)
	file := filepath.Join(root, m.file)
	text, err := os.ReadFile(file)
	must(t, err)
	if n := strings.Count(string(text), m.was); n != 1 {
		t.Fatalf("%s has %q %d times", m.file, m.was, n)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(changed, []byte(strings.Replace(string(text), m.was, m.is, 1)), 0o600))
	raw, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	must(t, err)
	must(t, os.WriteFile(overlay, raw, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", m.pkg, "-run", m.test)
	cmd.Dir = root
	for _, v := range os.Environ() { // a plain test, which builds the program with the mutation too
		if !strings.HasPrefix(v, "RDMAPROBE_MUST_RUN=") && !strings.HasPrefix(v, "GOFLAGS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GOFLAGS=-overlay="+overlay)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
