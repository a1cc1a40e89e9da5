// Package ledger keeps evidence: an append-only file of JSON lines, one record
// a line, that outlives the runs which write it.
//
// # What is promised
//
// One record is one line and one write. A record that Append returned without
// error is whole for every later reader; one that Intent or End returned is on
// the disk. A writer that dies leaves at most one torn line at the end; the
// next writer closes that line before it writes its own, and a reader skips
// and counts it. Nothing that stands in a ledger makes a reader fail or panic.
//
// A line begins with a header in a fixed order, and ends with a checksum:
//
//	{"v":1,"kind":"observation","run":"20260102T030405-6f1d0c2b9a83","n":7,"seq":3,"at":"2026-01-02T03:04:05.6Z","body":{...},"sum":"1a2b3c4d"}
//
// The names and the meaning of the header fields and of the sum stay the same in
// all versions, so that an old program can number its runs beside a newer one.
// Only run records carry one field more, "provider", before the body. Bodies are
// the business of the caller. The sum is the CRC-32C of what stands before it. A
// line whose sum is wrong is none. Lines of programs that wrote no sum are read;
// damage of them is seen only where it makes them no JSON or no record.
//
// Records are ordered by n, the number of the run in its ledger, then by seq.
// The clock in "at" is for people; it may go back, and no order rests on it.
//
// A ledger belongs to one provider. Opening it for another one is refused with
// a ForeignError, and the user's own native ledger is refused to a simulated
// provider even while it is empty.
//
// # Who is alive
//
// A run holds a lock file of its own (in FILE.runs/) from Begin until End. The
// system drops the lock when the process dies, however it dies. So an intent
// without an outcome is open while RunLive is true, and interrupted after that.
// FILE.lock is the writers' lock: it is held for a moment at each record, and
// during Prune.
//
// # Errors
//
// What stands in the way of writing is a StoreError; it matches ErrNotWritable
// and says what to do. Scan needs no lock, writes nothing, and takes a missing
// file for an empty one.
package ledger
