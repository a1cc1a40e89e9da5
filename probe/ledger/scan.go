package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Stats counts what a scan met. Blank lines are not counted.
type Stats struct {
	Lines    int  // all lines
	Records  int  // handed to the callback
	Skipped  int  // no records, or not whole, or longer than MaxLine
	Newer    int  // records of a later version, skipped
	TornTail bool // the last line is torn: its writer was stopped, or is writing
}

// Scan calls f for every record of the ledger at path, in the order of the
// file. The record and its body are valid during the call only. An error of f
// ends the scan and is returned as it is. A missing file has no records; lines
// that are none are skipped and counted. Nothing is locked or written, so it
// works on a file that belongs to another user.
func Scan(path string, f func(*Record) error) (Stats, error) {
	file, err := openToRead(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Stats{}, nil
	}
	if err != nil {
		return Stats{}, fmt.Errorf("read ledger: %w", err)
	}
	defer file.Close()
	return ScanReader(file, f)
}

// errFound ends a scan that has seen enough.
var errFound = errors.New("found")

// Check tells whether Open could take the file at path for a ledger: ErrNotLedger
// where it holds something else, or why it cannot be read. A missing or empty file
// is as good as a ledger. Nothing is locked or written.
func Check(path string) error {
	file, err := openToRead(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	defer file.Close()
	return isLedger(file, path)
}

// isLedger looks for a record, or at least for a beginning like one.
func isLedger(f *os.File, path string) error {
	s := scanner{parser: parser{headersOnly: true}, lines: lines{r: f}}
	err := s.run(func(_ []byte, _ *Record, v verdict) error {
		if v == bad {
			return nil
		}
		return errFound
	})
	switch {
	case err == errFound:
		return nil
	case err == nil && !startsLikeOne(f):
		return fmt.Errorf("read %s: %w", shown(path), ErrNotLedger)
	}
	return err
}

// ScanReader is Scan for a stream.
func ScanReader(r io.Reader, f func(*Record) error) (Stats, error) {
	s := scanner{lines: lines{r: r}}
	err := s.run(func(_ []byte, rec *Record, v verdict) error {
		if v != good {
			return nil
		}
		return f(rec)
	})
	return s.Stats, err
}

// scanner walks over the lines of a ledger.
type scanner struct {
	Stats
	parser
	lines
}

// run calls f for every line with its verdict. The line is without newline,
// and nil where it was too long to keep. A record that was salvaged from a bad
// line comes after that line's verdict, with its own bytes.
func (s *scanner) run(f func(line []byte, rec *Record, v verdict) error) error {
	for {
		line, err := s.next()
		if err == io.EOF {
			return nil
		}
		if err != nil && err != ErrTooLong {
			return fmt.Errorf("read ledger: %w", err)
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		s.Lines++
		v := bad
		if err == nil {
			v = s.parse(line)
		}
		s.found = s.found || v != bad
		switch v {
		case good:
			s.Records++
		case newer:
			s.Newer++
		case bad:
			s.Skipped++
			s.TornTail = s.unfinished
		}
		if err := f(line, &s.rec, v); err != nil {
			return err
		}
		if v != bad {
			continue
		}
		if tail, ok := s.salvage(line); ok {
			s.Records++
			s.found, s.TornTail = true, false
			if err := f(tail, &s.rec, good); err != nil {
				return err
			}
		}
	}
}

// lines splits a stream without ever holding more than MaxLine of it.
type lines struct {
	r          io.Reader
	buf        []byte
	start, end int   // the unread part of buf
	err        error // what the reader ended with
	offset     int64 // bytes up to and with the last newline that was passed
	unfinished bool  // the line that next returned has no newline
	found      bool  // a record, so that more than maxAlien is read
}

// maxAlien is how much is read of a file that has no record. What never ends, as
// /proc/kcore, is then no ledger.
const maxAlien = 64 << 20

// next returns the next line without its newline, valid until the next call.
// The error is io.EOF, ErrTooLong for a line that was passed over, or the reader's.
func (l *lines) next() ([]byte, error) {
	from := l.start
	if !l.found && l.offset > maxAlien {
		return nil, ErrNotLedger
	}
	for {
		if i := bytes.IndexByte(l.buf[from:l.end], '\n'); i >= 0 {
			line := l.buf[l.start : from+i]
			l.start = from + i + 1
			l.offset += int64(len(line)) + 1
			return line, nil
		}
		if l.end-l.start >= MaxLine {
			return nil, l.pass()
		}
		if l.err != nil {
			return l.last()
		}
		l.room()
		from = l.end
		l.fill()
	}
}

// last returns what stands behind the last newline.
func (l *lines) last() ([]byte, error) {
	line := l.buf[l.start:l.end]
	l.start = l.end
	if l.err != io.EOF || len(line) == 0 {
		return nil, l.err
	}
	l.unfinished = true
	return line, nil
}

// pass drops a line that is too long.
func (l *lines) pass() error {
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.start += i + 1
			l.offset += int64(i) + 1
			return ErrTooLong
		}
		l.offset += int64(l.end - l.start)
		l.start, l.end = 0, 0
		if !l.found && l.offset > maxAlien {
			return ErrNotLedger
		}
		if l.err != nil {
			l.unfinished = true
			return ErrTooLong
		}
		l.fill()
	}
}

// firstRead is how much is read at once until a line needs more. Every command
// that asks a provider reads the ledger twice, and most are small.
const firstRead = 32 << 10

// room makes space behind end: by moving the unread part to the front, or by a
// larger buffer when that part fills it.
func (l *lines) room() {
	if l.end < len(l.buf) {
		return
	}
	to := l.buf
	if l.start == 0 {
		to = make([]byte, min(max(2*len(l.buf), firstRead), MaxLine))
	}
	l.end = copy(to, l.buf[l.start:l.end])
	l.start, l.buf = 0, to
}

func (l *lines) fill() {
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
