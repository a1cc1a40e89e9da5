package report

import (
	"fmt"
	"time"
)

// age says how old something is, in one short word: now, 3m, 5h, 2d, 1y. What
// lies ahead of the reader's clock is "future": clocks differ, and no guess
// is better than saying so.
func age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case d < -time.Minute:
		return "future"
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 2*365*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return fmt.Sprintf("%dy", d/(365*24*time.Hour))
}

// localTime is a time in the zone of the reader's clock, with its offset.
func localTime(now, t time.Time) string {
	return t.In(now.Location()).Format("2006-01-02 15:04:05 -0700")
}

// took is a duration in a unit that a person reads, three digits at most after
// the point; 0 was not measured.
func took(ns int64) string {
	d := time.Duration(ns)
	switch {
	case ns == 0:
		return ""
	case d < 10*time.Microsecond:
	case d < 10*time.Millisecond:
		d = d.Round(time.Microsecond)
	default:
		d = d.Round(time.Millisecond)
	}
	return d.String()
}
