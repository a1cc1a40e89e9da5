//go:build linux || darwin

package hostfacts

import "testing"

func TestMemlockKiB(t *testing.T) {
	for cur, want := range map[uint64]int64{
		65536: 64, 0: 0, 1023: 0, 1<<64 - 1: -1, 1<<63 - 1: -1, 1<<63 - 2: (1<<63 - 2) / 1024,
	} {
		if got := memlockKiB(cur); got != want {
			t.Errorf("%d bytes: %d KiB, want %d", cur, got, want)
		}
	}
}
