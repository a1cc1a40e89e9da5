package peer

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// checker is every body of a message.
type checker interface{ Check() error }

func honest() map[string]checker {
	port := Port{
		Device: "rdma_en4", Num: 1, LinkLayer: "thunderbolt", State: "active", Netdev: "en4", MTU: 4096, GIDIndex: 1, GID: "::ffff:169.254.20.1",
		Addresses: []string{"[fe80::200:5eff:fe00:5301]:18516", "169.254.20.1:18516"}, Proof: []string{"169.254.20.1:40000"},
	}
	return map[string]checker{
		TypeHello:    Hello{Version: Version, Role: RoleSession, Tool: "rdmaprobe 1.0", OS: "macos", OSBuild: "25C56", Host: "mac-a"},
		TypePorts:    Ports{Ports: []Port{port, {Device: "mlx5_0", Num: 1, GIDIndex: -1, LID: 3}}, Writes: true},
		TypeNonce:    Nonce{Nonce: NewToken(), Echo: NewToken()},
		TypePaired:   Paired{Nonce{NewToken(), NewToken()}, "rdma_en4", 1},
		TypeSelect:   Select{"rdma_en4", 1, port},
		TypeSelected: Selected{port},
		TypeTask:     Task{Probe: "pingpong", Type: "uc", Sizes: []int{64, 4096}, Iterations: 100, Loss: time.Second, Timeout: 20 * time.Second},
		TypeReady:    Ready{NewToken(), time.Minute},
		TypeEndpoint: Endpoint{Device: "rdma_en4", QPN: 0xffffff, PSN: 1, Salt: 1<<64 - 1, GID: "::ffff:169.254.20.1", MTU: 4096, Addr: 1 << 63, Length: 64, RKey: 7},
		TypeRound:    Round{64, 110, 1},
		TypeEnd:      End{Sent: 110, Received: 109, Digest: 1 << 63},
		TypeWritten:  Written{64, 1},
		TypeResults:  Results{Received: 110, Verified: 109, Mismatch: "message 3", Digest: 1<<64 - 1},
		TypeDone:     Done{"completed", ""},
	}
}

func TestHonestMessagesPass(t *testing.T) {
	all := honest()
	if len(all) == 0 {
		t.Fatal("nothing to check")
	}
	for name, m := range all {
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(m))
		// A field of a newer version is ignored.
		raw = append(raw[:len(raw)-1], `,"of_the_future":[{}]}`...)
		if err := json.Unmarshal(raw, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), any(m)) {
			t.Errorf("%s does not come back: %v\n%s\n%+v", name, err, raw, back.Elem().Interface())
		}
	}
}

// What goes through Text is never refused at the other end, and short texts stay.
func TestTextPasses(t *testing.T) {
	for _, in := range []string{"", "the child died", strings.Repeat("x", 500), strings.Repeat("ü", 150), "x" + strings.Repeat("世", 100), "a\x1b[2J\n\u202eb", "\xff\xfe", strings.Repeat(" ", 300)} {
		if err := (Done{Outcome: "crashed", Detail: Text(in)}).Check(); err != nil {
			t.Errorf("%.20q: %v", in, err)
		}
	}
	if got := Text("the child died"); got != "the child died" {
		t.Errorf("%q", got)
	}
}

func TestHostileMessagesAreRefused(t *testing.T) {
	hello := func(f func(*Hello)) checker {
		h := honest()[TypeHello].(Hello)
		f(&h)
		return h
	}
	port := func(f func(*Port)) checker {
		p := honest()[TypeSelected].(Selected).Port
		f(&p)
		return Select{Device: "d", Num: 1, Mine: p}
	}
	task := func(f func(*Task)) checker {
		v := honest()[TypeTask].(Task)
		f(&v)
		return v
	}
	end := func(f func(*Endpoint)) checker {
		v := honest()[TypeEndpoint].(Endpoint)
		f(&v)
		return v
	}
	for name, m := range map[string]checker{
		"no version":          hello(func(h *Hello) { h.Version = "" }),
		"version of words":    hello(func(h *Hello) { h.Version = "new.1" }),
		"endless version":     hello(func(h *Hello) { h.Version = "1." + strings.Repeat("0", 100) }),
		"no role":             hello(func(h *Hello) { h.Role = "" }),
		"endless token":       hello(func(h *Hello) { h.Token = strings.Repeat("a", 65) }),
		"escape in a name":    hello(func(h *Hello) { h.Host = "mac\x1b[2J" }),
		"reversed text":       hello(func(h *Hello) { h.Tool = "a\u202eb" }),
		"long name":           hello(func(h *Hello) { h.OSBuild = strings.Repeat("x", 201) }),
		"port 0":              port(func(p *Port) { p.Num = 0 }),
		"GID index":           port(func(p *Port) { p.GIDIndex = -2 }),
		"GID of a zone":       port(func(p *Port) { p.GID = "fe80::1%en0" }),
		"GID of words":        port(func(p *Port) { p.GID = "localhost" }),
		"short IPv4 GID":      port(func(p *Port) { p.GID = "192.0.2.1" }),
		"odd MTU":             port(func(p *Port) { p.MTU = 1500 }),
		"LID":                 port(func(p *Port) { p.LID = 1 << 16 }),
		"address of a name":   port(func(p *Port) { p.Addresses = []string{"example.com:80"} }),
		"address with a zone": port(func(p *Port) { p.Addresses = []string{"[fe80::1%eth0]:80"} }),
		"too many addresses":  port(func(p *Port) { p.Proof = make([]string, 17) }),
		"too many ports":      Ports{Ports: make([]Port, maxPorts+1)},
		"a bad port":          Ports{Ports: []Port{{}}},
		"long nonce":          Nonce{Nonce: strings.Repeat("a", 65)},
		"name of a pair":      Paired{Device: "\x00"},
		"name of a selection": Select{Device: "\n", Num: 1},
		"probe":               task(func(v *Task) { v.Probe = "mr" }),
		"type":                task(func(v *Task) { v.Type = "ud" }),
		"no sizes":            task(func(v *Task) { v.Sizes = nil }),
		"size 0":              task(func(v *Task) { v.Sizes = []int{0} }),
		"huge size":           task(func(v *Task) { v.Sizes = []int{maxSize + 1} }),
		"too many sizes":      task(func(v *Task) { v.Sizes = make([]int, MaxSizes+1) }),
		"no iterations":       task(func(v *Task) { v.Iterations = 0 }),
		"huge iterations":     task(func(v *Task) { v.Iterations = maxCount + 1 }),
		"no timeout":          task(func(v *Task) { v.Timeout = 0 }),
		"endless timeout":     task(func(v *Task) { v.Timeout = 26 * time.Hour }),
		"loss above timeout":  task(func(v *Task) { v.Loss = v.Timeout + 1 }),
		"negative timeout":    Ready{Timeout: -1},
		"QPN":                 end(func(v *Endpoint) { v.QPN = 1 << 24 }),
		"PSN":                 end(func(v *Endpoint) { v.PSN = 1 << 24 }),
		"no MTU":              end(func(v *Endpoint) { v.MTU = 0 }),
		"negative target":     end(func(v *Endpoint) { v.Length = -1 }),
		"device":              end(func(v *Endpoint) { v.Device = "\x1b" }),
		"empty round":         Round{Size: 64},
		"huge round":          Round{Size: maxSize + 1, Count: 1},
		"negative end":        End{Sent: -1},
		"more answers":        End{Sent: 3, Received: 4},
		"negative answers":    End{Sent: 3, Received: -1},
		"empty write":         Written{},
		"more than arrived":   Results{Received: 1, Verified: 2},
		"negative results":    Results{Received: -1, Verified: -1},
		"mismatch":            Results{Mismatch: "\x1b"},
		"outcome":             Done{Outcome: strings.Repeat("x", 300)},
	} {
		var f *Failure
		if err := m.Check(); !errors.As(err, &f) || f.Code != CodeInvalid {
			t.Errorf("%s: %v, want it invalid", name, err)
		} else if strings.ContainsAny(f.Text, "\x1b\n\x00") || len(f.Text) > 300 {
			t.Errorf("%s: the refusal repeats what it refuses: %q", name, f.Text)
		}
	}
}

// Another major version, older or newer, is refused with a word that says what to do.
func TestVersions(t *testing.T) {
	h := honest()[TypeHello].(Hello)
	for version, ok := range map[string]bool{"2.0": true, "2.7": true, "2": true, "1.0": false, "1.7": false, "3.0": false, "20.0": false} {
		h.Version = version
		err := h.Check()
		var f *Failure
		if ok != (err == nil) || !ok && (!errors.As(err, &f) || f.Code != CodeVersion || !strings.Contains(f.Text, "same release")) {
			t.Errorf("version %s: %v", version, err)
		}
	}
}
