package rdma

import "strconv"

// errnoTable is what a platform's <errno.h> says.
type errnoTable struct {
	names       []string       // by number
	aliases     map[string]int // second names
	unsupported []int          // numbers by which a provider says that it does not support an operation
}

// EPROTONOSUPPORT and ENOSYS are what Linux providers give for a queue pair type
// or a verb they lack. Darwin's ENOTSUP and EOPNOTSUPP are different numbers.
var errnoTables = map[Platform]errnoTable{
	PlatformLinux:  {linuxErrno[:], linuxErrnoAlias, []int{95, 93, 38}},
	PlatformDarwin: {darwinErrno[:], darwinErrnoAlias, []int{45, 102}},
}

// errnoTableOf falls back on Apple's for an unknown platform.
func errnoTableOf(p Platform) errnoTable {
	if t, ok := errnoTables[p]; ok {
		return t
	}
	return errnoTables[PlatformDarwin]
}

// currentPlatform is that of the library in use, and Apple's while there is none; it
// opens nothing.
func currentPlatform() Platform {
	for _, l := range []*Library{installed.Load(), systemCache.Load()} {
		if l != nil {
			return l.platform
		}
	}
	return PlatformDarwin
}

// ErrnoName is the symbolic name of errno on the platform of the library in
// use, on Apple's while none has been opened; else "errno 12345". A negative value is
// named by its absolute value, as some providers return errno negated.
func ErrnoName(errno int) string { return ErrnoNameOn(currentPlatform(), errno) }

// ErrnoNameOn is ErrnoName for platform p.
func ErrnoNameOn(p Platform, errno int) string {
	if name := errnoTableOf(p).name(errno); name != "" {
		return name
	}
	return "errno " + strconv.Itoa(errno)
}

// ErrnoText is number and name of errno on the platform of the library in use:
// "errno 22 (EINVAL)".
func ErrnoText(errno int) string { return ErrnoTextOn(currentPlatform(), errno) }

// ErrnoTextOn is ErrnoText for platform p.
func ErrnoTextOn(p Platform, errno int) string {
	text := "errno " + strconv.Itoa(errno)
	if name := errnoTableOf(p).name(errno); name != "" {
		text += " (" + name + ")"
	}
	return text
}

// ErrnoNumberOn is the number that platform p gives the symbolic name, second
// names included. ok is false for a name that it does not have.
func ErrnoNumberOn(p Platform, name string) (errno int, ok bool) {
	if name == "" {
		return 0, false
	}
	t := errnoTableOf(p)
	for number, known := range t.names {
		if known == name {
			return number, true
		}
	}
	errno, ok = t.aliases[name]
	return errno, ok
}

// IsUnsupportedErrno reports whether errno, on the platform of the library in
// use, is the provider's own word that it does not support an operation.
func IsUnsupportedErrno(errno int) bool { return UnsupportedErrnoOn(currentPlatform(), errno) }

// UnsupportedErrnoOn is IsUnsupportedErrno for platform p: Darwin's ENOTSUP and
// EOPNOTSUPP, whose strerror speaks of a socket; Linux's EOPNOTSUPP,
// EPROTONOSUPPORT and ENOSYS. A negative number is no errno value, and never one of
// them.
func UnsupportedErrnoOn(p Platform, errno int) bool {
	for _, number := range errnoTableOf(p).unsupported {
		if errno == number {
			return true
		}
	}
	return false
}

// name is the symbol for errno or its negation, "" when there is none.
func (t errnoTable) name(errno int) string {
	if errno < 0 {
		errno = -errno
	}
	if errno < 0 || errno >= len(t.names) { // the most negative int stays negative
		return ""
	}
	return t.names[errno]
}
