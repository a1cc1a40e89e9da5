package report

import "strings"

// Wrap breaks one of the program's own texts into lines of at most columns, each
// behind indent. What comes from outside passes Clean before.
func Wrap(s string, columns int, indent string) string {
	return indent + strings.Join(wrap(s, columns-len(indent)), "\n"+indent)
}
