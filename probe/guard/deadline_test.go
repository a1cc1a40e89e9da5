//go:build linux || darwin || freebsd

package guard

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// What the helper "renews" does, and the deadline that it has for that: shorter
// than all of it, longer than one renewal and a slow start, as under an emulator.
const (
	renewals   = 4
	renewAfter = 1500 * time.Millisecond
	renewSoft  = 5 * time.Second
)

// A child whose parent agrees has a whole deadline after each renewal, and no more
// of them than the parent grants.
func TestRenewedDeadline(t *testing.T) {
	for _, tt := range []struct {
		name    string
		granted int
		want    string
	}{
		{"granted", renewals, `done "\u003cnil\u003e"`},
		{"refused", 0, `done "asked to end"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := Spec{Soft: renewSoft, Ladder: Ladder{Term: 100 * time.Millisecond, Kill: time.Minute, GiveUp: time.Minute}}
			granted := tt.granted
			s.Renews = func(m Message) bool {
				granted--
				return m.Type == "renewed" && granted >= 0
			}
			res, got := runChild(t, s.as("renews"))
			if res.Outcome != Completed || !slices.Contains(got, tt.want) {
				t.Errorf("%s: %q", res.Outcome, got)
			}
		})
	}
}

// Once the context has ended, whatever ended it, no deadline begins any more.
func TestClock(t *testing.T) {
	c := newClock(time.Hour, time.Hour)
	first := c.context()
	if !c.renew() || first.Err() == nil || c.context().Err() != nil {
		t.Errorf("renewed: %v before, %v after", first.Err(), c.context().Err())
	}
	c.terminate()
	if err := context.Cause(c.context()); c.renew() || !errors.Is(err, ErrTerminated) {
		t.Errorf("after SIGTERM: %v", err)
	}
	for name, end := range map[string]func(*clock){"the deadline": func(*clock) {}, "SIGTERM after it": (*clock).terminate} {
		c := newClock(0, time.Hour)
		end(c)
		if err := context.Cause(c.context()); c.renew() || !errors.Is(err, ErrDeadline) {
			t.Errorf("after %s: %v", name, err)
		}
	}
}
