// Package devinfo reads what `ibv_devinfo -v` printed, the tool that comes with
// the verbs library: rdma-core's on Linux, Apple's on macOS.
//
// Nothing is dropped: fields keep their text under the tool's own names, in the
// order in which they were printed, and lines that are no field are kept too.
// What another vendor's tool leaves out or adds is so a matter of its caller.
// Text that is something else is an error.
package devinfo
