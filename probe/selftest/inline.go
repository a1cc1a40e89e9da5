package selftest

import (
	"fmt"
	"slices"
	"sort"
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/cfunc"
)

// offset is where infiniband/verbs.h has a field, by the independent numbers of
// the layout table.
func offset(structName, field string) int {
	all := rdma.Layouts()
	return int(all[slices.IndexFunc(all, func(l rdma.Layout) bool { return l.Struct == structName && l.Field == field })].Want)
}

// signInline is sign for the verbs that are called through the ops table, which
// lies where the header says.
func (c *caller) signInline() (string, error) {
	b, restore, err := c.stage(true, nil)
	if err != nil {
		return "", err
	}
	defer restore()
	const contextAt, wcAt = 128, 1024 // of the queue at 0 only its first word counts
	*at[uintptr](b, offset("struct ibv_cq", "context")) = b.Addr() + contextAt
	entry := contextAt + offset("struct ibv_context", "ops") + offset("struct ibv_context_ops", "poll_cq")
	for _, ret := range []int32{-5, 0, 1} {
		*at[uintptr](b, entry) = cfunc.Callback(func(cq, n, wc uintptr) uintptr { return junk | uintptr(uint32(ret)) })
		poller, err := rdma.NewIbvCQPoller(b.Addr())
		if err != nil {
			return "", fmt.Errorf("poll_cq is not found where the header has it: %w", err)
		}
		if r := poller.Poll(1, at[rdma.IbvWC](b, wcAt)); r != int(ret) {
			return "", fmt.Errorf("%d returned by poll_cq was read as %d", ret, r)
		}
	}
	return "poll_cq through the ops table: -5, 0, 1 with other bits above them", nil
}

// arguments: the verb with the most arguments has six, and each arrives. More
// than six the call path does not carry.
func (c *caller) arguments() (string, error) {
	const context, port, index = uintptr(0x1111222233334444), uint32(0x55556666), uint32(0xfffffff7)
	var got []uintptr
	restore, err := c.install(true, map[string]any{"_ibv_query_gid_ex": cfunc.Callback(func(a uintptr, b, c uint32, entry *rdma.IbvGIDEntry, flags uint32, size uintptr) int32 {
		got = []uintptr{a, uintptr(b), uintptr(c), uintptr(flags), size}
		entry.GIDIndex = 7
		return 0
	})})
	if err != nil {
		return "", err
	}
	defer restore()
	var entry rdma.IbvGIDEntry
	_, err = rdma.IbvQueryGidEx(context, port, index, &entry)
	sent := []uintptr{context, uintptr(port), uintptr(index), 0, unsafe.Sizeof(entry)}
	if err != nil || entry.GIDIndex != 7 || !slices.Equal(got, sent) {
		return "", fmt.Errorf("sent %#x and a pointer, got %#x, %v", sent, got, err)
	}
	return "six arrive, the most that a verb has; the call path carries no more", nil
}

// callback: C calls back into Go, on a stack that has to grow meanwhile.
func (c *caller) callback() (string, error) {
	b, restore, err := c.stage(true, map[string]any{"ibv_reg_mr": "qsort"})
	if err != nil {
		return "", err
	}
	defer restore()
	const n = 200
	numbers := unsafe.Slice(at[uint64](b, 0), n)
	for i := range numbers {
		numbers[i] = uint64(i) * 0x9e3779b97f4a7c15 // in no order
	}
	expected := slices.Clone(numbers)
	sort.Slice(expected, func(i, j int) bool { return expected[i] < expected[j] })
	calls := 0
	order := cfunc.Callback(func(a, b *uint64) int32 {
		calls++
		deep(60)
		switch {
		case *a < *b:
			return -1
		case *a > *b:
			return 1
		}
		return 0
	})
	done := make(chan struct{})
	go func() { // a fresh goroutine has a small stack
		defer close(done)
		// void qsort(void *base, size_t n, size_t size, int (*order)(...)): its result is none
		_, _ = rdma.IbvRegMr(b.Addr(), n, unsafe.Sizeof(numbers[0]), int(order))
	}()
	<-done
	if calls < n-1 || !slices.Equal(numbers, expected) {
		return "", fmt.Errorf("qsort called back %d times, and sorted: %v", calls, slices.Equal(numbers, expected))
	}
	return fmt.Sprintf("qsort called back %d times and sorted %d numbers", calls, n), nil
}

// deep makes the goroutine's stack grow.
//
//go:noinline
func deep(n int) byte {
	var frame [1024]byte
	frame[n%len(frame)] = byte(n)
	if n == 0 {
		return frame[0]
	}
	return deep(n-1) + frame[n%len(frame)]
}
