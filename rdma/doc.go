// Package rdma calls the RDMA verbs library of the running system without cgo:
// Apple's librdma.dylib on macOS 26.2 and later, libibverbs.so.1 on Linux.
//
// The library is opened at the first use, never linked. A symbol it lacks is
// an error of the call that needs it, ErrSymbolUnavailable, and nothing else. On
// every other operating system the package builds and each call returns that
// error.
//
// # What an error means
//
// Every failure at the boundary is a *ProviderError. Its Failure says what
// happened: the provider was never reached (symbol_unavailable, nil_input,
// short_buffer), it returned NULL (nil_provider_result), an address at which nothing can
// lie or a list without an end (invalid_provider_result), a negative number
// (negative_provider_return), or a positive one (provider_status). The int beside an
// error is what the provider returned, 0 where it was not called. Errno is set
// only where the call reported one; a NULL with errno left alone stays without.
// Numbers are those of the platform the library speaks for, Library.Platform:
// 102 is EOPNOTSUPP from a Mac and ENETRESET from Linux.
//
// A nil handle or pointer never reaches C, since C would fault on it where no Go
// recover can help. A handle that is not nil is trusted, as C trusts it.
//
// # One at a time
//
// Control verbs of a Mac's library do not overlap in a process: public reports say
// that overlapping calls wedge Apple's provider. The data path (post, poll, notify,
// events) is not held up. A control verb that never returns holds the others for good.
//
// # Memory
//
// What the provider keeps after a call has returned (work requests until they
// are posted, buffers until they are deregistered) must not be Go memory. Take
// it from MapBuffer. Structs that are read or filled within one call (attributes,
// GIDs, completions) may be anything.
//
// # Beyond the verbs
//
// Open, Use and NewLibrary choose the library, also a simulated one. Names turn
// numbers into words; a number without a name survives as unknown(77).
package rdma
