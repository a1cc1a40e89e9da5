package rdma

import (
	"strconv"
	"strings"
)

// ProviderError describes a failure at the boundary to the provider. errors.Is
// finds the sentinel of its Failure. Errors of this package have a Cause: what was
// found below, else the sentinel.
type ProviderError struct {
	Operation   string       // the verb, by its C name
	Device      string       // the device's name, where the context or handle tells
	Context     RDMAContext  // the open device it happened on, 0 = none
	ContextOpen bool         // it happened after a context had been opened
	Failure     FailureClass // at which point
	Input       string       // nil_input: what was nil; short_buffer: what was short
	Result      string       // nil_provider_result, invalid_provider_result: what should have come
	Return      int64        // what the provider returned, 0 for NULL; the address of invalid_provider_result
	ReturnSet   bool         // Return counts: the provider was called
	Errno       int          // positive, in the numbers of the library's platform
	ErrnoSet    bool         // Errno counts: the call reported one
	Cause       error        // what was found below
}

// numbered is the sentinel of a class for an error whose Errno is not Apple's
// number: an error beside which no platform is told has Apple's, as the reference.
type numbered struct {
	class    FailureClass
	platform Platform
}

func (n numbered) Error() string { return n.Unwrap().Error() }

// Unwrap is the sentinel.
func (n numbered) Unwrap() error { return failureClasses[n.class].sentinel }

// causeOf is the cause of a failed call of a library that speaks p's numbers.
func causeOf(class FailureClass, p Platform, errno int) error {
	if errno == 0 || p == PlatformDarwin {
		return failureClasses[class].sentinel
	}
	return numbered{class, p}
}

// platform is whose number Errno is. An error made by hand, without a cause, has
// that of the library in use.
func (e *ProviderError) platform() Platform {
	n, ok := e.Cause.(numbered)
	switch {
	case ok:
		return n.platform
	case e.Cause == nil:
		return currentPlatform()
	}
	return PlatformDarwin
}

// Error is one line: verb, device, what happened, errno.
func (e *ProviderError) Error() string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(orElse(e.Operation, "rdma"))
	if e.Device != "" {
		b.WriteString(" on " + printable(e.Device))
	}
	b.WriteString(": " + e.happened())
	if e.ErrnoSet {
		b.WriteString(": " + ErrnoTextOn(e.platform(), e.Errno))
	}
	if below := e.Unwrap(); below != nil && below != failureClasses[e.Failure].sentinel {
		b.WriteString(": " + below.Error())
	}
	return b.String()
}

// happened says in words what Failure and its details say.
func (e *ProviderError) happened() string {
	switch {
	case e.Failure == FailureNilInput && e.Input != "":
		return "nil " + e.Input
	case e.Failure == FailureShortBuffer && e.Input != "":
		return "too short: " + e.Input
	case e.Failure == FailureNilProviderResult && e.Result != "":
		return "provider returned NULL for the " + e.Result
	case e.Failure == FailureInvalidProviderResult && e.Result != "":
		return "provider gave " + addressText(e.Return) + " for the " + e.Result + ", where nothing can lie"
	case e.ReturnSet && e.Failure != FailureNilProviderResult && e.Failure != FailureInvalidProviderResult:
		return "provider returned " + strconv.FormatInt(e.Return, 10)
	}
	return orElse(failureClasses[e.Failure].text, string(e.Failure))
}

// Is reports whether target is the sentinel of the failure class.
func (e *ProviderError) Is(target error) bool {
	return e != nil && target != nil && target == failureClasses[e.Failure].sentinel
}

// Unwrap is what was found below, else the sentinel of the class; nil for a class
// that has none.
func (e *ProviderError) Unwrap() error {
	if e == nil {
		return nil
	}
	if n, ok := e.Cause.(numbered); ok {
		return n.Unwrap()
	}
	if e.Cause != nil {
		return e.Cause
	}
	return failureClasses[e.Failure].sentinel
}

// failure describes a call that was made and failed; errno 0 = none reported.
func (o outcome) failure(class FailureClass, r, errno int) *ProviderError {
	e := &ProviderError{
		Operation:   o.verb.String(),
		Device:      o.device,
		Context:     o.context,
		ContextOpen: o.context != 0,
		Failure:     class,
		Return:      int64(r),
		ReturnSet:   true,
		Errno:       errno,
		ErrnoSet:    errno != 0,
		Cause:       causeOf(class, o.lib.platform, errno),
	}
	if class == FailureNilProviderResult || class == FailureInvalidProviderResult {
		e.Result = verbTable[o.verb].result
	}
	return e
}

// nilInput describes an argument that was nil and kept from C. handle is the verb's
// first argument; 0 when that is what was nil.
func nilInput(v verb, handle uintptr, what string) *ProviderError {
	return notReached(v, handle, FailureNilInput, what)
}

// unavailable describes a verb that the library does not have; err is why there is no
// library, or nil.
func unavailable(v verb, handle uintptr, err error) *ProviderError {
	e := notReached(v, handle, FailureSymbolUnavailable, "")
	if err != nil {
		e.Cause = err
	}
	return e
}

// notReached describes a call that was not made on a handle: it is looked up, never
// looked into.
func notReached(v verb, handle uintptr, class FailureClass, what string) *ProviderError {
	e := &ProviderError{Operation: v.String(), Failure: class, Input: what, Cause: failureClasses[class].sentinel}
	switch on := verbTable[v].on; {
	case on == onContext:
		e.Context = handle
	case on > onContext:
		e.Context = knownContext(handle)
	}
	e.Device, e.ContextOpen = contextDevice(e.Context), e.Context != 0
	return e
}

// printable is s, quoted when it holds anything that a terminal might act on.
func printable(s string) string {
	if q := strconv.Quote(s); q[1:len(q)-1] != s {
		return q
	}
	return s
}

// orElse is s, or fallback when s is empty.
func orElse[T ~string](s, fallback T) T {
	if s == "" {
		return fallback
	}
	return s
}
