package rdma

import (
	"bytes"
	"os"
	"testing"
)

func TestMapBuffer(t *testing.T) {
	if !canCall {
		missing(t, "this system has no mapped buffers")
	}
	for _, n := range []int{1, 4096, 16384, 100_000} {
		b, err := MapBuffer(n)
		check(t, err)
		if len(b.Bytes()) != n || cap(b.Bytes()) != n || !bytes.Equal(b.Bytes(), make([]byte, n)) {
			t.Errorf("%d bytes: got %d, or not zero", n, len(b.Bytes()))
		}
		if b.Addr() == 0 || b.Addr()%uintptr(os.Getpagesize()) != 0 {
			t.Errorf("%d bytes at %#x: not page aligned", n, b.Addr())
		}
		if first, last := uint64(b.Addr())>>32, (uint64(b.Addr())+uint64(n)-1)>>32; first != last {
			t.Errorf("%d bytes at %#x cross a 4 GiB line", n, b.Addr())
		}
		b.Bytes()[n-1] = 1
		for range 2 {
			check(t, b.Unmap())
		}
		if b.Bytes() != nil || b.Addr() != 0 {
			t.Error("unmapped memory is still there")
		}
	}
	for _, n := range []int{0, -1, maxBuffer + 1} {
		if b, err := MapBuffer(n); err == nil || b != nil {
			t.Errorf("%d bytes were mapped", n)
		}
	}
}

func TestOffsetOffLine(t *testing.T) {
	const line = uint64(7) << 32
	for _, tt := range []struct {
		address uint64
		n, want int
	}{
		{line, 1 << 30, 0},
		{line - 4096, 4096, 0},
		{line - 4096, 4097, 4096},
		{line - 8192, 1 << 20, 8192},
		{line + 4096, 1 << 20, 0},
		{0x1000, 4096, 0},
	} {
		if got := offsetOffLine(uintptr(tt.address), tt.n); got != tt.want {
			t.Errorf("%d bytes at %#x: offset %d, want %d", tt.n, tt.address, got, tt.want)
		}
	}
}
