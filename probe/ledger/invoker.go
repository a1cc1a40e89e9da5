package ledger

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// invoker is the user for whom root works by sudo. nil: there is none.
type invoker struct {
	uid, gid int
	home     string
}

// currentInvoker is invokedBy for this process.
func currentInvoker() *invoker {
	return invokedBy(os.Geteuid(), os.Getenv, user.LookupId)
}

// invokedBy maps the environment that sudo(8) leaves to a user. It believes
// the environment only where the user database says the same: SUDO_UID is a
// user other than root, SUDO_USER is its name, SUDO_GID is a number. Group and
// home are the database's.
func invokedBy(euid int, env func(string) string, lookup func(uid string) (*user.User, error)) *invoker {
	if euid != 0 {
		return nil
	}
	uid, ok := id(env("SUDO_UID"))
	if _, okGroup := id(env("SUDO_GID")); !ok || !okGroup || uid == 0 {
		return nil
	}
	u, err := lookup(strconv.Itoa(uid))
	if err != nil || u.Username == "" || u.Username != env("SUDO_USER") || u.Uid != strconv.Itoa(uid) {
		return nil
	}
	gid, ok := id(u.Gid)
	if !ok || !filepath.IsAbs(u.HomeDir) {
		return nil
	}
	return &invoker{uid: uid, gid: gid, home: filepath.Clean(u.HomeDir)}
}

// id reads a user or group number. The highest one means "leave it" to chown.
func id(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 1<<32-1 || strconv.FormatUint(n, 10) != s {
		return 0, false
	}
	return int(n), true
}
