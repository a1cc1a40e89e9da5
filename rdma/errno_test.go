package rdma

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestErrnoNames(t *testing.T) {
	for _, tt := range []struct {
		platform    Platform
		errno       int
		name, text  string
		unsupported bool
	}{
		{PlatformDarwin, 45, "ENOTSUP", "errno 45 (ENOTSUP)", true},
		{PlatformDarwin, 102, "EOPNOTSUPP", "errno 102 (EOPNOTSUPP)", true},
		{PlatformDarwin, -102, "EOPNOTSUPP", "errno -102 (EOPNOTSUPP)", false},
		{PlatformDarwin, 60, "ETIMEDOUT", "errno 60 (ETIMEDOUT)", false},
		{PlatformDarwin, 96, "ENODATA", "errno 96 (ENODATA)", false},
		{PlatformDarwin, 95, "EMULTIHOP", "errno 95 (EMULTIHOP)", false},
		{PlatformDarwin, 38, "ENOTSOCK", "errno 38 (ENOTSOCK)", false},
		{PlatformDarwin, 78, "ENOSYS", "errno 78 (ENOSYS)", false},
		{PlatformLinux, 95, "EOPNOTSUPP", "errno 95 (EOPNOTSUPP)", true},
		{PlatformLinux, 93, "EPROTONOSUPPORT", "errno 93 (EPROTONOSUPPORT)", true},
		{PlatformLinux, 38, "ENOSYS", "errno 38 (ENOSYS)", true},
		{PlatformLinux, -38, "ENOSYS", "errno -38 (ENOSYS)", false},
		{PlatformLinux, 102, "ENETRESET", "errno 102 (ENETRESET)", false},
		{PlatformLinux, 110, "ETIMEDOUT", "errno 110 (ETIMEDOUT)", false},
		{PlatformLinux, 0, "errno 0", "errno 0", false},
		{PlatformLinux, 5000, "errno 5000", "errno 5000", false},
		{PlatformLinux, math.MinInt, "errno " + strconv.Itoa(math.MinInt), "errno " + strconv.Itoa(math.MinInt), false},
	} {
		if got := ErrnoNameOn(tt.platform, tt.errno); got != tt.name {
			t.Errorf("%s %d is named %q, want %q", tt.platform, tt.errno, got, tt.name)
		}
		if got := ErrnoTextOn(tt.platform, tt.errno); got != tt.text {
			t.Errorf("%s %d reads %q, want %q", tt.platform, tt.errno, got, tt.text)
		}
		if got := UnsupportedErrnoOn(tt.platform, tt.errno); got != tt.unsupported {
			t.Errorf("%s %d unsupported: %v, want %v", tt.platform, tt.errno, got, tt.unsupported)
		}
	}
}

func TestErrnoFollowsTheLibrary(t *testing.T) {
	for platform, want := range map[Platform]string{PlatformDarwin: "EOPNOTSUPP", PlatformLinux: "ENETRESET"} {
		restore := Use(NewLibrary(LibraryConfig{Platform: platform}))
		if got := ErrnoName(102); got != want {
			t.Errorf("%s library: 102 is %s, want %s", platform, got, want)
		}
		if got := ErrnoText(102); got != "errno 102 ("+want+")" {
			t.Errorf("%s library: 102 reads %s", platform, got)
		}
		if got := IsUnsupportedErrno(102); got != (platform == PlatformDarwin) {
			t.Errorf("%s library: 102 unsupported: %v", platform, got)
		}
		restore()
	}
	opened := systemCache.Swap(nil) // by another test
	defer systemCache.Store(opened)
	if got := ErrnoName(102); got != "EOPNOTSUPP" {
		t.Errorf("without a library 102 is %s, want Apple's EOPNOTSUPP", got)
	}
	systemCache.Store(NewLibrary(LibraryConfig{Platform: PlatformLinux}))
	if got := ErrnoName(102); got != "ENETRESET" {
		t.Errorf("with the system's library open 102 is %s, want its ENETRESET", got)
	}
}

func TestErrnoNumberOn(t *testing.T) {
	for _, tt := range []struct {
		platform Platform
		name     string
		want     int
		ok       bool
	}{
		{PlatformDarwin, "EOPNOTSUPP", 102, true},
		{PlatformDarwin, "ENOTSUP", 45, true},
		{PlatformDarwin, "EWOULDBLOCK", 35, true},
		{PlatformLinux, "EOPNOTSUPP", 95, true},
		{PlatformLinux, "ENOTSUP", 95, true},
		{PlatformLinux, "EWOULDBLOCK", 11, true},
		{PlatformLinux, "ENOATTR", 0, false},
		{PlatformDarwin, "ENOATTR", 93, true},
		{PlatformLinux, "", 0, false},
		{PlatformLinux, "einval", 0, false},
	} {
		if got, ok := ErrnoNumberOn(tt.platform, tt.name); got != tt.want || ok != tt.ok {
			t.Errorf("%s %q: %d, %v, want %d, %v", tt.platform, tt.name, got, ok, tt.want, tt.ok)
		}
	}
	for platform, table := range errnoTables {
		for number, name := range table.names {
			if got, ok := ErrnoNumberOn(platform, name); name != "" && (!ok || got != number) {
				t.Errorf("%s %s: %d, want %d", platform, name, got, number)
			}
		}
	}
}

// The tables are those of Go's syscall package, which were made from the
// systems' headers.
func TestErrnoTablesAreGos(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		missing(t, "there is no go command: "+err.Error())
	}
	line := regexp.MustCompile(`(?m)^\s+(E[A-Z0-9]+)\s+= Errno\((0x[0-9a-f]+)\)$`)
	for file, platform := range map[string]Platform{
		"zerrors_linux_amd64.go": PlatformLinux, "zerrors_linux_arm64.go": PlatformLinux,
		"zerrors_darwin_amd64.go": PlatformDarwin, "zerrors_darwin_arm64.go": PlatformDarwin,
	} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "src", "syscall", file))
		if err != nil {
			missing(t, "there is no Go source: "+err.Error())
		}
		found := line.FindAllStringSubmatch(string(text), -1)
		if len(found) < 100 {
			t.Fatalf("%s: found %d errno values", file, len(found))
		}
		for _, m := range found {
			want, err := strconv.ParseInt(m[2], 0, 64)
			check(t, err)
			if got, ok := ErrnoNumberOn(platform, m[1]); m[1] != "ELAST" && (!ok || got != int(want)) {
				t.Errorf("%s: %s is %d, want %d", file, m[1], got, want)
			}
		}
	}
}
