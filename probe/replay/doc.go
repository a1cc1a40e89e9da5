// Package replay makes a simulated machine out of a recorded document, and proves
// that it is one: a profile (package sim) that answers as the document says the
// provider did.
//
// Derive writes the profile: devices, ports, GID tables, limits and attributes as
// they stand in the document, the library with the symbols that it lacked, the
// host's facts, and a rule for each call that did not simply succeed. Import then
// has the recorded commands run on it, by the same engine and in the same kind of
// children, and compares. A profile that answers differently in one place is no
// result but a *DifferError, which names the places.
//
// # What is compared
//
// The library (loaded or not, its error, symbols, build), the host's facts, each
// device with its ports and GID tables, and each observation: device, port, id and
// probe, level, reason, call, return, errno, failure class, value, parameters,
// data and how its child ended. Of rows that were not tried only level and reason
// count.
//
// Not compared is what no second run could repeat: times, process ids, queue pair
// and packet sequence numbers, how many calls a data probe made; what only a
// native run has: the name of a GID's own interface, where the other end of a
// connection was; and what follows from the rest: texts, capabilities, findings.
//
// # What cannot be replayed
//
// A *CannotError says so in words, before anything is run: a report of several
// hosts, an interrupted run, a connection to another host, the answering end of
// one, what an earlier run or another process had closed, and a provider that
// answered the same call differently in two children. A rule knows nothing of the
// child it is asked in.
package replay
