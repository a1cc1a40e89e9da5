package probe

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"rdmaprobe/probe/peer"
)

// flood is a crowd that means no good, from a few addresses.
type flood struct {
	target string
	mu     sync.Mutex
	held   []net.Conn // open and silent, the oldest first
}

// hold keeps a connection open, and closes one where there are many.
func (f *flood) hold(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = append(f.held, c)
	if len(f.held) > 2*maxStrangers {
		f.held[0].Close()
		f.held = f.held[1:]
	}
}

func (f *flood) letGo() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.held {
		c.Close()
	}
	f.held = nil
}

// line is one message of the protocol.
func line(typ string, body any) string {
	b, err := json.Marshal(map[string]any{"type": typ, "body": body})
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

// garbage is what one connection of the flood writes, and whether it then stays.
func garbage(r *rand.Rand) (text string, stays bool) {
	hello := line(peer.TypeHello, testHello)
	role := testHello
	role.Role, role.Token = []string{peer.RoleTask, peer.RolePair}[r.IntN(2)], peer.NewToken()
	switch r.IntN(16) {
	case 0:
		return "", false
	case 1: // a slow one: it never gets to the end of its hello
		return hello[:r.IntN(len(hello))], true
	case 2:
		return hello[:r.IntN(len(hello))], false
	case 3: // the handshake, and no more
		return hello, true
	case 4:
		return hello, false
	case 5:
		return hello + strings.Repeat("\x00", r.IntN(100)) + "\n", true
	case 6: // what only makes sense later, or never
		return []string{line(peer.TypeBye, empty{}), line(peer.TypeTask, testTask), line(peer.TypeSelect, peer.Select{Device: "rxe0", Num: 1}), line("dance", nil)}[r.IntN(4)], true
	case 7:
		return hello + hello, true
	case 8:
		return hello + line(peer.TypeTask, testTask) + line(peer.TypeBye, empty{}), false
	case 9:
		return line(peer.TypeHello, role), true
	case 10:
		return "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + string(noise(r, 200)), true
	case 11:
		return "GET / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 99999999999\r\n\r\n", true
	case 12: // a length, for all that it knows
		return string(binary.BigEndian.AppendUint64(nil, r.Uint64()|1<<63)) + string(noise(r, 50)), true
	case 13:
		return strings.Repeat("[", 1+r.IntN(2*peer.MaxLine)), true
	case 14:
		return strings.Replace(hello, "test 1", strings.Repeat("x", r.IntN(3*peer.MaxLine)), 1), false
	}
	return string(noise(r, 1+r.IntN(4096))), r.IntN(2) == 0
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// writes connects from 127.0.0.HOST and writes. What becomes of it is the server's
// affair.
func (f *flood) writes(t *testing.T, host byte, text string) net.Conn {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, host)}}
	c, err := d.Dial("tcp", f.target)
	if err != nil {
		t.Errorf("connect: %v", err)
		return nil
	}
	_ = c.SetDeadline(time.Now().Add(long))
	_, _ = io.WriteString(c, text)
	return c
}

// takeAll fills every place there is.
func (f *flood) takeAll(t *testing.T) {
	f.letGo()
	for full := false; !full; {
		c := f.writes(t, 3, line(peer.TypeHello, testHello))
		if c == nil {
			return
		}
		f.hold(c)
		_, err := peer.Expect[peer.Hello](peer.NewConn(c, nil), peer.TypeHello, long)
		full = err != nil // busy
	}
	for range 3 * maxStrangers / 2 {
		if c := f.writes(t, 2, "{"); c != nil {
			f.hold(c)
		}
	}
}

// one is one connection of the flood.
func (f *flood) one(t *testing.T, r *rand.Rand) {
	text, stays := garbage(r)
	c := f.writes(t, byte(2+r.IntN(3)), text)
	if c == nil {
		return
	}
	switch {
	case stays:
		f.hold(c)
		return
	case r.IntN(2) == 0: // a reset instead of an end
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	c.Close()
}

// openFiles counts this process's descriptors.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// use is what a server takes.
type use struct {
	files, goroutines int
	heap              uint64
}

func inUse(t *testing.T) use {
	t.Helper()
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return use{openFiles(t), runtime.NumGoroutine(), m.HeapAlloc}
}

// Thousands of connections of garbage, and one client that means it: it is served
// as ever, and afterwards the server is what it was.
func TestServeFlood(t *testing.T) {
	n, seed := 400, uint64(1)
	if os.Getenv("RDMAPROBE_MUST_RUN") == "1" && !testing.Short() {
		n = 10_000
	}
	s := startServer(t, newLinux(t), nil)
	s.session()
	before := inUse(t)
	f := &flood{target: s.addr}
	over := make(chan struct{})
	go func() {
		defer close(over)
		var crowd sync.WaitGroup
		for w := range 16 {
			crowd.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(w)))
				for range n / 16 {
					f.one(t, r)
				}
			})
		}
		crowd.Wait()
	}()
	served, most := 0, 0
	for flooding := true; flooding; served++ {
		s.session()
		most = max(most, openFiles(t))
		select {
		case <-over:
			flooding = false
		default:
		}
	}
	f.takeAll(t)
	s.session()
	f.letGo()
	after := inUse(t)
	const settled = 30 * time.Second
	for end := time.Now().Add(settled); (after.files > before.files || after.goroutines > before.goroutines) && time.Now().Before(end); after = inUse(t) {
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("%d connections, %d sessions meanwhile; before %+v, at most %d files, after %+v", n, served, before, most, after)
	if limit := before.files + 4*maxStrangers + 100; most > limit { // what is held here, and what the server may have
		t.Errorf("%d descriptors at once, want no more than %d", most, limit)
	}
	if after.files > before.files || after.goroutines > before.goroutines {
		t.Errorf("before the flood %+v, after it %+v", before, after)
	}
	if after.heap > before.heap+16<<20 {
		t.Errorf("the heap grew from %d to %d KiB", before.heap>>10, after.heap>>10)
	}
}
