package cmd

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// size is a number of bytes as a flag: 4096, 64KiB, 1MiB.
type size int

// String is the flag's text; 0 is the default of its command.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.Itoa(int(*s))
}

// Type names the kind of value in help.
func (s *size) Type() string { return "size" }

// Set reads a size. Units are powers of 1024, with or without the iB. How large it may
// be the options know.
func (s *size) Set(text string) error {
	digits := strings.TrimRight(text, "KMGiBkmgb")
	shift, ok := map[string]uint{"": 0, "b": 0, "k": 10, "kib": 10, "kb": 10, "m": 20, "mib": 20, "mb": 20, "g": 30, "gib": 30, "gb": 30}[strings.ToLower(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n <= 0 || n > math.MaxInt>>shift {
		return errors.New("want a size such as 4096 or 64KiB")
	}
	*s = size(n << shift)
	return nil
}
