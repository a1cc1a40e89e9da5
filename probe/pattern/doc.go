// Package pattern is what the messages of a test hold: bytes that follow from a key
// that both ends know, the message's number, and a challenge that only its sender
// knows, and that differ at every place. A lost, stale, moved, cut or reflected
// message is found where it arrives, and the digest of what arrived shows the sender
// that it did. It is the code that runs for every byte.
package pattern
