// Package abi mirrors the C structs that the provider allocates and that both
// sides of the binding look into: package rdma reads them, the simulated
// provider fills them. The structs that a caller fills are in package rdma.
//
// Layout is that of infiniband/verbs.h on LP64 systems. Linux and Darwin differ
// only in the size of pthread_mutex_t (MutexSize), so only fields behind a
// mutex move. Pointer fields point to memory outside the Go heap: C's own, or
// mapped.
package abi
