//go:build !linux

package guard

// markVariable has no use here: the environment of another process is not looked at.
const markVariable = ""

// adopt does nothing: this system has no such thing.
func adopt() {}

// endChildren finds none: those of another group are out of reach here.
func endChildren() []LeftProcess { return nil }

// endMarked finds none.
func endMarked(string) []LeftProcess { return nil }
