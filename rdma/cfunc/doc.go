// Package cfunc lends what checks of the call path need in a provider's place:
// functions of the C library, whose behaviour is known, and Go functions that C
// can call. A library is made of them with rdma.NewLibrary, under any verb's name
// whose arguments fit; the verb's wrapper then calls them like a provider.
//
// Where the binding cannot call C, Supported is false and there is nothing.
package cfunc
