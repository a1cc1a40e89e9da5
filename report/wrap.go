package report

import "strings"

// Wrap breaks a text into lines of at most columns, each behind indent, for a
// terminal or a page. The text is cleaned first.
func Wrap(s string, columns int, indent string) string {
	return indent + strings.Join(wrap(Clean(s), columns-len(indent)), "\n"+indent)
}
