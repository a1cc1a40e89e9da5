// Package cmd is the command line: one file a command, each with its options,
// its constructor and its run. Streams are in root.go; the exit statuses and their
// precedence are in probe/exit.go.
//
// The rules of the interface: stdout carries the result only; progress,
// warnings and errors go to stderr, prefixed with the program's name, without
// capitals or a full stop; with --json exactly one document comes out, also
// when the command fails.
package cmd
