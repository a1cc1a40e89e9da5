package hostfacts

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMacOSVersion(t *testing.T) {
	for in, want := range map[string]bool{
		"26.2": true, "26.5.1": true, "15.7": true, "27": true, "10.15.7": true, "26.0": true, "11.0": true,
		"16.0": false, "16": false, "16.5.1": false, "25.9": false, "10.16": false, "": false, "x": false, "26.x": false,
		"-1.2": false, "+26.2": false, "26.": false, "26.2 beta": false, "26.2.1.0.0": false, "0.1": false, "99999999.1": false,
	} {
		if _, ok := MacOSVersion(in); ok != want {
			t.Errorf("%q is a version: %v, want %v", in, ok, want)
		}
	}
	if v, _ := MacOSVersion("26.5.1"); v != [2]int{26, 5} {
		t.Errorf("26.5.1 is read as %v", v)
	}
}

func TestPlistString(t *testing.T) {
	const key = "<key>ProductVersion</key>"
	for in, want := range map[string]string{
		key + "<string>26.5</string>":       "26.5",
		key + "\n\t<string>26.5</string>\n": "26.5",
		"<key>ProductVersionExtra</key><string>(a)</string>" + key + "<string>26.5</string>": "26.5",
		key + "<string></string>": "",
	} {
		if got, ok := plistString([]byte("<plist><dict>"+in+"</dict></plist>"), "ProductVersion"); got != want || !ok {
			t.Errorf("%s: %q, %v, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", "bplist00\xd4", "<key>ProductBuildVersion</key><string>25F71</string>", key, key + "<integer>26</integer>", key + "<string>26.5",
		key + "<key>x</key><string>26.5</string>", key + "<string>26.5</string>" + key + "<string>15.1</string>",
	} {
		if got, ok := plistString([]byte(in), "ProductVersion"); ok {
			t.Errorf("%q has %q", in, got)
		}
	}
}

// versionPlist is the file as macOS has it, but for the lines of other keys.
func versionPlist(version string) []byte {
	return []byte("<plist version=\"1.0\">\n<dict>\n\t<key>ProductVersion</key>\n\t<string>" + version + "</string>\n</dict>\n</plist>\n")
}

// The version is the file's; else the program's; else there is none, and both say
// why. One that macOS makes up is none, wherever it comes from.
func TestOSVersion(t *testing.T) {
	gone := func() ([]byte, error) { return nil, fs.ErrNotExist }
	says := func(text string) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(text), nil }
	}
	notes := func(file, program string) []string {
		return []string{"/" + versionFile + ": " + file, "sw_vers -productVersion: " + program}
	}
	for _, tt := range []struct {
		name        string
		file        []byte // nil: it is not there
		program     func() ([]byte, error)
		quick, slow string
		missing     []string // the beginning of each
	}{
		{"both", versionPlist("26.5"), says("26.5\n"), "26.5", "26.5", nil},
		{"the file alone", versionPlist("26.5.1"), gone, "26.5.1", "26.5.1", nil},
		{"the file is believed", versionPlist("26.1"), says("16.1\n"), "26.1", "26.1", nil},
		{"no file", nil, says("26.0\n"), "", "26.0", nil},
		{"garbage in the file", []byte("\x00\xff<key>"), says("26.5\n"), "", "26.5", nil},
		{"a file that macOS rewrote", versionPlist("16.0"), says("26.5\n"), "", "26.5", nil},
		{"a file without end", append(versionPlist("26.5"), make([]byte, maxVersionFile)...), says("26.5\n"), "", "26.5", nil},
		{"another version in the file", versionPlist("26.5\x1b[2J"), says("26.5\n"), "", "26.5", nil},
		{"neither", nil, gone, "", "", notes("it does not exist here", "it does not exist here")},
		{"both made up", versionPlist("16.0"), says("16.0\n"), "", "", notes("it says 16.0, which is no release", "it says 16.0, which is no release")},
		{"made up for older ones", versionPlist("10.16"), says("10.16"), "", "", notes("it says 10.16, which is no release", "it says 10.16")},
		{"both garbage", versionPlist("new"), says("macOS"), "", "", notes(`it says "new", which is no version`, `it says "macOS"`)},
		{"the program fails", nil, func() ([]byte, error) { return []byte("26.5\n"), errors.New("exit status 1") }, "", "", notes("it does not exist here", "exit status 1")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &System{OS: MacOS, Root: t.TempDir(), EUID: -1,
				Sysctl: func(name string) ([]byte, error) {
					if name == "kern.osproductversion" {
						t.Error("the sysctl was asked, which says 16 for 26")
					}
					return []byte("16.0\x00"), nil
				},
				Run: func(_ context.Context, name string, args ...string) ([]byte, error) {
					if name == "sw_vers" {
						if len(args) != 1 || args[0] != "-productVersion" {
							t.Errorf("sw_vers with %q", args)
						}
						return tt.program()
					}
					return nil, fs.ErrNotExist
				}}
			if tt.file != nil {
				put(t, filepath.Join(s.Root, versionFile), tt.file)
			}
			if h := Quick(s); h.OSVersion != tt.quick {
				t.Errorf("the quick facts have %q, want %q", h.OSVersion, tt.quick)
			}
			h, missing := Collect(t.Context(), s)
			if h.OSVersion != tt.slow {
				t.Errorf("version %q, want %q", h.OSVersion, tt.slow)
			}
			missing = slices.DeleteFunc(missing, func(n NotRead) bool { return n.Fact != "os_version" })
			for i, n := range missing {
				if i >= len(tt.missing) || !strings.HasPrefix(n.Source+": "+n.Why, tt.missing[i]) {
					t.Errorf("note %q: %q, want %q", n.Source, n.Why, tt.missing)
				}
			}
			if len(missing) != len(tt.missing) {
				t.Errorf("%d notes, want %d", len(missing), len(tt.missing))
			}
		})
	}
}

// A directory in the file's place holds nobody up.
func TestOSVersionOfNoFile(t *testing.T) {
	s := &System{OS: MacOS, Root: t.TempDir(), EUID: -1}
	if err := os.MkdirAll(filepath.Join(s.Root, versionFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if h := Quick(s); h.OSVersion != "" {
		t.Errorf("version %q out of a directory", h.OSVersion)
	}
}

// What a machine of macOS 26.5 gives to a program of an old SDK is read as 26.5, and
// what is kept of its sources does not say otherwise.
func TestOldSDKIsNotBelieved(t *testing.T) {
	s := load(t, "testdata/macos/told-16.txtar")
	if b, err := s.Sysctl("kern.osproductversion"); err != nil || string(b) != "16.0\x00" {
		t.Fatalf("the archive's sysctl says %q, %v", b, err)
	}
	s.Record = &Record{}
	h, _ := Collect(t.Context(), s)
	if h.OSVersion != "26.5" || Quick(s).OSVersion != "26.5" {
		t.Errorf("version %q", h.OSVersion)
	}
	kept := ""
	for _, raw := range s.Record.Sources() {
		kept += raw.Text
	}
	if !strings.Contains(kept, "<string>26.5</string>") || strings.Contains(kept, "16.0") {
		t.Errorf("of the sources is kept:\n%s", kept)
	}
}

// Flags tell little of an interface of macOS: RUNNING stays on an unplugged port.
func TestMacUp(t *testing.T) {
	yes, no := true, false
	for flags, want := range map[net.Flags]*bool{
		net.FlagUp | net.FlagLoopback | net.FlagRunning:  &yes,
		net.FlagUp | net.FlagBroadcast | net.FlagRunning: nil,
		net.FlagUp | net.FlagBroadcast:                   nil,
		net.FlagBroadcast | net.FlagRunning:              &no,
		net.FlagLoopback:                                 &no,
	} {
		if got := macUp(flags); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%v: %v", flags, got)
		}
	}
}

func TestIfconfigMedia(t *testing.T) {
	yes, no := true, false
	for block, want := range map[string]*bool{
		"flags=8863<UP,RUNNING> mtu 1500\n\tmedia: autoselect\n\tstatus: active\n":    &yes,
		"flags=8863<UP,RUNNING> mtu 1500\n\tmedia: autoselect\n\tstatus: inactive\n":  &no,
		"flags=8863<UP,RUNNING> mtu 1500\n\tmedia: autoselect\n":                      nil, // no valid status
		"flags=8863<UP,RUNNING> mtu 1500\n\tmedia: autoselect\n\tstatus: dormant 1\n": nil,
		"flags=8823<UP,BROADCAST> mtu 1500\n\tmedia: none\n\tstatus: active\n":        &yes,
		"flags=8862<RUNNING> mtu 1500\n\tmedia: autoselect\n\tstatus: active\n":       &no,
		"flags=8051<UP,POINTOPOINT,RUNNING> mtu 1380\n\tinet6 fe80::1 prefixlen 64\n": &yes,
	} {
		c, err := parseIfconfig([]byte("en3: " + block))
		if got := c.interfaces["en3"].Up; err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v, %v", block, got, err)
		}
	}
}
