package report

import (
	"io"
	"strings"

	"rdmaprobe/probe"
)

// renderMarkdown writes a page for an issue or a wiki: what was seen on which
// machine, the matrix, ports, findings, and every observation folded away.
func renderMarkdown(w io.Writer, d *probe.Document, o Options) error {
	t := newPrinter(w, d, o, false)
	t.s.printf("# RDMA report\n\n")
	if d.Verdict != nil {
		t.s.printf("**%s**\n\n", mdText(d.Verdict.Text))
	}
	for _, l := range aboutHosts(d) {
		t.s.printf("- %s\n", mdText(l))
	}
	if l := libraryLine(d); l != "" {
		t.s.printf("- %s\n", mdText(l))
	}
	if d.Provider.Kind == probe.Simulated {
		t.s.printf("- **%s**\n", mdText(simulatedLine(d)))
	}
	if d.Redacted {
		t.s.printf("- %s\n", redactedText)
	}
	t.s.printf("- %s %s, run %s at %s\n", mdText(d.Tool.Name), mdText(d.Tool.Version), mdText(d.Run.ID),
		d.Run.StartedAt.UTC().Format("2006-01-02 15:04:05Z"))
	for _, l := range emptyLines(d) {
		t.s.printf("\n**%s**\n", mdText(l))
	}
	t.mdGrid("Verdict", dropEmpty(t.verdictGrid()))
	t.mdMatrix()
	t.mdFindings()
	t.mdGrid("Ports", t.devicesGrid())
	t.mdItems(t.stateLegend())
	t.mdGrid("GIDs", dropEmpty(t.oneHost(t.gidsGrid())))
	t.mdObservations()
	t.mdList("Compared with the system's own tool", verifyLines(d))
	t.mdList("Notes", d.Notes)
	return t.s.close()
}

// mdList writes foreign texts as a list under a heading.
func (t *printer) mdList(title string, items []string) {
	for i, s := range items {
		if i == 0 {
			t.s.printf("\n## %s\n\n", title)
		}
		t.s.printf("- %s\n", mdText(s))
	}
}

// mdItems writes what explains a grid.
func (t *printer) mdItems(items []string) {
	if len(items) > 0 {
		t.s.printf("\n%s\n", mdText(strings.Join(items, "; ")))
	}
}

func (t *printer) mdMatrix() {
	m := matrixOfAll(t.d, t.r)
	t.mdGrid("Capabilities", matrixGrid(t, m))
	t.mdItems(legend(m))
	t.mdList("Conflicts between files", conflictLines(t.d, t.o))
	t.mdList("Evidence against documents", contradictions(t.d, t.r))
}

func (t *printer) mdFindings() {
	for i, f := range worstFirst(t.d) {
		if i == 0 {
			t.s.printf("\n## Findings\n\n")
		}
		t.s.printf("- **%s** %s (%s): %s\n", mdText(f.Severity), mdCode(f.Code), mdText(f.Scope), mdProse(f.Message))
		if f.Remedy != "" {
			t.s.printf("  - fix: %s\n", mdProse(f.Remedy))
		}
		if f.Undo != "" {
			t.s.printf("  - undo: %s\n", mdProse(f.Undo))
		}
		if f.Check != "" {
			t.s.printf("  - check: %s\n", mdCode(f.Check))
		}
	}
}

func (t *printer) mdObservations() {
	g := t.oneHost(t.observationsGrid())
	if len(g.rows) == 0 {
		return
	}
	t.s.printf("\n<details><summary>%d observations</summary>\n", len(t.d.Observations))
	t.mdGrid("", dropEmpty(g))
	t.s.printf("\n</details>\n")
}

// mdGrid writes a grid as a table, under a heading if it has one.
func (t *printer) mdGrid(title string, g *grid) {
	if len(g.rows) == 0 {
		return
	}
	if title != "" {
		t.s.printf("\n## %s\n", mdText(title))
	}
	t.s.printf("\n| %s |\n|%s\n", strings.Join(g.head, " | "), strings.Repeat(" --- |", len(g.head)))
	for _, row := range g.rows {
		line := make([]string, len(row))
		for i, c := range row {
			line[i] = mdText(c.text)
		}
		t.s.printf("| %s |\n", strings.Join(line, " | "))
	}
}

// dropEmpty leaves out the columns in which no row has anything.
func dropEmpty(g *grid) *grid {
	slim := &grid{rows: make([][]cell, len(g.rows))}
	for i, h := range g.head {
		used := false
		for _, row := range g.rows {
			used = used || row[i].text != ""
		}
		if !used {
			continue
		}
		slim.head = append(slim.head, h)
		for k, row := range g.rows {
			slim.rows[k] = append(slim.rows[k], row[i])
		}
	}
	return slim
}

// mdSpecial are the characters that would be markup anywhere in a line.
const mdSpecial = "\\`*_[]>|~&"

// mdText makes a foreign text plain: no markup, no HTML, no mention, no link.
func mdText(s string) string { return mdEscape(Clean(s)) }

// mdEscape is mdText of a text that is clean.
func mdEscape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '@':
			b.WriteString("&#64;") // a name behind it would be called
			continue
		case strings.ContainsRune(mdSpecial, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mdProse is mdText but for commands in backticks, which become code spans. Like
// mdCode it is for lists.
func mdProse(s string) string {
	parts := strings.Split(Clean(s), "`")
	var b strings.Builder
	for i, part := range parts {
		switch code, last := i%2 == 1, i == len(parts)-1; {
		case code && last:
			b.WriteString(mdEscape("`" + part)) // nothing ends it
		case code && strings.TrimSpace(part) == "":
			b.WriteString(mdEscape("`" + part + "`"))
		case code:
			b.WriteString(mdCode(part))
		default:
			b.WriteString(mdEscape(part))
		}
	}
	return b.String()
}

// mdCode makes a foreign text a code span, in which a backtick cannot be escaped.
// It is for lists: in a table a pipe would still end the cell.
func mdCode(s string) string {
	return "`" + strings.ReplaceAll(Clean(s), "`", "'") + "`"
}
