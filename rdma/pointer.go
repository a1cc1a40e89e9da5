package rdma

import "strconv"

// edge is the part at either end of the addresses where nothing can lie: the
// smallest page. What a library gives from there is a NULL that something was added
// to, a -1 or a negative errno, and a look at it would end the process as if this
// package had followed a nil pointer.
const edge = 4096

// nowhere tells whether an address cannot be one. It holds for 0.
func nowhere(addr uintptr) bool { return addr+edge < 2*edge }

// pointer is the result of a verb that returns one.
func (o outcome) pointer() (uintptr, error) {
	switch {
	case o.result == 0:
		return 0, o.failure(FailureNilProviderResult, 0, o.errno)
	case nowhere(o.result):
		return 0, o.failure(FailureInvalidProviderResult, int(o.result), o.errno)
	}
	return o.result, nil
}

// invalidPointer describes an address that was read from what the provider made,
// and cannot be one; what says which.
func invalidPointer(v verb, what string, addr uintptr) *ProviderError {
	return &ProviderError{
		Operation: v.String(), Failure: FailureInvalidProviderResult, Result: what, Return: int64(addr), Cause: ErrInvalidProviderResult,
	}
}

// addressText is an address as C prints it.
func addressText(value int64) string { return "0x" + strconv.FormatUint(uint64(value), 16) }
