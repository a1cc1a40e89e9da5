package rdma

import (
	"errors"
	"fmt"
)

// Sentinels of the failure classes, for errors.Is. Three of those of the reference are for errors that
// programs make of their own: no call of this package fails with ErrNoDevice,
// ErrProviderTimeout or ErrUnsupportedOperation.
var (
	// ErrNoDevice: no RDMA device matched the requested operation. A list without
	// devices is no error here.
	ErrNoDevice = errors.New("rdma: no device")

	// ErrSymbolUnavailable: the library, a symbol of it, or the provider's entry
	// for an inline verb is not there. Nothing was called.
	ErrSymbolUnavailable = errors.New("rdma: symbol unavailable")

	// ErrNilInput: a nil handle or pointer was passed. Nothing was called.
	ErrNilInput = errors.New("rdma: nil input")

	// ErrNilProviderResult: the provider returned NULL.
	ErrNilProviderResult = errors.New("rdma: nil provider result")

	// ErrShortBuffer: a buffer is shorter than what the provider writes. Nothing was
	// called. It is beyond the reference.
	ErrShortBuffer = errors.New("rdma: short buffer")

	// ErrInvalidProviderResult: the provider gave, or has in what it made, an address
	// at which nothing can lie, or a list without an end. It is beyond the reference.
	ErrInvalidProviderResult = errors.New("rdma: invalid provider result")

	// ErrNegativeProviderReturn: the provider returned a negative number.
	ErrNegativeProviderReturn = errors.New("rdma: negative provider return")

	// ErrProviderStatus: the provider returned a positive number where zero
	// means success.
	ErrProviderStatus = errors.New("rdma: provider status")

	// ErrProviderTimeout: a bounded provider subprocess timed out.
	ErrProviderTimeout = errors.New("rdma: provider timeout")

	// ErrUnsupportedOperation: an RDMA operation that the provider, or this
	// binding, does not support.
	ErrUnsupportedOperation = errors.New("rdma: unsupported operation")
)

// ErrRDMAReadUnavailable reports that this binding does not expose RDMA READ. It
// claims nothing about the provider.
var ErrRDMAReadUnavailable = fmt.Errorf("%w: RDMA READ is not exposed by this binding", ErrUnsupportedOperation)

// FailureClass says at which point of the boundary a call failed.
type FailureClass string

// Failure classes; each has a sentinel.
const (
	FailureNoDevice               FailureClass = "no_device"
	FailureSymbolUnavailable      FailureClass = "symbol_unavailable"
	FailureNilInput               FailureClass = "nil_input"
	FailureShortBuffer            FailureClass = "short_buffer"
	FailureNilProviderResult      FailureClass = "nil_provider_result"
	FailureInvalidProviderResult  FailureClass = "invalid_provider_result"
	FailureNegativeProviderReturn FailureClass = "negative_provider_return"
	FailureProviderStatus         FailureClass = "provider_status"
	FailureProviderTimeout        FailureClass = "provider_timeout"
	FailureUnsupportedOperation   FailureClass = "unsupported_operation"
)

// sentinels of the classes, and the words Error uses for them.
var failureClasses = map[FailureClass]struct {
	sentinel error
	text     string
}{
	FailureNoDevice:               {ErrNoDevice, "no device"},
	FailureSymbolUnavailable:      {ErrSymbolUnavailable, "symbol unavailable"},
	FailureNilInput:               {ErrNilInput, "nil input"},
	FailureShortBuffer:            {ErrShortBuffer, "the buffer is too short"},
	FailureNilProviderResult:      {ErrNilProviderResult, "provider returned NULL"},
	FailureInvalidProviderResult:  {ErrInvalidProviderResult, "provider gave what cannot be"},
	FailureNegativeProviderReturn: {ErrNegativeProviderReturn, "provider returned a negative number"},
	FailureProviderStatus:         {ErrProviderStatus, "provider returned an error"},
	FailureProviderTimeout:        {ErrProviderTimeout, "provider timed out"},
	FailureUnsupportedOperation:   {ErrUnsupportedOperation, "unsupported operation"},
}
