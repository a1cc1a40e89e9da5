// Package probe finds out what an RDMA provider can really do, and keeps the
// evidence.
//
// A probe is one attempt at one thing on one device, made in a child process of
// its own: the calling process never loads a verbs library, so a provider that
// crashes, hangs or cannot be killed takes a child with it and nothing else.
// The probes are the rows of one table (table.go); a new one is a file with its
// body and a row.
//
// What a child sees becomes observations. An observation has one of four
// levels:
//
//   - confirmed: the call succeeded; for a data path, the receiver checked the
//     bytes.
//   - rejected: the provider itself said "not supported".
//   - observed_zero: the call succeeded and the value or count was zero.
//   - unknown: everything else, always with a reason from a closed list.
//
// No level is derived from another, and none from silence. Observations go into
// the ledger (package ledger) and into a Document, from which package report
// makes what people and programs read; findings are conclusions from both
// observations and host facts.
//
// A program that uses this package must call Main as the first statement of its
// own main function: a probe's child is the same executable, run again.
package probe
