// Package peer is how two hosts find each other before they use RDMA: a control
// connection over TCP, the pairing of the ends of cables, the proof that the path
// between two ports is open, and the text exchange of rdma-core's ping-pong tools.
//
// It knows nothing of verbs and never calls any: it moves addresses. Whatever a
// peer sends is hostile: a line has at most 64 KiB, every read and write has a
// deadline, every value is checked before it is used, and an error never holds
// text of the peer that is not bounded and printable.
//
// The control protocol is one JSON object a line, {"type":...,"body":{...}}.
// Fields that are not known are ignored, types that are not known are answered
// with an error. A peer with another major version is refused.
//
// An error of type *RemoteError is what the peer said; every other error is about
// the connection or about what came over it.
package peer
