//go:build !(linux || darwin || freebsd)

package guard

import "context"

// Run returns ErrUnsupported on this system.
func Run(context.Context, Spec, func(Message)) (Result, error) { return Result{}, ErrUnsupported }
