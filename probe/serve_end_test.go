//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma/sim"
)

// Whoever ends a server in good order while it begins meets its children at any
// point, also before they can be asked to end: none of that is an event.
func TestServeEndsInOrderWhileItBegins(t *testing.T) {
	m := newLinux(t)
	profile, err := json.Marshal(m.profile)
	if err != nil {
		t.Fatal(err)
	}
	s := tryServer(t, m, nil) // for an address that is free
	s.end()
	for wait, listens := time.Duration(0), false; !listens && wait < time.Minute; wait += wait/4 + time.Millisecond {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		o := ServeOptions{Listen: []string{s.addr}, Orderly: func() bool { return true }, Say: func(string) { listens = true }}
		o.Provider, o.Store = ProviderOptions{Profile: profile, Name: "machine"}, noStore
		d, err := Serve(ctx, o)
		cancel()
		if err != nil && strings.Contains(err.Error(), syscall.EADDRINUSE.Error()) {
			return // somebody else has taken it: then it has come as far as to listen
		}
		if err != nil || d.Exit != ExitOK {
			t.Errorf("ended after %v: %v, exit %d, notes %q", wait, err, d.Exit, d.Notes)
		}
		for _, r := range d.Observations {
			if r.Child != nil && r.Child.Outcome != guard.Completed && (r.Child.contained() || r.Reason == Timeout || r.Reason == Crash) {
				t.Errorf("ended after %v: %s is %q, %s, as of a child that is %s", wait, r.ID, r.Reason, r.Detail, r.Child.Outcome)
			}
		}
	}
}

// Every word in capitals of a line for the other host is explained, and none that is
// in no line.
func TestReachedBy(t *testing.T) {
	const run, iface, host = "on the other host: rdmaprobe probe --uc --pingpong --peer ", "INTERFACE is", "THIS_HOST is"
	for _, tt := range []struct{ addresses, want []string }{
		{[]string{"127.0.0.1:18516", "[::1]:18516"}, nil},
		{[]string{"127.0.0.1:18516", "192.0.2.1:18516"}, []string{run + "192.0.2.1:18516"}},
		{[]string{"[fe80::1%eth0]:18516"}, []string{run + "'[fe80::1%INTERFACE]:18516'", iface}},
		{[]string{"0.0.0.0:1", "[fe80::1%eth0]:2"}, []string{run + "THIS_HOST:1", run + "'[fe80::1%INTERFACE]:2'", iface, host}},
	} {
		got := reachedBy(tt.addresses)
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%v: %q, want %q", tt.addresses, got, tt.want)
		}
	}
}

// A server tells of each address once, also of one that comes later, and says when
// no other host reaches it.
func TestServeSaysHow(t *testing.T) {
	var said []string
	v := &server{
		run: &run{},
		o:   &ServeOptions{Say: func(line string) { said = append(said, line) }}, told: map[string]bool{},
		listeners: map[string]net.Listener{"127.0.0.1:18516": nil},
	}
	for _, want := range []int{2, 2} { // the address, and that nobody reaches it
		if v.sayHow(); len(said) != want {
			t.Fatalf("said %q, want %d lines", said, want)
		}
	}
	if !strings.HasPrefix(said[1], "no other host reaches that") || !strings.Contains(said[1], "--listen ADDRESS:18516 --allow NETWORK") {
		t.Errorf("said %q", said[1])
	}
	v.listeners["[fe80::1%en4]:18516"] = nil
	if v.sayHow(); len(said) != 5 || said[2] != "listening on [[fe80::1%en4]:18516]" {
		t.Errorf("said %q", said)
	}
	v.profile, v.told, said = &sim.Profile{}, map[string]bool{}, nil
	if v.sayHow(); len(said) != 2 || !strings.HasPrefix(said[1], "this end is simulated") {
		t.Errorf("simulated, it said %q", said)
	}
}

// Who listens on every address listens on each: no second listener is tried there,
// which systems refuse, and the port's addresses are announced for pairing.
func TestServeListensOnEveryAddressOnce(t *testing.T) {
	for network, six := range map[string]bool{"tcp": true, "tcp4": false} {
		l, err := net.Listen(network, "0.0.0.0:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		own, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
		v := &server{listeners: map[string]net.Listener{"0.0.0.0:" + port: l, own.Addr().String(): own}}
		if dual := strings.HasPrefix(l.Addr().String(), "[::]"); six && !dual {
			t.Skip("NOT CHECKED: this system has no listener for both kinds of address")
		}
		for address, want := range map[string]bool{
			"127.0.0.1:" + port: true, "192.0.2.1:" + port: true, "[::1]:" + port: six, "[fe80::1%en4]:" + port: six,
			"127.0.0.1:1": false, own.Addr().String(): true, strings.Replace(own.Addr().String(), "127.0.0.1", "127.0.0.2", 1): false,
		} {
			if got := v.taken(address); got != want {
				t.Errorf("%s on %v: taken %v, want %v", network, address, got, want)
			}
		}
	}
}
