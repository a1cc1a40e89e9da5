// Command darwincheck inspects programs for macOS as files, on any system:
//
//	go run ./packaging/darwincheck FILE...
//
// It reports what would keep a Mac from starting them: a function that does not
// begin on an instruction, a branch into the middle of nowhere, a page whose hash
// the signature does not have, a segment off its page, a library that a Mac may
// lack, a minimum system above what is promised. The exit status is 1 when it
// reports anything, 2 when a file cannot be read.
//
// What it cannot show is that the program works: that needs a Mac.
package main
