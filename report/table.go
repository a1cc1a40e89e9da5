package report

import (
	"io"

	"rdmaprobe/probe"
)

// renderTable writes what a person wants to know. devices shows ports; probe
// and report the matrix, then findings; doctor the verdict, then what to do.
func renderTable(w io.Writer, d *probe.Document, o Options) error {
	t := newPrinter(w, d, o, false)
	if err := t.table(); err != nil {
		return err
	}
	return t.s.close()
}

func (t *printer) table() error {
	switch t.o.Command {
	case "devices":
		return t.devicesTable()
	case "doctor":
		return t.doctorTable()
	}
	t.header()
	t.empty()
	if err := t.matrix(); err != nil {
		return err
	}
	t.findings()
	t.notes()
	return nil
}

// devicesTable begins with its table, for programs that read lines.
func (t *printer) devicesTable() error {
	if err := t.grid(t.devicesGrid()); err != nil {
		return err
	}
	t.items(t.stateLegend())
	t.empty()
	t.simulated()
	t.verify()
	t.findings()
	t.notes()
	return nil
}

// matrix prints the matrix, its legend, what ping-pongs measured, and where sources disagree.
func (t *printer) matrix() error {
	m := matrixOfAll(t.d, t.r)
	if err := t.grid(matrixGrid(t, m)); err != nil {
		return err
	}
	t.legend(m)
	t.pingpongs()
	t.differences()
	return nil
}

// matrixGrid is devices by capabilities, of several hosts with their names.
func matrixGrid(t *printer, m []matrixRow) *grid {
	g := &grid{head: []string{"DEVICE", "PORT"}}
	hosts := manyHosts(t.d)
	if hosts {
		g.head = append([]string{"HOST"}, g.head...)
	}
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
		line = append(line, cell{old, plain})
		if hosts {
			line = append([]cell{name(row.dev.Host)}, line...)
		}
		g.add(line...)
	}
	return g
}

// legend explains what a matrix shows.
func (t *printer) legend(m []matrixRow) {
	items := legend(m)
	if len(items) == 0 {
		return
	}
	t.items(append(items, ageItem(m)...))
}

// items prints as many as fit on a line.
func (t *printer) items(items []string) {
	if len(items) == 0 {
		return
	}
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
