package report

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"

	"rdmaprobe/probe"
)

// pageStyle is the whole look of the page: light and dark, and readable on a
// phone. html/template would cost 1.8 MiB of binary for less.
//
//go:embed page.css
var pageStyle string

// page writes HTML. Every foreign text goes through esc.
type page struct{ *printer }

// esc makes a foreign text safe inside an element and a quoted attribute.
func esc(s string) string { return html.EscapeString(Clean(s)) }

// renderHTML writes one page that needs nothing else: no script, no font, no
// picture from anywhere.
func renderHTML(w io.Writer, d *probe.Document, o Options) error {
	p := page{newPrinter(w, d, o, true)}
	p.s.printf("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.s.printf("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	p.s.printf("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
	p.s.printf("<title>RDMA report</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>RDMA report</h1>\n", pageStyle)
	if v := p.d.Verdict; v != nil {
		p.s.printf("<p class=\"%s\"><b>%s</b></p>\n", toneClass[verdictTone[v.Word]], esc(v.Text))
	}
	p.about()
	p.htmlGrid("Verdict", dropEmpty(p.verdictGrid()))
	p.capabilities()
	p.findingList()
	p.htmlGrid("Ports", p.devicesGrid())
	p.htmlItems(p.stateLegend())
	p.htmlGrid("GID tables", dropEmpty(p.oneHost(p.gidsGrid())))
	p.latencies()
	p.htmlGrid("Limits", dropEmpty(p.oneHost(p.limitsGrid())))
	p.observations()
	p.list("Compared with the system's own tool", verifyLines(d))
	p.list("Not read", notReadTexts(d))
	p.list("Notes", d.Notes)
	p.s.printf("</body>\n</html>\n")
	return p.s.close()
}

// about says whose machine, which library and which run.
func (p page) about() {
	p.s.printf("<ul class=\"about\">\n")
	for _, l := range aboutHosts(p.d) {
		p.s.printf("<li>%s</li>\n", esc(l))
	}
	if l := libraryLine(p.d); l != "" {
		p.s.printf("<li>%s</li>\n", esc(l))
	}
	p.s.printf("<li>%s %s, run %s at %s</li>\n", esc(p.d.Tool.Name), esc(p.d.Tool.Version), esc(p.d.Run.ID),
		p.d.Run.StartedAt.UTC().Format("2006-01-02 15:04:05Z"))
	if p.d.Redacted {
		p.s.printf("<li>%s</li>\n", redactedText)
	}
	p.s.printf("</ul>\n")
	if p.d.Provider.Kind == probe.Simulated {
		p.s.printf("<p class=\"odd\">%s</p>\n", esc(simulatedLine(p.d)))
	}
	for _, l := range emptyLines(p.d) {
		p.s.printf("<p class=\"bad\">%s</p>\n", esc(l))
	}
}

// capabilities is the matrix, and where sources disagree.
func (p page) capabilities() {
	m := matrixOfAll(p.d, p.r)
	p.htmlGrid("Capabilities", matrixGrid(p.printer, m))
	p.htmlItems(legend(m))
	p.list("Conflicts between files", conflictLines(p.d, p.o))
	p.list("Evidence against documents", contradictions(p.d, p.r))
}

// htmlItems explain a grid.
func (p page) htmlItems(items []string) {
	if len(items) > 0 {
		p.s.printf("<p class=\"faint\">%s</p>\n", esc(strings.Join(items, "; ")))
	}
}

// findingList is the findings, worst first; those that want the same of several
// devices are one.
func (p page) findingList() {
	for i, g := range p.grouped() {
		if i == 0 {
			p.s.printf("<h2>Findings</h2>\n")
		}
		class := toneClass[severityTone[g.Severity]]
		p.s.printf("<section class=\"finding edge-%s\">\n<h3><span class=\"%s\">%s</span> <code>%s</code> %s</h3>\n",
			class, class, esc(g.Severity), esc(g.Code), esc(strings.Join(g.scopes, ", ")))
		for _, m := range g.messages {
			p.s.printf("<p>%s</p>\n", codeSpans(m))
		}
		for _, h := range []struct{ label, text string }{{"Fix", g.Remedy}, {"Undo", g.Undo}, {"Check", g.Check}} {
			if h.text == "" {
				continue
			}
			text := codeSpans(h.text)
			if h.label == "Check" && !strings.Contains(h.text, "`") && strings.HasPrefix(h.text, "rdmaprobe ") {
				text = "<code>" + esc(h.text) + "</code>"
			}
			p.s.printf("<p><b>%s:</b> %s</p>\n", h.label, text)
		}
		p.s.printf("</section>\n")
	}
}

// codeSpans escapes a text and sets what stands between two backticks as code.
func codeSpans(s string) string {
	parts := strings.Split(Clean(s), "`")
	if len(parts)%2 == 0 { // one backtick has no partner
		return esc(s)
	}
	for i := range parts {
		parts[i] = html.EscapeString(parts[i])
		if i%2 == 1 {
			parts[i] = "<code>" + parts[i] + "</code>"
		}
	}
	return strings.Join(parts, "")
}

// observations is every row, folded away.
func (p page) observations() {
	if len(p.d.Observations) == 0 {
		return
	}
	p.s.printf("<details>\n<summary>%d observations</summary>\n", len(p.d.Observations))
	p.htmlGrid("", dropEmpty(p.oneHost(p.observationsGrid())))
	p.s.printf("</details>\n")
}

// toneClass is the class of a tone in page.css.
var toneClass = map[tone]string{plain: "plain", good: "good", bad: "bad", odd: "odd", faint: "faint"}

// longCell is the widest cell that is set in one line.
const longCell = 48

// htmlGrid writes a table that scrolls by itself where the page is narrow.
func (p page) htmlGrid(title string, g *grid) {
	if len(g.rows) == 0 {
		return
	}
	if title != "" {
		p.s.printf("<h2>%s</h2>\n", esc(title))
	}
	p.s.printf("<div class=\"scroll\"><table>\n<thead><tr>")
	for _, h := range g.head {
		p.s.printf("<th scope=\"col\">%s</th>", esc(h))
	}
	p.s.printf("</tr></thead>\n<tbody>\n")
	for _, row := range g.rows {
		p.s.printf("<tr>")
		for _, c := range row {
			class := toneClass[c.tone]
			if width(c.text) > longCell {
				class += " long"
			}
			if class == toneClass[plain] {
				p.s.printf("<td>%s</td>", esc(c.text))
			} else {
				p.s.printf("<td class=\"%s\">%s</td>", class, esc(c.text))
			}
		}
		p.s.printf("</tr>\n")
	}
	p.s.printf("</tbody></table></div>\n")
}

// list writes texts under a heading.
func (p page) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.s.printf("<h2>%s</h2>\n<ul>\n", esc(title))
	for _, s := range items {
		p.s.printf("<li>%s</li>\n", esc(s))
	}
	p.s.printf("</ul>\n")
}

func notReadTexts(d *probe.Document) []string {
	var texts []string
	for _, n := range d.NotRead {
		texts = append(texts, fmt.Sprintf("%s from %s: %s", Clean(n.Fact), Clean(n.Source), Clean(n.Why)))
	}
	return texts
}
