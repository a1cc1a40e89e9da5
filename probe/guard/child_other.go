//go:build !(linux || darwin || freebsd)

package guard

// Enter returns ErrUnsupported on this system.
func Enter() (*Child, error) { return nil, ErrUnsupported }

// endGroup has nothing to end: there is no child.
func endGroup() {}
