// Package hostfacts reads what can be known of a machine without loading the
// verbs library: from files, from system calls, and from the system's own
// programs under a deadline. It never opens a device and needs no root.
//
// Absent is absent: a fact that could not be read is nil and is named, with the
// reason, in the list of what was not read. Broken input is an error of its
// source and nothing else; zero is a measurement.
//
// Quick reads files and system calls only and is cheap enough for every command.
// Collect adds the outside programs and the long files; its sources run side by
// side, and it returns by its deadline even when a program hangs, a file does
// not come back from the kernel, or a child cannot be killed.
//
// A Record in a System keeps what the sources gave, for whoever asks why a fact is
// wrong or absent.
//
// Everything outside is a value in System, so that a fixture tree, a recorded
// output or a hanging program stands in for the machine. Parsers are functions
// over captured bytes. What they know of macOS comes from manual pages and
// public reports, never from a Mac of ours.
package hostfacts
