// Package faulttest breaks providers, machines and the program itself, and looks
// whether what docs/reliability.md promises holds. It is tests only, and needs
// Linux: they look into /proc for what a run leaves behind.
//
// The fault matrix is generated: a traced run tells which provider calls each
// probe makes, and every one of them is made to fail in every way that a
// simulated provider can. Each case is one run of the real program on a machine
// with one faulty and one healthy device.
//
// A plain go test runs a seeded part; -faults=all runs everything, and with
// -update writes the summary into docs/reliability.md (make faults).
package faulttest
