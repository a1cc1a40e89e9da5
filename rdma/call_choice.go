//go:build !callsbypurego

package rdma

// callsByPurego says which path C is called on: purego's, which takes several
// excursions for one call, or the one excursion of call_native.go. The build tag
// callsbypurego is there for a Mac on which the excursion is in doubt.
const callsByPurego = false
