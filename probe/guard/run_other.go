//go:build !(linux || darwin || freebsd)

package guard

import "context"

// Run returns ErrUnsupported on this system.
func Run(_ context.Context, s Spec, _ func(Message)) (Result, error) {
	if s.Conn != nil {
		s.Conn.Close()
	}
	return Result{}, ErrUnsupported
}
