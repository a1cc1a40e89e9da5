package hostfacts

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"syscall"
	"time"
)

var errNoSysctl = errors.New("sysctl is not available")

// sysctl returns a raw value; fs.ErrNotExist: this system has no such name.
func (s *System) sysctl(name string) ([]byte, error) {
	if s.Sysctl == nil {
		return nil, errNoSysctl
	}
	b, err := s.Sysctl(name)
	if errors.Is(err, syscall.ENOENT) {
		err = fs.ErrNotExist
	}
	s.Record.sysctl(name, b, err)
	return b, err
}

// sysctlText returns a string value; "" when it cannot be read.
func (s *System) sysctlText(name string) string {
	b, err := s.sysctl(name)
	if err != nil {
		return ""
	}
	for i, c := range b {
		if c == 0 {
			b = b[:i]
			break
		}
	}
	return clean(string(b))
}

// sysctlBool reads an int that is a truth value. A name that does not exist is
// false: these names come with the feature (hw.optional.arm64,
// sysctl.proc_translated, kern.hv_vmm_present).
func (s *System) sysctlBool(name string) (value bool, err error) {
	b, err := s.sysctl(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	n, ok := sysctlInt(b)
	if !ok {
		return false, errors.New("not a number")
	}
	return n != 0, nil
}

// sysctlInt decodes CTLTYPE_INT and CTLTYPE_QUAD. Every Mac is little-endian.
func sysctlInt(b []byte) (int64, bool) {
	switch len(b) {
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b))), true
	case 8:
		return int64(binary.LittleEndian.Uint64(b)), true
	}
	return 0, false
}

// sysctlTime decodes the struct timeval of kern.boottime: 64-bit seconds, then
// 32-bit microseconds.
func sysctlTime(b []byte) (time.Time, bool) {
	if len(b) < 12 {
		return time.Time{}, false
	}
	sec := int64(binary.LittleEndian.Uint64(b))
	usec := int64(int32(binary.LittleEndian.Uint32(b[8:])))
	if sec <= 0 || usec < 0 || usec >= 1e6 {
		return time.Time{}, false
	}
	return time.Unix(sec, usec*1000), true
}
