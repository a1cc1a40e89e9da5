package probe

import (
	"errors"

	"rdmaprobe/rdma"
)

// reasonOfErrno maps the names that both platforms share to a reason. Whatever
// is not here is provider_error: the number and the name are in the row.
var reasonOfErrno = map[string]Reason{
	"EACCES": Permission, "EPERM": Permission,
	"ENOMEM": Exhausted, "ENOSPC": Exhausted, "EMFILE": Exhausted, "ENFILE": Exhausted, "EAGAIN": Exhausted,
	"EINVAL":    Invalid,
	"ETIMEDOUT": Unreachable, "EHOSTUNREACH": Unreachable, "ENETUNREACH": Unreachable, "EHOSTDOWN": Unreachable,
	"ECONNREFUSED": Unreachable, "ECONNRESET": Unreachable,
}

// judge gives the level of a call that failed. Only a provider's own "not
// supported", and only where something was to be created or done, is rejected.
func judge(class Class, platform rdma.Platform, err error) (rdma.Capability, Reason) {
	var pe *rdma.ProviderError
	if errors.Is(err, rdma.ErrSymbolUnavailable) {
		return rdma.CapabilityUnknown, SymbolMissing
	}
	if !errors.As(err, &pe) {
		return rdma.CapabilityUnknown, ProviderError
	}
	if pe.Failure == rdma.FailureInvalidProviderResult {
		return rdma.CapabilityUnknown, Invalid
	}
	n := 0 // a return that is no errno, such as -1, says only that it failed
	if pe.ErrnoSet {
		n = pe.Errno
	}
	if class >= ClassCreate && rdma.UnsupportedErrnoOn(platform, n) {
		return rdma.CapabilityRejected, ""
	}
	if r, ok := reasonOfErrno[rdma.ErrnoNameOn(platform, n)]; ok {
		return rdma.CapabilityUnknown, r
	}
	return rdma.CapabilityUnknown, ProviderError
}

// errnoOf is the errno that a failed call gave, nil when it left none.
func errnoOf(platform rdma.Platform, err error) *Errno {
	var pe *rdma.ProviderError
	if !errors.As(err, &pe) || !pe.ErrnoSet || pe.Errno == 0 {
		return nil
	}
	return &Errno{Number: pe.Errno, Name: rdma.ErrnoNameOn(platform, pe.Errno), Platform: platform}
}

// errnoIs tells whether a failed call gave the errno of that name, in the numbers
// of the library in use.
func errnoIs(err error, name string) bool {
	var pe *rdma.ProviderError
	return errors.As(err, &pe) && pe.ErrnoSet && rdma.ErrnoName(pe.Errno) == name
}

// returnOf is what a failed call returned, nil when it was not made.
func returnOf(err error) *Return {
	var pe *rdma.ProviderError
	switch {
	case !errors.As(err, &pe) || !pe.ReturnSet:
		return nil
	case pe.Failure == rdma.FailureNilProviderResult:
		return &Return{Pointer: true, Null: true}
	case pe.Failure == rdma.FailureInvalidProviderResult:
		return &Return{Pointer: true}
	}
	return &Return{Number: pe.Return}
}

// failureOf is the binding's own class of a failure.
func failureOf(err error) rdma.FailureClass {
	var pe *rdma.ProviderError
	if errors.As(err, &pe) {
		return pe.Failure
	}
	return ""
}
