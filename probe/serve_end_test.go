//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/probe/guard"
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
