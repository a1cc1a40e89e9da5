package replay

import (
	"fmt"
	"strings"
)

// CannotError says why a document cannot be played again.
type CannotError struct {
	Where string // a place in the document; "" for all of it
	Why   string
}

// Error names the place and the reason.
func (e *CannotError) Error() string {
	if e.Where == "" {
		return "cannot be replayed: " + e.Why
	}
	return fmt.Sprintf("cannot be replayed: %s: %s", e.Where, e.Why)
}

func cannot(where, format string, args ...any) error {
	return &CannotError{Where: where, Why: fmt.Sprintf(format, args...)}
}

// Difference is one place where two documents disagree.
type Difference struct {
	Path string `json:"path"`
	Want string `json:"want"` // as JSON; "absent" where there is nothing
	Got  string `json:"got"`
}

// String is a difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s: want %s, got %s", d.Path, d.Want, d.Got)
}

// DifferError says where the profile does not answer as the document does.
type DifferError struct{ Differences []Difference }

// shownDifferences bounds an error's text; the first ones tell.
const shownDifferences = 10

// Error has the first differences, each on a line of its own.
func (e *DifferError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the replay differs from the document in %d place(s):", len(e.Differences))
	for i, d := range e.Differences {
		if i == shownDifferences {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Differences)-i)
			break
		}
		b.WriteString("\n  " + d.String())
	}
	return b.String()
}
