package hostfacts

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// recorded reads a fixture with a record and returns the texts by name.
func recorded(t *testing.T, file string) map[string]string {
	t.Helper()
	s := load(t, file)
	s.Record = &Record{}
	Collect(t.Context(), s)
	got := map[string]string{}
	for _, raw := range s.Record.Sources() {
		if !regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,47}$`).MatchString(raw.Name) || raw.What == "" || got[raw.Name] != "" {
			t.Errorf("source %+v", raw)
		}
		got[raw.Name] = raw.Text
	}
	return got
}

func TestRecordKeepsWhatTheSourcesGave(t *testing.T) {
	for _, tt := range []struct {
		file, source string
		want         []string
	}{
		{"testdata/macos/tb5-linked.txtar", "ifconfig-a", []string{"== ifconfig -a\n", "\tether 00:00:5e:00:53:22\n"}},
		{"testdata/macos/tb5-linked.txtar", "system_profiler-spthunderboltdatatype-json", []string{`"_name": "mac-b"`}},
		{"testdata/macos/tb5-linked.txtar", "sysctl", []string{"kern.hostname = mac-a\n", "hw.optional.arm64: 4 bytes 01000000\n"}},
		{"testdata/macos/tb5-linked.txtar", "ipconfig-getsummary-en3", []string{"ConfigMethod : Manual"}},
		{"testdata/macos/hub-old-netstat.txtar", "networksetup-listallhardwareports", []string{": run networksetup: exit status 4"}},
		{"testdata/macos/hub-old-netstat.txtar", "network-interfaces", []string{"eth1 up=true 192.0.2.1/24"}},
		{"testdata/linux/thunderbolt.txtar", "files-below-proc", []string{"== /proc/net/route\nIface\tDestination", "== /proc/sys/kernel/hostname\nhost-a\n"}},
		{"testdata/linux/thunderbolt.txtar", "files-below-sys", []string{"/device_name\nhost-b\n", "== /sys/bus/thunderbolt/devices/\n0-0\n"}},
		{"testdata/linux/thunderbolt.txtar", "files-below-lib", []string{"modules.dep: it does not exist here"}},
	} {
		text := recorded(t, tt.file)[tt.source]
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s, %s has no %q:\n%s", tt.file, tt.source, want, text)
			}
		}
	}
}

// TestRecordLeavesPeopleAlone: names of folders that hold people's files, what they
// noted in configuration, and the processes of everybody are no evidence about RDMA.
func TestRecordLeavesPeopleAlone(t *testing.T) {
	r := &Record{}
	r.file("etc/security/limits.conf", []byte("# for Alice\n  # and Bob\n* soft memlock 64 # KiB\n"), nil)
	if got, want := r.Sources()[0].Text, "== /etc/security/limits.conf\n* soft memlock 64 # KiB\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, file := range append(fixtures(t, MacOS), fixtures(t, Linux)...) {
		for name, text := range recorded(t, file) {
			if strings.Contains(text, "DiagnosticReports/") || strings.Contains(text, "limits.d/\n") || strings.Contains(text, "Editor-2026") || strings.Contains(text, "== /proc/\n") {
				t.Errorf("%s: %s:\n%s", file, name, text)
			}
		}
	}
}

func TestRecordIsText(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\n":                      "a\tb\n",
		"model\x00":                   "model",
		"a\x1b[2Jb\r\n":               `a\u001b[2Jb\u000d` + "\n",
		"\xff\u202e":                  `\xff\u202e`,
		"\x7fELF\x00\x01":             "== not text: 6 bytes, sha256 ",
		"one\n" + "two of too many\n": "one\n\n== 16 more bytes were left out\n",
	} {
		if got := printable([]byte(in), 10); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestRecordCutsLines(t *testing.T) {
	got := printable([]byte("a\n"+strings.Repeat("x", maxRecordLine+7)+"\nb\n"), maxRecordFile)
	if want := "a\n" + strings.Repeat("x", maxRecordLine) + "\n== 8 more bytes of this line were left out\nb\n"; got != want {
		t.Errorf("%d bytes: %.40q...%q", len(got), got, got[len(got)-60:])
	}
}

func TestRecordIsBounded(t *testing.T) {
	r := &Record{}
	big := []byte(strings.Repeat("line of text\n", maxRecordProgram/13+1))
	for i := range 50 {
		r.file(fmt.Sprintf("proc/%d", i), big, nil)
		r.program([]string{"program", "0"}, big, fmt.Errorf("failure %d", i))
	}
	for i := range 2 * maxRecordSources {
		r.program([]string{"program", fmt.Sprint(i)}, nil, errors.New("x"))
	}
	total, cut := 0, 0
	for _, raw := range r.Sources() {
		if len(raw.Text) > maxRecordSource+maxRecordProgram+1000 {
			t.Errorf("%s: %d bytes", raw.Name, len(raw.Text))
		}
		if strings.HasSuffix(raw.Text, "== the rest was left out\n") {
			cut++
		}
		total++
	}
	if total != maxRecordSources || cut != 2 {
		t.Errorf("%d sources, %d of them cut", total, cut)
	}
}

// TestRecordNamesAreDistinct: two sources of one slug keep their texts apart.
func TestRecordNamesAreDistinct(t *testing.T) {
	r := &Record{}
	r.program([]string{"a", "b"}, []byte("one"), nil)
	r.program([]string{"a", "-b"}, []byte("two"), nil)
	r.program([]string{"a", "-b"}, []byte("two again"), fs.ErrNotExist)
	r.program([]string{"-"}, []byte("three"), nil)
	got := r.Sources()
	if len(got) != 3 || got[0].Name == got[1].Name {
		t.Errorf("%+v", got)
	}
}
