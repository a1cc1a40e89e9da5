// Package pattern is what the messages of a test hold: bytes that follow from the
// message's number and differ at every place, so that a lost, stale, moved or cut
// message is found. It is the code that runs for every byte.
package pattern
