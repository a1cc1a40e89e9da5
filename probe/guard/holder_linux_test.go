package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTakersOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := fi.Sys().(*syscall.Stat_t)
	here := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino)
	elsewhere := fmt.Sprintf("fe:fe:%d", st.Ino)
	locks := strings.Join([]string{
		"1: FLOCK  ADVISORY  READ 42 " + here + " 0 EOF",
		"1: -> FLOCK  ADVISORY  WRITE 43 " + here + " 0 EOF",
		"2: POSIX  ADVISORY  WRITE 44 " + here + " 0 EOF",
		"3: FLOCK  ADVISORY  WRITE 45 " + elsewhere + " 0 EOF",
		"4: FLOCK  ADVISORY  READ 46 " + here + " 0 EOF",
		"5: FLOCK  ADVISORY  READ -1 " + here + " 0 EOF",
		"6: FLOCK  ADVISORY  READ 0 " + here + " 0 EOF",
		"7: FLOCK  ADVISORY", "", "\x00",
	}, "\n")
	if got := takersOf(strings.NewReader(locks), fi); !slices.Equal(got, []int{42, 46}) {
		t.Errorf("got %v", got)
	}
}
