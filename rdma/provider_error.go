package rdma

import (
	"strconv"
	"strings"
)

// ProviderError describes a failure at the boundary to the provider. errors.Is
// finds the sentinel of its Failure.
type ProviderError struct {
	Operation   string       // the verb, by its C name
	Device      string       // the device's name, where the context or handle tells
	Context     RDMAContext  // the open device it happened on, 0 = none
	ContextOpen bool         // it happened after a context had been opened
	Failure     FailureClass // at which point
	Input       string       // nil_input: what was nil
	Result      string       // nil_provider_result, invalid_provider_result: what should have come
	Return      int64        // what the provider returned, 0 for NULL; the address of invalid_provider_result
	ReturnSet   bool         // Return counts: the provider was called
	Errno       int          // positive, in the numbers of the library's platform
	ErrnoSet    bool         // Errno counts: the call reported one
	Cause       error        // what was found below, or nil

	platform Platform // whose number Errno is; "" = of the library in use
}

// Error is one line: verb, device, what happened, errno.
func (e *ProviderError) Error() string {
	if e == nil {
		return "<nil>"
	}
	var b strings.Builder
	b.WriteString(orElse(e.Operation, "rdma"))
	if e.Device != "" {
		b.WriteString(" on " + printable(e.Device))
	}
	b.WriteString(": " + e.happened())
	if e.ErrnoSet {
		b.WriteString(": " + ErrnoTextOn(orElse(e.platform, currentPlatform()), e.Errno))
	}
	if e.Cause != nil && e.Cause != failureClasses[e.Failure].sentinel {
		b.WriteString(": " + e.Cause.Error())
	}
	return b.String()
}

// happened says in words what Failure and its details say.
func (e *ProviderError) happened() string {
	switch {
	case e.Failure == FailureNilInput && e.Input != "":
		return "nil " + e.Input
	case e.Failure == FailureNilProviderResult && e.Result != "":
		return "provider returned NULL for the " + e.Result
	case e.Failure == FailureInvalidProviderResult && e.Result != "":
		return "provider gave " + addressText(e.Return) + " for the " + e.Result + ", where nothing can lie"
	case e.ReturnSet && e.Failure != FailureNilProviderResult:
		return "provider returned " + strconv.FormatInt(e.Return, 10)
	}
	return orElse(failureClasses[e.Failure].text, string(e.Failure))
}

// Is reports whether target is the sentinel of the failure class.
func (e *ProviderError) Is(target error) bool {
	return e != nil && target != nil && target == failureClasses[e.Failure].sentinel
}

// Unwrap is the cause, or nil.
func (e *ProviderError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
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
		platform:    o.lib.platform,
	}
	if class == FailureNilProviderResult || class == FailureInvalidProviderResult {
		e.Result = verbTable[o.verb].result
	}
	return e
}

// nilInput describes an argument that was nil and kept from C.
func nilInput(v verb, what string) *ProviderError {
	return &ProviderError{Operation: v.String(), Failure: FailureNilInput, Input: what}
}

// nilInputOf is nilInput of a verb that was given an open device. The context is
// looked up, never looked into.
func nilInputOf(context RDMAContext, v verb, what string) *ProviderError {
	e := nilInput(v, what)
	e.Device, e.Context, e.ContextOpen = contextDevice(context), context, context != 0
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
