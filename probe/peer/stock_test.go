package peer

import (
	"io"
	"net"
	"strings"
	"testing"
)

// What ibv_rc_pingpong (rdma-core 44) sent for LID 0, QPN 0x1d, PSN 0x3ee667 and
// GID ::ffff:192.0.2.1.
const captured = "0000:00001d:3ee667:00000000000000000000ffffc0000201\x00"

func TestStockForm(t *testing.T) {
	want := Endpoint{QPN: 0x1d, PSN: 0x3ee667, GID: "::ffff:192.0.2.1", MTU: StockMTU}
	got, err := ParseStock([]byte(captured))
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	b, err := AppendStock(nil, want)
	if err != nil || string(b) != captured {
		t.Errorf("%q, %v", b, err)
	}
	// Without -g the tools send a GID of zeros and go by LID.
	lid := Endpoint{LID: 0xbeef, QPN: 0xffffff, PSN: 0xffffff, MTU: StockMTU}
	b, err = AppendStock(nil, lid)
	if err != nil || string(b) != "beef:ffffff:ffffff:"+strings.Repeat("0", 32)+"\x00" {
		t.Errorf("%q, %v", b, err)
	}
	if got, err := ParseStock(b); err != nil || got != lid {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := AppendStock(nil, Endpoint{GID: "host"}); err == nil {
		t.Error("a GID that is none was sent")
	}
}

func TestStockHostile(t *testing.T) {
	for name, in := range map[string]string{
		"empty":      "",
		"garbage":    strings.Repeat("A", stockLine),
		"no NUL":     strings.TrimSuffix(captured, "\x00") + " ",
		"short":      captured[1:],
		"long":       captured + "\x00",
		"shifted":    "00000:0001d:3ee667:00000000000000000000ffffc0000201\x00",
		"no digits":  "0000:00001d:3ee66g:00000000000000000000ffffc0000201\x00",
		"sign":       "0000:-0001d:3ee667:00000000000000000000ffffc0000201\x00",
		"GID digits": "0000:00001d:3ee667:zz000000000000000000ffffc0000201\x00",
		"spaces":     "0000:  001d:3ee667:00000000000000000000ffffc0000201\x00",
	} {
		if e, err := ParseStock([]byte(in)); err == nil {
			t.Errorf("%s: taken as %+v", name, e)
		}
	}
}

// Both sides of the exchange, in the order in which the tools do it.
func TestStockExchange(t *testing.T) {
	a, b := pipe(t)
	mine, theirs := Endpoint{QPN: 1, MTU: StockMTU, GID: "2001:db8::1"}, Endpoint{QPN: 2, MTU: StockMTU}
	failed := make(chan error, 1)
	go func() {
		got, err := ReadStock(b, patience)
		if err == nil && got != mine {
			err = io.ErrNoProgress
		}
		if err == nil {
			err = SendStock(b, theirs, patience)
		}
		if err == nil {
			err = AwaitDone(b, patience)
		}
		failed <- err
	}()
	if err := SendStock(a, mine, patience); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadStock(a, patience); err != nil || got != theirs {
		t.Errorf("%+v, %v", got, err)
	}
	if err := SendDone(a, patience); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func TestStockEnds(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		done bool
	}{"done": {"done\x00", true}, "closed without a word": {"", true}, "half a word": {"do", false}, "another word": {"nope\x00", false}} {
		a, b := pipe(t)
		_, _ = io.WriteString(a, c.in)
		a.Close()
		if err := AwaitDone(b, patience); (err == nil) != c.done {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, b := pipe(t)
	_, _ = io.WriteString(a, "0000:")
	a.Close()
	if _, err := ReadStock(b, patience); err == nil {
		t.Error("half an address was taken")
	}
	closed, _ := net.Pipe()
	closed.Close()
	if SendStock(closed, Endpoint{}, patience) == nil || SendDone(closed, patience) == nil || AwaitDone(closed, patience) == nil {
		t.Error("a closed connection did not fail")
	}
	if _, err := ReadStock(closed, patience); err == nil {
		t.Error("a closed connection was read")
	}
}

func FuzzParseStock(f *testing.F) {
	f.Add([]byte(captured))
	f.Add([]byte("beef:ffffff:ffffff:" + strings.Repeat("0", 32) + "\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseStock(b)
		if err != nil {
			return
		}
		back, err := AppendStock(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseStock(back); err != nil || again != e {
			t.Errorf("%q gave %+v, and %q gives %+v, %v", b, e, back, again, err)
		}
	})
}
