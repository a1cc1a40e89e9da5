package report

import "fmt"

// Sizes of a latency chart, in its own units.
const (
	barHeight = 20
	barLabel  = 56
	barSpan   = 300
	barNote   = 100
)

// latencies draws each ping-pong's quantiles as bars.
func (p page) latencies() {
	for i, l := range latencies(p.d) {
		if i == 0 {
			p.s.printf("<h2>Round trips</h2>\n")
		}
		title := fmt.Sprintf("%s port %d, %s", cleanName(l.row.Device), l.row.Port, l.row.ID)
		if size, ok := whole64(l.row.Data["size"]); ok {
			title += fmt.Sprintf(", %d bytes", size)
		}
		p.s.printf("<figure>\n<figcaption>%s%s</figcaption>\n", esc(title), esc(counted(l)))
		p.bars(title, l.quantiles)
		p.s.printf("</figure>\n")
	}
}

// counted says how many round trips a latency stands on.
func counted(l latency) string {
	n, ok := whole64(l.row.Data["count"])
	if !ok {
		return ""
	}
	s := fmt.Sprintf(": %d round trips", n)
	if v, ok := whole64(l.row.Data["verified"]); ok {
		s += fmt.Sprintf(", %d verified", v)
	}
	if v, ok := whole64(l.row.Data["lost"]); ok {
		s += fmt.Sprintf(", %d lost", v)
	}
	return s
}

// bars draws one horizontal bar per quantile; the longest fills the width. The
// numbers stand beside them as text.
func (p page) bars(title string, quantiles []quantile) {
	longest := 1
	for _, q := range quantiles {
		longest = max(longest, q.ns)
	}
	w, h := barLabel+barSpan+barNote, barHeight*len(quantiles)
	p.s.printf("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", w, h, esc(title))
	for i, q := range quantiles {
		y := i * barHeight
		length := float64(q.ns) / float64(longest) * barSpan
		p.s.printf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", barLabel-8, y+14, esc(q.name))
		p.s.printf("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>", barLabel, y+3, length, barHeight-6)
		p.s.printf("<text x=\"%.1f\" y=\"%d\">%s</text>\n", float64(barLabel)+length+6, y+14, esc(took(int64(q.ns))))
	}
	p.s.printf("</svg>\n")
}
