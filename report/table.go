package report

import (
	"io"

	"rdmaprobe/probe"
)

// renderTable writes what a person wants to know. devices shows ports; probe
// and report the matrix, then findings; doctor findings, then the matrix.
func renderTable(w io.Writer, d *probe.Document, o Options) error {
	t := newPrinter(w, d, o, false)
	if err := t.table(); err != nil {
		return err
	}
	return t.s.close()
}

func (t *printer) table() error {
	if t.o.Command == "devices" {
		return t.devicesTable()
	}
	t.header()
	t.empty()
	if t.o.Command == "doctor" {
		t.findings()
		if len(t.d.Findings) == 0 {
			t.section()
			t.line("no findings")
		}
	}
	if err := t.matrix(); err != nil {
		return err
	}
	if t.o.Command == "doctor" {
		t.notRead()
	} else {
		t.findings()
	}
	t.notes()
	return nil
}

// devicesTable begins with its table, for programs that read lines.
func (t *printer) devicesTable() error {
	if err := t.grid(t.devicesGrid()); err != nil {
		return err
	}
	t.empty()
	t.simulated()
	t.findings()
	t.notes()
	return nil
}

// matrix prints a matrix per host, and under the last one its legend.
func (t *printer) matrix() error {
	var all []matrixRow
	for _, host := range groups(t.d) {
		m := matrixOf(t.d, t.r, host)
		if len(m) == 0 {
			continue
		}
		if host != "" {
			t.section()
			t.line("host %s", cleanName(host))
			t.started = false
		}
		if err := t.grid(matrixGrid(t, m)); err != nil {
			return err
		}
		all = append(all, m...)
	}
	t.legend(all)
	return nil
}

// matrixGrid is devices by capabilities.
func matrixGrid(t *printer, m []matrixRow) *grid {
	g := &grid{head: []string{"DEVICE", "PORT"}}
	for _, c := range columns {
		g.head = append(g.head, c.head)
	}
	g.head = append(g.head, "AGE")
	for _, row := range m {
		line := []cell{name(row.dev.Name), stateCell(row.port)}
		if p := bestPort(row.dev); p != nil && row.dev.Listed {
			line[1].tone = stateCell(p.State).tone
		}
		for _, v := range row.verdicts {
			line = append(line, cell{v.word + v.marks, v.tone()})
		}
		old := ""
		if row.oldest != nil {
			old = age(t.o.Now, *row.oldest)
		}
		g.add(append(line, cell{old, plain})...)
	}
	return g
}

// legend prints as many explanations on a line as fit.
func (t *printer) legend(m []matrixRow) {
	items := legend(m)
	if len(items) == 0 {
		return
	}
	items = append(items, ageItem(m)...)
	t.section()
	line := ""
	for _, it := range items {
		if line != "" && width(line)+3+width(it) > t.measure() {
			t.line("%s", line)
			line = ""
		}
		if line != "" {
			line += "   "
		}
		line += it
	}
	t.line("%s", line)
}
