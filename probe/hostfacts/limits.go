package hostfacts

import (
	"slices"
	"strings"
)

// limitsMemlock is what limits.conf(5) and limits.d say of memlock for a user:
// "unlimited", or a number of KiB, as it is written there; "" when they say
// nothing. Later files and lines win; a line for the user wins over one for all.
// Groups are not resolved. A hard limit counts where there is no soft one, since
// a user may raise up to it.
func limitsMemlock(s *System) string {
	files := []string{"etc/security/limits.conf"}
	names, _ := s.list("etc/security/limits.d")
	for _, n := range names {
		if strings.HasSuffix(n, ".conf") {
			files = append(files, "etc/security/limits.d/"+n)
		}
	}
	var soft, hard limitValue
	for _, f := range files {
		if b, err := s.read(maxFile, f); err == nil {
			parseLimits(b, s.userNames(), &soft, &hard)
		}
	}
	if soft.text != "" {
		return soft.text
	}
	return hard.text
}

// userNames are the names by which limits.conf may speak of this user.
func (s *System) userNames() []string {
	names := []string{}
	for _, v := range []string{"USER", "LOGNAME"} {
		if n := s.env(v); n != "" {
			names = append(names, n)
		}
	}
	if s.EUID == 0 {
		names = append(names, "root")
	}
	return names
}

type limitValue struct {
	text  string
	exact bool // from a line that names the user
}

func (v *limitValue) set(text string, exact bool) {
	if exact || !v.exact {
		v.text, v.exact = text, exact
	}
}

// parseLimits reads "DOMAIN TYPE memlock VALUE" lines into soft and hard.
func parseLimits(b []byte, users []string, soft, hard *limitValue) {
	lines(b, 1024, func(line string) bool {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) != 4 || f[2] != "memlock" {
			return true
		}
		exact := slices.Contains(users, f[0])
		// "*" does not apply to root.
		if !exact && (f[0] != "*" || slices.Contains(users, "root")) {
			return true
		}
		value := clean(strings.ToLower(f[3]))
		if value == "-1" || value == "infinity" {
			value = "unlimited"
		}
		if f[1] == "soft" || f[1] == "-" {
			soft.set(value, exact)
		}
		if f[1] == "hard" || f[1] == "-" {
			hard.set(value, exact)
		}
		return true
	})
}
