package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// macSteps are the scripts of the job on a Mac, by name, and the job.
func macSteps(t *testing.T) (scripts map[string]string, order []string) {
	t.Helper()
	const file = "../.github/workflows/ci.yml"
	text := read(t, file)
	var w workflow
	if err := decode(text, &w); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if strings.Contains(text, "secrets.") || strings.Contains(text, "github.token") || len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Errorf("%s: a workflow that anyone starts reads the sources and has no secret", file)
	}
	job := w.Jobs["macos"]
	if job.RunsOn != "macos-26" {
		t.Errorf("the job runs on %v: before macos-26 there is no library", job.RunsOn)
	}
	scripts = map[string]string{}
	for _, s := range job.Steps {
		if s.Name != "" {
			scripts[s.Name], order = s.Run, append(order, s.Name)
		}
		if strings.HasPrefix(s.Uses, "actions/upload-artifact@") && (s.If != "always()" || s.With["path"] != "evidence") {
			t.Errorf("what the program said is not always kept: %+v", s)
		}
		if (slices.Contains(macQuestions, s.Name) || s.Name == "Test") && s.If != "always()" {
			t.Errorf("step %q is left out when one before it fails", s.Name)
		}
	}
	if !strings.Contains(text, "actions/upload-artifact@") || scripts["Build what is published"] != "packaging/go.sh build -o rdmaprobe ." {
		t.Error("the job does not build what is published, or keeps nothing")
	}
	return scripts, order
}

// macQuestions are the steps each of which answers one question by passing.
var macQuestions = []string{"The version is that of sw_vers", "The header agrees", "librdma.dylib loads", "Without a device it says so, with a device it lists it"}

// macRun is a Mac, and a program there, as the job's scripts see them.
type macRun struct {
	starts, version, selftest, devices, device string
}

var goodMac = macRun{
	starts: "0", version: "26.1", devices: "3", device: `"listed": false`,
	selftest: "ok       layout.header                     218 sizes\nok       constants.header                  110 constants\nok       library.load                      /usr/lib/librdma.dylib",
}

// run lets the job's scripts go through and tells which of them failed.
func (m macRun) run(t *testing.T, scripts map[string]string, order []string) (failed []string) {
	t.Helper()
	dir := t.TempDir()
	script := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script("sw_vers", "case $1 in -productVersion) echo 26.1;; -buildVersion) echo 25B78;; *) echo ProductVersion: 26.1;; esac\n")
	document := `echo '    "os_version": "` + m.version + `",'; echo '    "os_build": "25B78",'; echo '      ` + m.device + ",'\n"
	script("rdmaprobe", `case "$*" in
version) exit `+m.starts+`;;
"selftest --header") echo '`+m.selftest+`'; case '`+m.selftest+`' in *FAILED*) exit 1;; esac;;
"devices --json") `+document+`exit `+m.devices+`;;
"doctor --json") `+document+`exit 3;;
devices) exit `+m.devices+`;;
doctor) exit 3;;
"report --bundle evidence/machine.tar.gz") ;;
*) echo "unknown command $*"; exit 2;;
esac
`)
	going := true
	for _, name := range order {
		always := slices.Contains(macQuestions, name)
		if name == "Build what is published" || name == "Vet" || name == "Test" || !going && !always {
			continue
		}
		c := exec.Command("bash", "-e", "-c", scripts[name])
		c.Dir = dir
		c.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "LC_ALL=C"}
		if _, err := c.CombinedOutput(); err != nil {
			failed, going = append(failed, name), false
		}
	}
	return failed
}

// The scripts of the job answer: each fails for its own fault, and not without one.
func TestMacJobAnswers(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("NOT CHECKED: no bash to run the steps with")
	}
	scripts, order := macSteps(t)
	for _, q := range append(slices.Clone(macQuestions), "It starts", "Ask it everything") {
		if scripts[q] == "" {
			t.Fatalf("no step %q among %q", q, order)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*macRun)
		failed []string
	}{
		{"all is well", func(*macRun) {}, nil},
		{"a device is there", func(m *macRun) { m.devices, m.device = "0", `"listed": true` }, nil},
		{"killed at its start", func(m *macRun) { m.starts = "137" }, append([]string{"It starts"}, macQuestions...)},
		{"told 16.1", func(m *macRun) { m.version = "16.1" }, macQuestions[:1]},
		{"no version", func(m *macRun) { m.version = "" }, macQuestions[:1]},
		{"a wrong layout", func(m *macRun) {
			m.selftest = strings.Replace(m.selftest, "ok       layout.header", "FAILED   layout.header", 1)
		}, macQuestions[1:4]},
		{"no header", func(m *macRun) {
			m.selftest = strings.Replace(m.selftest, "ok       constants.header", "skipped  constants.header", 1)
		}, macQuestions[1:2]},
		{"no library", func(m *macRun) {
			m.selftest = strings.Replace(m.selftest, "ok       library.load", "skipped  library.load", 1)
		}, macQuestions[2:3]},
		{"a contained crash", func(m *macRun) { m.devices = "4" }, macQuestions[3:]},
		{"none is listed, and it says all is well", func(m *macRun) { m.devices = "0" }, macQuestions[3:]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := goodMac
			tt.change(&m)
			if got := m.run(t, scripts, order); !slices.Equal(got, tt.failed) {
				t.Errorf("failed: %q, want %q", got, tt.failed)
			}
		})
	}
}
