package report

import "github.com/fatih/color"

// tone is what a cell's colour stands for. The text must say the same.
type tone int

const (
	plain tone = iota
	good       // confirmed, active
	bad        // rejected, an error
	odd        // a zero, a warning
	faint      // not known
)

// palette paints texts, or leaves them alone.
type palette struct{ colors [5]*color.Color }

// newPalette decides by its argument only: the colour library would look at
// standard output and the environment.
func newPalette(on bool) palette {
	p := palette{[5]*color.Color{
		good:  color.New(color.FgGreen),
		bad:   color.New(color.FgRed),
		odd:   color.New(color.FgYellow),
		faint: color.New(color.Faint),
	}}
	for _, c := range p.colors[good:] {
		if on {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
	}
	return p
}

// paint colours a clean text.
func (p palette) paint(t tone, s string) string {
	if t == plain || s == "" {
		return s
	}
	return p.colors[t].Sprint(s)
}
