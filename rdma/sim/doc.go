// Package sim is a simulated verbs provider, driven by a profile: a JSON file
// that describes a machine, its devices, and how each verb answers.
//
// New builds a provider, and Provider.Library the symbol table that package rdma
// calls. The functions in it are Go callbacks with C's calling convention and the
// objects lie in C layout in mapped memory, so the binding above cannot tell the
// difference: the same struct offsets, the same errno rules, the same dispatch
// through struct ibv_context_ops.
//
// # What it promises
//
// It plays public reports, not a Mac. Nobody has compared it with Apple's
// provider; a profile says where each of its rules was reported and how sure
// that is. It shows that a program survives what was reported and names it
// correctly. It never shows what a real provider does.
//
// What no rule decides follows infiniband/verbs.h and the kernel's table of
// queue pair states: the order of states and the attributes each step needs
// (EINVAL), memory keys and bounds, receives that are missing or too short,
// completions, flushes, and the order of teardown (EBUSY). On a Thunderbolt
// transport it adds what Apple's TN3205 says, and public reports: message frames
// of 4096 bytes that must match, ten queue pairs, rkey 0, ESRCH on a port that
// is not ACTIVE.
//
// A NULL handle crashes, as in C. A handle that is not live gives EINVAL, as the
// kernel answers one it does not know.
//
// # Faults
//
// A rule can crash, abort, exit, hang or block the process for good, in C, with
// no lock held. They are real: run them in a process that may die. Only "stuck"
// and "hang_term" need the caller's help, who learns of them from
// Options.OnFault.
//
// # Processes and threads
//
// A Provider may be used by several threads, and several Providers may live in
// one process. Callbacks are registered once for the process and find their
// objects by handle, since Go can never release a callback.
package sim
