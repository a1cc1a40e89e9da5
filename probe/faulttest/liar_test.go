//go:build linux

package faulttest

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// body is that of a message of the control protocol.
type body = map[string]any

// lie is what a peer says instead of one type of message.
type lie struct {
	name, typ string
	noWrite   bool                         // a write has nothing to do with it
	body      func(said body, client body) // changes what an honest one says; client is what it was told last
	raw       string                       // sent in the place of the line
	then      func(net.Conn)               // and this is done; nil: it goes on
}

func waits(c net.Conn)  { _, _ = io.Copy(io.Discard, c) }
func closes(c net.Conn) { c.Close() }
func resets(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); c.Close() }
func repeats(c net.Conn) {
	for {
		if _, err := io.WriteString(c, strings.Repeat(`{"type":"results","body":{}}`+"\n", 100)); err != nil {
			return
		}
	}
}

func sets(change body) func(body, body) {
	return func(said, _ body) { maps.Copy(said, change) }
}

// aboutResults are lies of who says what it has received, on a wire on which it may
// have received everything.
var aboutResults = []lie{
	{name: "nothing", body: sets(body{"received": 0, "verified": 0})},
	{name: "three verified", body: sets(body{"verified": 3})},
	{name: "more than was sent", body: sets(body{"received": 100000000, "verified": 100000000})},
	{name: "less than nothing", body: sets(body{"received": -1, "verified": -5})},
	{name: "less received than verified", body: sets(body{"received": 0})},
	{name: "half a message", body: sets(body{"received": 0.5})},
	{name: "one more", body: func(said, _ body) { said["received"] = said["received"].(float64) + 1 }},
	{name: "one fewer", body: func(said, _ body) {
		said["received"], said["verified"] = said["received"].(float64)-1, said["verified"].(float64)-1
	}},
	{name: "no digest", body: func(said, _ body) { delete(said, "digest") }},
	{name: "another digest", body: sets(body{"digest": "81985529216486895"})},
	{name: "the client's digest", body: func(said, client body) { said["digest"] = client["digest"] }},
	{name: "a wrong byte", body: sets(body{"mismatch": "message 3 arrived with a wrong byte at offset 9"})},
	{name: "an error", raw: `{"type":"error","body":{"code":"failed","text":"nothing arrived here"}}` + "\n"},
	{name: "another message", raw: `{"type":"prepared","body":{}}` + "\n"},
	{name: "silence", then: waits},
}

// anywhere are lies in the place of any message.
var anywhere = []lie{
	{name: "the end", then: closes},
	{name: "a reset", then: resets},
	{name: "a flood", then: repeats},
	{name: "junk", raw: "\xff\xfe\x1b[31m\n"},
	{name: "null", raw: "null\n"},
	{name: "no body", raw: `{"type":"TYPE"}` + "\n"},
	{name: "a null body", raw: `{"type":"TYPE","body":null}` + "\n"},
	{name: "a long line", raw: `{"type":"` + strings.Repeat("x", 1<<20), then: waits},
	{name: "a deep body", raw: `{"type":"TYPE","body":` + strings.Repeat("[", 60000) + "\n"},
}

// aboutEndpoints are lies about queue pairs.
var aboutEndpoints = []lie{
	{name: "no salt", typ: peer.TypeEndpoint, body: func(said, _ body) { delete(said, "salt") }},
	{name: "another salt", typ: peer.TypeEndpoint, noWrite: true, body: sets(body{"salt": "81985529216486895"})},
	{name: "the client's salt", typ: peer.TypeEndpoint, noWrite: true, body: func(said, client body) { said["salt"] = client["salt"] }},
	{name: "another queue pair", typ: peer.TypeEndpoint, body: sets(body{"qpn": 1})},
	{name: "silence", typ: peer.TypeEndpoint, then: waits},
}

// lies are all of them.
func lies() []lie {
	var all []lie
	for _, l := range aboutResults {
		l.typ = peer.TypeResults
		all = append(all, l)
	}
	all = append(all, aboutEndpoints...)
	for _, typ := range []string{peer.TypeResults, peer.TypeHello, peer.TypePorts, peer.TypeSelected, peer.TypeReady, peer.TypeEndpoint, peer.TypePrepared} {
		for _, l := range anywhere {
			if l.name == "a null body" && typ == peer.TypePrepared {
				continue // it has none
			}
			l.typ, l.raw = typ, strings.ReplaceAll(l.raw, "TYPE", typ)
			all = append(all, l)
		}
	}
	return all
}

// liar stands between a client and an honest server, and lies in the server's place.
type liar struct {
	lie    lie
	server string
	told   chan struct{} // closed when it has lied
	once   sync.Once
}

// listens takes connections until the test ends.
func (l *liar) listens(t *testing.T) (addr string) {
	t.Helper()
	door, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { door.Close() })
	go func() {
		for {
			c, err := door.Accept()
			if err != nil {
				return
			}
			go l.between(c)
		}
	}()
	return door.Addr().String()
}

// between is one connection.
func (l *liar) between(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		return
	}
	defer server.Close()
	var mu sync.Mutex
	said := body{} // by the client, last
	go func() {
		defer server.Close()
		for lines := bufio.NewReader(client); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			mu.Lock()
			said = bodyOf(line)
			mu.Unlock()
			if l.lie.typ == peer.TypeEnd && said["sent"] != nil {
				line = l.instead(line, said)
				l.once.Do(func() { close(l.told) })
			}
			if _, err := server.Write(line); err != nil {
				return
			}
		}
	}()
	for lines := bufio.NewReader(server); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m peer.Message
		if json.Unmarshal(line, &m) == nil && m.Type == l.lie.typ {
			mu.Lock()
			line = l.instead(line, said)
			mu.Unlock()
			l.once.Do(func() { close(l.told) })
		}
		if _, err := client.Write(line); err != nil {
			return
		}
		if m.Type == l.lie.typ && l.lie.then != nil {
			l.lie.then(client)
			return
		}
	}
}

func bodyOf(line []byte) body {
	var m struct {
		Body body `json:"body"`
	}
	_ = json.Unmarshal(line, &m) // what is none has no body
	return m.Body
}

// instead is what the client hears for a line.
func (l *liar) instead(line []byte, client body) []byte {
	if l.lie.body == nil {
		return []byte(l.lie.raw)
	}
	b := bodyOf(line)
	l.lie.body(b, client)
	raw, err := json.Marshal(map[string]any{"type": l.lie.typ, "body": b})
	if err != nil {
		return nil
	}
	return append(raw, '\n')
}

// Whatever a peer says, nothing is confirmed that it has not shown, the run ends
// within its bound, and the server behind it serves the next one.
func TestLyingPeer(t *testing.T) {
	t.Parallel()
	needLibrary(t)
	for i, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			device := "l" + string(rune('a'+i))
			server := serves(t, wire, device)
			all := lies()
			every := 1
			if wire != "ok" {
				every = len(all) / part(len(all)/3) // what never arrives is not asked for
			}
			for k, lie := range all {
				if k%every != 0 || k >= len(aboutResults)+len(aboutEndpoints)+len(anywhere) && part(3) < 3 && k%4 != i {
					continue
				}
				t.Run(lie.typ+"/"+lie.name, func(t *testing.T) {
					l := &liar{lie: lie, server: server.addr, told: make(chan struct{})}
					p := newPlace(t)
					o := p.finish(t, p.wired(t, wire, device, "probe", "-d", "bad"+device, "--rc", "--pingpong", "--write",
						"--require", "pingpong.rc", "--timeout", "4s", "--iters", "20", "--peer", l.listens(t)))
					l.judge(t, wire, o, "bad"+device)
				})
			}
			p := newPlace(t)
			o := p.finish(t, p.wired(t, wire, device, "probe", "-d", "bad"+device, "--rc", "--pingpong", "--timeout", "20s", "--peer", server.addr))
			o.proved(t, "bad"+device, "pingpong.rc", wire)
		})
	}
}

// A server confirms nothing either of which its client does not show that it came
// back.
func TestLyingClient(t *testing.T) {
	t.Parallel()
	needLibrary(t)
	for i, lie := range []lie{
		{name: "no digest", typ: peer.TypeEnd, body: func(said, _ body) { delete(said, "digest") }},
		{name: "another digest", typ: peer.TypeEnd, body: sets(body{"digest": "81985529216486895"})},
		{name: "nothing came back", typ: peer.TypeEnd, body: sets(body{"received": 0})},
	} {
		t.Run(lie.name, func(t *testing.T) {
			t.Parallel()
			device := "c" + string(rune('a'+i))
			server := serves(t, "ok", device)
			l := &liar{lie: lie, server: server.addr, told: make(chan struct{})}
			p := newPlace(t)
			o := p.finish(t, p.wired(t, "ok", device, "probe", "-d", "bad"+device, "--rc", "--pingpong", "--timeout", "1m", "--peer", l.listens(t)))
			o.proved(t, "bad"+device, "pingpong.rc", "ok")
			<-l.told
			server.end(t).proved(t, "good"+device, "pingpong.rc", "none")
		})
	}
}

// judge looks at the run that heard the lie.
func (l *liar) judge(t *testing.T, wire string, o *outcome, device string) {
	t.Helper()
	heard := false
	select {
	case <-l.told:
		heard = true
	default:
	}
	if !heard && wire == "ok" {
		t.Error("the lie was not told")
	}
	for _, id := range []string{"pingpong.rc", "op.rdma_write"} {
		r := row(o.doc, device, id, "", 0)
		switch {
		case r == nil:
			t.Errorf("%s: no row", id)
		case r.Level != rdma.CapabilityUnknown && !(l.lie.noWrite && id == "op.rdma_write" && wire == "ok"):
			t.Errorf("%s is %s: %v", id, r.Level, r.Data)
		case heard && wire == "ok" && l.lie.typ == peer.TypeResults && l.lie.name != "a wrong byte" && id == "pingpong.rc" && r.Reason != probe.Unproven:
			t.Errorf("%s is unknown (%s): %s", id, r.Reason, r.Detail)
		}
	}
	if o.exit != probe.ExitFinding {
		t.Errorf("exit %d: %+v", o.exit, o.doc.Findings)
	}
}
