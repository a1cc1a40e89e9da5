package report

import (
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// cell is one cell: its text, clean, and what it means.
type cell struct {
	text string
	tone tone
}

// grid is a table before it has widths. An empty cell shows as "-".
type grid struct {
	head []string
	rows [][]cell
}

// gap is the space between two columns; minColumn is what a cut column keeps, and
// minName what one of names does: rows that cannot be told apart say nothing.
const (
	gap       = 2
	minColumn = 6
	minName   = 16
)

func (g *grid) add(cells ...cell) { g.rows = append(g.rows, cells) }

// text makes a cell of a foreign text.
func text(s string) cell { return cell{text: Clean(s)} }

// name makes a cell of a foreign name.
func name(s string) cell { return cell{text: cleanName(s)} }

// widths are the columns' natural widths.
func (g *grid) widths() []int {
	w := make([]int, len(g.head))
	for i, h := range g.head {
		w[i] = width(h)
	}
	for _, row := range g.rows {
		for i, c := range row {
			w[i] = max(w[i], 1, width(c.text)) // an empty cell has its dash
		}
	}
	return w
}

// least is how narrow each column may become.
func (g *grid) least() []int {
	least := make([]int, len(g.head))
	for i, h := range g.head {
		if least[i] = minColumn; h == "DEVICE" || h == "HOST" {
			least[i] = minName
		}
	}
	return least
}

// fit narrows the widest columns until a line has at most limit columns, or
// until no column can give more.
func fit(w, least []int, limit int) {
	total := gap * (len(w) - 1)
	for _, n := range w {
		total += n
	}
	for total > limit {
		widest := -1
		for i := range w {
			if w[i] > least[i] && (widest < 0 || w[i] > w[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		w[widest]--
		total--
	}
}

// render writes the grid: cut first, then coloured, so that no cut falls into an
// escape sequence. A limit of 0 cuts nothing.
func (g *grid) render(s *sink, p palette, limit int) error {
	if len(g.rows) == 0 {
		return nil
	}
	w := g.widths()
	if limit > 0 {
		fit(w, g.least(), limit)
	}
	lines := newLines()
	if err := lines.Start(s); err != nil {
		return err
	}
	head := make([]string, len(g.head))
	for i, h := range g.head {
		head[i] = cut(h, w[i])
	}
	lines.Header(nil, lineOf(head, w))
	for _, row := range g.rows {
		line := make([]string, len(row))
		for i, c := range row {
			if c.text == "" {
				c = cell{"-", faint}
			}
			line[i] = p.paint(c.tone, cut(c.text, w[i]))
		}
		lines.Row(nil, lineOf(line, w))
	}
	return lines.Close()
}

// newLines is the table library's own renderer. Its Table, which finds widths,
// wraps cells and takes values of any type, would do again what a grid has done,
// and weighs half a megabyte.
func newLines() *renderer.Blueprint {
	twwidth.SetEastAsian(false) // as in width: not the locale's
	return renderer.NewBlueprint(tw.Rendition{
		Borders: tw.BorderNone,
		Symbols: tw.NewSymbols(tw.StyleNone),
		Settings: tw.Settings{
			Lines:      tw.LinesNone,
			Separators: tw.SeparatorsNone,
		},
	})
}

// lineOf is one line: cells to the left, each with the gap behind it.
func lineOf(texts []string, widths []int) tw.Formatting {
	cells, columns := make(map[int]tw.CellContext, len(texts)), make(tw.Mapper[int, int], len(texts))
	for i, text := range texts {
		cells[i] = tw.CellContext{Data: text, Align: tw.AlignLeft, Padding: tw.Padding{Right: strings.Repeat(" ", gap)}}
		columns[i] = widths[i] + gap
	}
	return tw.Formatting{Row: tw.RowContext{Current: cells, Widths: columns}}
}
