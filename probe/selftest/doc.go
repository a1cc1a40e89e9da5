// Package selftest checks that this build works on this machine, without
// touching any device: that what the probes rest on does what they take it to
// do. It is for machines that nobody of the project has, and for builds whose
// results are to be believed.
//
// It promises:
//
//   - The checks of the call path go through the very wrappers of package rdma
//     that call a provider. In the provider's place are functions of the C
//     library, whose behaviour is known, and Go functions that C calls.
//   - The verbs library is loaded in a child and nothing in it is called: no
//     device is listed, opened or asked.
//   - Whatever could take the process down, and all calls to C, happen in a
//     guarded child. What a child did not get to has failed, and says how the
//     child ended.
//   - A check that cannot be made here is skipped, with the reason. That is no
//     failure: a system without a verbs library passes.
//   - All of it ends within a bound, and leaves no process and no file behind.
package selftest
