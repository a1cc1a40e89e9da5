// Package hostfacts reads what can be known of a machine without loading the
// verbs library: from files, from system calls, and from the system's own
// programs under a deadline. It never opens a device and needs no root.
//
// Absent is absent: a fact that could not be read is nil and is named, with the
// reason, in the list of what was not read. Broken input is an error of its
// source and nothing else; zero is a measurement.
package hostfacts
