package report

import (
	"strings"

	"rdmaprobe/probe"
)

// legend explains exactly the words and marks that a matrix shows.
func legend(m []matrixRow) []string {
	words, marks := shown(m)
	var lines []string
	for _, w := range []struct{ word, text string }{
		{"ok", "confirmed"},
		{"no", "rejected by the provider"},
		{"0", "observed zero"},
	} {
		if words[w.word] {
			lines = append(lines, w.word+" = "+w.text)
		}
	}
	if words["?"] {
		lines = append(lines, "? = unknown, not tried")
	}
	lines = append(append(lines, reasonItems(words)...), unlistedItems(words)...)
	for _, k := range markText {
		if strings.Contains(marks, k.mark) {
			lines = append(lines, k.mark+" = "+k.text)
		}
	}
	return lines
}

// reasonItems explain the reasons among words.
func reasonItems(words map[string]bool) (items []string) {
	for _, reason := range probe.Reasons {
		if s := shortReasons[reason]; s != "" && words["? "+s] {
			items = append(items, "? "+s+" = unknown, "+shortText[s])
		}
		if reason == probe.Precondition && words["? "+portShort] {
			items = append(items, "? "+portShort+" = unknown, "+shortText[portShort])
		}
	}
	return items
}

// unlistedItems explain what devices show that the library did not list.
func unlistedItems(words map[string]bool) (items []string) {
	for _, w := range []string{unlisted, noList} {
		if words[w] {
			items = append(items, w+" = "+unlistedText[w])
		}
	}
	return items
}

// shown collects the words of a matrix, without errno names, and its marks.
func shown(m []matrixRow) (words map[string]bool, marks string) {
	words = map[string]bool{}
	for _, row := range m {
		if !row.dev.Listed {
			words[row.port] = true
		}
		for _, v := range row.verdicts {
			w := v.word
			if strings.HasPrefix(w, "no ") {
				w = "no"
			}
			words[w] = true
			marks += v.marks
		}
	}
	return words, marks
}

// ageItem explains the age of a row, where one is shown.
func ageItem(m []matrixRow) []string {
	for _, row := range m {
		if row.oldest != nil {
			return []string{"AGE = of the oldest evidence in the row"}
		}
	}
	return nil
}
