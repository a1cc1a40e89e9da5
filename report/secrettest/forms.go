// Package secrettest writes what must not leave a machine in every form in which a
// text may have it, for tests that look for it where it should be gone.
package secrettest

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Address is every form of an IPv4 or IPv6 address, or of a GID.
func Address(s string) []string {
	a := netip.MustParseAddr(s)
	b := a.AsSlice()
	forms := []string{a.String(), a.StringExpanded(), hex.EncodeToString(b), colons(b)}
	if a.Is6() {
		return bothCases(forms)
	}
	slices.Reverse(b)
	forms = append(forms, hex.EncodeToString(b), hex.EncodeToString(a.AsSlice()[:2])+":"+hex.EncodeToString(a.AsSlice()[2:]))
	return bothCases(forms)
}

// GUID is every form of a GUID that is written as four groups of four digits.
func GUID(s string) []string {
	digits := strings.ReplaceAll(s, ":", "")
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return bothCases([]string{s, digits, colons(b), strings.ReplaceAll(colons(b), ":", "-")})
}

// MAC is every form of a MAC address, and of the interface id made of it.
func MAC(s string) []string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, ":", ""))
	if err != nil || len(b) != 6 {
		panic(fmt.Sprint(s, err))
	}
	short := make([]string, len(b))
	for i, c := range b {
		short[i] = fmt.Sprintf("%x", c)
	}
	digits := hex.EncodeToString(b)
	forms := []string{s, digits, strings.ReplaceAll(s, ":", "-"), strings.Join(short, ":"), digits[:4] + "." + digits[4:8] + "." + digits[8:]}
	b[0] ^= 0x02
	id := hex.EncodeToString(slices.Concat(b[:3], []byte{0xff, 0xfe}, b[3:]))
	a, err := netip.ParseAddr(fmt.Sprintf("::%s:%s:%s:%s", id[:4], id[4:8], id[8:12], id[12:]))
	if err != nil {
		panic(err)
	}
	return bothCases(append(forms, id, strings.TrimPrefix(a.String(), "::")))
}

// Server is every form in which a text may have a host's short name: in the address
// of a file or a service, quoted, in the middle of a sentence.
func Server(s string) []string {
	return []string{
		s + ":/", s + ":/export/home", `\\` + s + `\share\x.txt`, "//" + s + "/share/x.txt", "smb://" + s + "/share", "nfs://" + s + "/export", "ssh://jane@" + s + ":2222/x",
		"https://" + s + ":8443/x", "jane@" + s, "jane@" + s + ":x/y.txt", "jane@" + s + ":", s + ".acme.example", `"` + s + `"`, "'" + s + "'", "(" + s + ")", "[" + s + "]:18515", s + ":18515",
		"on " + s + ", as before", strings.ToUpper(s) + " is down",
	}
}

// Word is every form of a name or a serial number.
func Word(s string) []string { return bothCases([]string{s}) }

func colons(b []byte) string {
	parts := make([]string, len(b))
	for i, c := range b {
		parts[i] = fmt.Sprintf("%02x", c)
	}
	return strings.Join(parts, ":")
}

func bothCases(forms []string) []string {
	var all []string
	for _, f := range forms {
		all = append(all, f, strings.ToLower(f), strings.ToUpper(f))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
