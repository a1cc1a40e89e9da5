// Package callcost compares what it costs to enter C from Go: this module's way,
// cgo, and the ways of those who do without cgo. It holds benchmarks only, and cgo,
// which nothing else here uses; they need the build tag bench and a C compiler.
// The command is in docs/performance.md.
package callcost
