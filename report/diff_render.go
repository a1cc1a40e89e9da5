package report

import (
	"fmt"
	"io"
	"strings"
)

// diffTitles head the sections of a diff for people.
var diffTitles = map[string]string{
	ChangeCapability: "Capabilities", ChangeLevel: "Evidence", ChangeDevice: "Devices", ChangeLimit: "Limits", ChangePort: "Ports",
	ChangeGID: "GIDs", ChangeLibrary: "Library", ChangeHost: "Host", ChangeUntried: "Tried on one side only",
}

// DiffFormats are the formats that a Diff has.
func DiffFormats() []string {
	var names []string
	for _, f := range Formats {
		if f.Diff != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

func jsonDiff(w io.Writer, d *Diff, _ Options) error { return writeEncoded(w, d, "  ") }

func linesDiff(w io.Writer, d *Diff, _ Options) error {
	for _, c := range d.Changes {
		if err := writeEncoded(w, c, ""); err != nil {
			return err
		}
	}
	return nil
}

func writeEncoded(w io.Writer, v any, indent string) error {
	b, err := encode(v, indent)
	if err != nil {
		return fmt.Errorf("encode diff: %w", err)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write diff: %w", err)
	}
	return nil
}

// sideLine names one of the documents.
func sideLine(letter string, s DiffSide) string {
	parts := []string{}
	if hosts := strings.TrimSpace(strings.Join(s.Hosts, ", ")); hosts != "" {
		parts = append(parts, Clean(hosts))
	}
	if len(s.OSBuilds) > 0 {
		parts = append(parts, "build "+Clean(strings.Join(s.OSBuilds, ", ")))
	}
	if !s.StartedAt.IsZero() {
		parts = append(parts, "run at "+s.StartedAt.UTC().Format("2006-01-02 15:04:05Z"))
	}
	return letter + " " + Clean(s.Name) + ": " + strings.Join(parts, ", ")
}

// summaryLine is the outcome in a line.
func (d *Diff) summaryLine() string {
	n := 0
	for _, c := range d.Changes {
		if c.Kind != ChangeUntried {
			n++
		}
	}
	switch {
	case len(d.Changes) == 0:
		return "no differences"
	case d.Regressions == 0:
		return fmt.Sprintf("%d changes, no regression", n)
	}
	return fmt.Sprintf("%d changes, %d of them regressions", n, d.Regressions)
}

// diffGrid is the changes of one kind.
func (d *Diff) diffGrid(kind string) *grid {
	g := &grid{head: []string{"", "HOST", "DEVICE", "PORT", "WHAT", "PROBE", "A", "B"}}
	for _, c := range d.Changes {
		if c.Kind != kind {
			continue
		}
		mark := cell{}
		if c.Regression {
			mark = cell{"REGRESSION", bad}
		}
		absent := func(s string) cell {
			if s == "" {
				return cell{"-", faint}
			}
			return text(s)
		}
		g.add(mark, name(c.Host), name(c.Device), number(c.Port), name(c.What), name(c.Probe), absent(c.From), absent(c.To))
	}
	return dropEmpty(g)
}

func tableDiff(w io.Writer, d *Diff, o Options) error { return peopleDiff(w, d, o, false) }

func wideDiff(w io.Writer, d *Diff, o Options) error { return peopleDiff(w, d, o, true) }

func peopleDiff(w io.Writer, d *Diff, o Options, wide bool) error {
	t := &printer{s: &sink{w: w}, p: newPalette(o.Color), o: o, wide: wide}
	t.prose("", sideLine("A", d.A))
	t.prose("", sideLine("B", d.B))
	t.line("%s", d.summaryLine())
	for _, kind := range ChangeKinds {
		g := d.diffGrid(kind)
		if len(g.rows) == 0 {
			continue
		}
		t.section()
		if kind == ChangeUntried && !wide {
			t.line("%d rows of evidence were tried on one side only: -o wide lists them", len(g.rows))
			continue
		}
		t.line("%s", diffTitles[kind])
		t.started = false
		if err := t.grid(g); err != nil {
			return err
		}
	}
	return t.s.close()
}

func markdownDiff(w io.Writer, d *Diff, _ Options) error {
	t := &printer{s: &sink{w: w}}
	t.s.printf("# RDMA differences\n\n- %s\n- %s\n\n**%s**\n", mdText(sideLine("A", d.A)), mdText(sideLine("B", d.B)), mdText(d.summaryLine()))
	for _, kind := range ChangeKinds {
		g := d.diffGrid(kind)
		if len(g.rows) == 0 {
			continue
		}
		t.mdGrid(diffTitles[kind], g)
	}
	return t.s.close()
}
