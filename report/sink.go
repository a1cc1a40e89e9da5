package report

import (
	"bytes"
	"fmt"
	"io"
)

// sink writes whole lines without trailing spaces and keeps the first error of
// the writer below it: the table library pads every line and loses errors.
type sink struct {
	w    io.Writer
	line []byte
	err  error
}

// Write takes any piece of text; complete lines go out at once.
func (s *sink) Write(p []byte) (int, error) {
	rest := p
	for s.err == nil {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		s.line = append(s.line, rest[:i]...)
		rest = rest[i+1:]
		s.endLine()
	}
	if s.err != nil {
		return 0, s.err
	}
	s.line = append(s.line, rest...)
	return len(p), nil
}

func (s *sink) endLine() {
	_, s.err = s.w.Write(append(bytes.TrimRight(s.line, " "), '\n'))
	s.line = s.line[:0]
}

// printf writes formatted text; an error is kept for close.
func (s *sink) printf(format string, args ...any) {
	fmt.Fprintf(s, format, args...)
}

// close writes what is left of a last line and returns the first error.
func (s *sink) close() error {
	if s.err == nil && len(s.line) > 0 {
		s.endLine()
	}
	if s.err != nil {
		return fmt.Errorf("write report: %w", s.err)
	}
	return nil
}
