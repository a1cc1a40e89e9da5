package selftest

import (
	"fmt"
	"math"
	"os"
	"slices"

	"rdmaprobe/rdma"
)

// sizes of regions that are mapped, bytes.
var sizes = []int{1, 4096, 16384, 100_000, 1 << 20}

// arena: memory for regions is zero, page aligned, and as long as asked.
func (c *caller) arena() (string, error) {
	if err := mappable(); err != nil {
		return "", err
	}
	for _, n := range sizes {
		b, err := rdma.MapBuffer(n)
		if err != nil {
			return "", err
		}
		err = sound(b, n)
		if err == nil && slices.ContainsFunc(b.Bytes(), func(v byte) bool { return v != 0 }) {
			err = fmt.Errorf("%d bytes are not zero", n)
		}
		b.Bytes()[n-1] = 1
		if uerr := b.Unmap(); err == nil {
			err = uerr
		}
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("1 byte to %d KiB: zero, on whole pages", sizes[len(sizes)-1]>>10), nil
}

// sound checks what every region must have.
func sound(b *rdma.Buffer, n int) error {
	first, last := uint64(b.Addr()), uint64(b.Addr())+uint64(n)-1
	switch {
	case len(b.Bytes()) != n:
		return fmt.Errorf("%d bytes asked for, %d mapped", n, len(b.Bytes()))
	case b.Addr() == 0 || first%uint64(os.Getpagesize()) != 0:
		return fmt.Errorf("%d bytes are not on whole pages", n)
	case first>>32 != last>>32:
		return fmt.Errorf("%d bytes cross a 4 GiB line", n)
	}
	return nil
}

// arenaLine maps more than 4 GiB of addresses, so that one of the regions would
// lie across a line. Nothing is touched: it costs addresses, not memory.
func (c *caller) arenaLine() (string, error) {
	if err := mappable(); err != nil {
		return "", err
	}
	// No multiple of the sizes that systems align mappings to: wherever the first
	// begins, a later one would lie across the line, and not end on it.
	const piece = 96<<20 + 320<<10
	var lowest, highest uintptr = math.MaxUint, 0
	var held []*rdma.Buffer
	defer func() {
		for _, b := range held {
			_ = b.Unmap()
		}
	}()
	for len(held) < 4<<30/piece+2 {
		b, err := rdma.MapBuffer(piece)
		if err != nil {
			return "", skipf("only %d MiB of addresses are to be had: %v", len(held)*piece>>20, err)
		}
		held = append(held, b)
		if err := sound(b, piece); err != nil {
			return "", err
		}
		lowest, highest = min(lowest, b.Addr()), max(highest, b.Addr()+piece)
	}
	if uint64(lowest)>>32 == (uint64(highest)-1)>>32 {
		return "", skipf("no region came near a 4 GiB line")
	}
	return fmt.Sprintf("%d regions of %d MiB lie around a 4 GiB line, none across it", len(held), piece>>20), nil
}

// mappable is a skip where there is no mapped memory.
func mappable() error {
	b, err := room()
	if err != nil {
		return err
	}
	return b.Unmap()
}
