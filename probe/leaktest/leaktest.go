// Package leaktest looks for goroutines that tests have left behind, with the
// patience that a busy machine needs. Tests import it.
package leaktest

import (
	"time"

	"go.uber.org/goleak"
)

// Find is goleak.Find, which waits half a second for what is about to end, for
// half a minute. Where nothing is left it returns at once.
func Find(options ...goleak.Option) error {
	for end := time.Now().Add(30 * time.Second); ; {
		if err := goleak.Find(options...); err == nil || time.Now().After(end) {
			return err
		}
	}
}
