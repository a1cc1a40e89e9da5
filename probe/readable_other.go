//go:build !unix

package probe

import (
	"errors"
	"time"
)

// readable is never reached: nothing is probed on this system.
func readable(int, time.Duration) (bool, error) { return false, errors.ErrUnsupported }
