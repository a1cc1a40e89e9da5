package pattern

// stockPage is the distance of the bytes that rdma-core's tools look at with -c:
// the first of every page has to be 0. Pages of 16 KiB are multiples of it.
const stockPage = 4096

// FillStock writes message seq for a stock tool, which may check it.
func (k Key) FillStock(b []byte, seq uint64) {
	fillBody(b, k.number(seq))
	for i := 0; i < len(b); i += stockPage {
		b[i] = 0
	}
}

// MismatchStock is the offset of the first byte of b that is not of such a message,
// -1 when all are.
func (k Key) MismatchStock(b []byte, seq uint64) int {
	w := k.number(seq)
	for i, c := range b {
		want := byte((w ^ uint64(i/8)*step) >> (8 * (i % 8)))
		if i%stockPage == 0 {
			want = 0
		}
		if c != want {
			return i
		}
	}
	return -1
}
