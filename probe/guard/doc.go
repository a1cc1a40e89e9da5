// Package guard runs one child process and contains it, and keeps others off a
// device while that goes on.
//
// The parent promises:
//
//   - Run ends within Spec.Bound, and a Spec.Lap for every renewal of the
//     deadline that Spec.Renews grants, whatever the child does: also when the
//     child ignores signals, cannot be killed, floods its output or leaves a
//     grandchild behind that holds the pipes.
//   - Only the child's done message makes a run Completed. Without one it
//     Crashed, however politely it exited: Go turns a fault in C into exit
//     status 2, which any program can return.
//   - What the library writes, on the standard streams or on the message
//     channel, is never taken for a message, never blocks the child and costs
//     bounded memory.
//   - With Spec.Leave a child inside a provider call is never killed. It is Left
//     running with its lock.
//
// A child promises (Enter): its context ends at the soft deadline, at SIGTERM
// and when the parent dies; an orphan that is not inside a provider call is
// gone within about a second, one that is when its parent would have killed it,
// and with it what the library has started. With Spec.Leave it stays in its call.
//
// The channels of a child: stdin carries the request; stdout and stderr are one
// pipe and belong to the library; 3 takes messages; 4 is a lifeline that ends
// with the parent; 5 is a page that holds an rdma.CallMark, by which the parent
// knows the call in flight, also after a crash; 6, when given, is the lock of
// the device, and 7 what Spec.Conn hands on: a connection, or a pipe.
//
// A lock is one file per device, the same for all users (LockDevice). A process
// holds it until it and every child that inherited it have ended.
//
// Children and locks need Linux, macOS or FreeBSD; elsewhere the package builds
// and every call returns ErrUnsupported.
package guard
