package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// rendering is the format that was asked for. checkGlobals has refused names that
// are none.
func (a *app) rendering() report.Format {
	f, err := report.Lookup(a.format)
	if err != nil {
		panic(err)
	}
	return f
}

// write renders a document on stdout, or into the file of --out.
func (a *app) write(d *probe.Document, command string) error {
	d, err := a.redacted(d)
	if err != nil {
		return err
	}
	if a.told != nil && a.rendering().Row != nil {
		return a.told.finish(a.out, d)
	}
	if err := a.rendering().Render(a.sized(), d, a.renderOptions(command)); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// sized is where a document goes that report shall be able to read.
func (a *app) sized() io.Writer {
	if a.format != "json" && a.format != "jsonl" {
		return a.out
	}
	return &sizedOut{out: a.out, most: report.MaxDocument, tell: a.complain}
}

// sizedOut tells of a document that report will not read, before it writes what goes
// beyond that.
type sizedOut struct {
	out     io.Writer
	written int
	most    int
	tell    func(error)
}

func (s *sizedOut) Write(b []byte) (int, error) {
	if s.written <= s.most && s.written+len(b) > s.most {
		s.tell(fmt.Errorf("this document is larger than the %d MiB that rdmaprobe report reads of one: name some devices at a time with -d, or report from the ledger", s.most>>20))
	}
	n, err := s.out.Write(b)
	s.written += n
	return n, err
}

// renderOptions are those of the command's output.
func (a *app) renderOptions(command string) report.Options {
	width, tty := a.terminal(a.out)
	o := report.Options{Command: command, Now: time.Now(), Color: a.useColor(tty)}
	if tty {
		o.Width = width
	}
	return o
}

// stdout is the command's output unless --out names another. It takes nothing after
// a failed write, and remembers the failure: not all that write pass it on.
type stdout struct {
	out    io.Writer
	failed error
}

func (s *stdout) Write(b []byte) (n int, err error) {
	if s.failed == nil {
		n, s.failed = s.out.Write(b)
	}
	return n, s.failed
}

// complain tells of an error on stderr.
func (a *app) complain(err error) {
	fmt.Fprintf(a.err, "rdmaprobe: %s\n", report.Clean(err.Error()))
}

// show writes a command's document and takes over its status. For people the
// error of a failed run is on stderr, for programs it is in the document.
func (a *app) show(d *probe.Document, command string, err error) error {
	a.exit = d.Exit
	if err != nil && a.format != "json" {
		if d.Exit == probe.ExitUsage {
			return err
		}
		a.complain(err)
	}
	if werr := a.write(d, command); werr != nil {
		return werr
	}
	if a.exit != probe.ExitOK {
		return &toldError{}
	}
	return nil
}

// useColor decides by the usual variables, in this order: the flag, NO_COLOR,
// FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR and TERM, then whether it is a terminal.
func (a *app) useColor(tty bool) bool {
	off := func(v string) bool { return v == "0" || strings.EqualFold(v, "false") }
	switch {
	case a.color != "auto":
		return a.color == "always"
	case a.env("NO_COLOR") != "":
		return false
	case a.env("FORCE_COLOR") != "":
		return !off(a.env("FORCE_COLOR"))
	case a.env("CLICOLOR_FORCE") != "" && !off(a.env("CLICOLOR_FORCE")):
		return true
	case off(a.env("CLICOLOR")) && a.env("CLICOLOR") != "", a.env("TERM") == "dumb":
		return false
	}
	return tty
}

// terminal tells whether w is one, and how wide.
func terminal(w io.Writer) (int, bool) {
	if s, ok := w.(*stdout); ok {
		w = s.out
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	return width, true
}

// progress is one line on stderr that is rewritten while children run, on a
// terminal only.
func (a *app) progress() (show func(probe.Progress), clear func()) {
	if _, tty := a.terminal(a.err); !tty || a.env("TERM") == "dumb" {
		return nil, func() {}
	}
	return func(p probe.Progress) {
			fmt.Fprintf(a.err, "\r\x1b[K[%d/%d] %s %s", p.Done+1, p.Total, report.Clean(p.Device), p.Probe)
		}, func() {
			fmt.Fprint(a.err, "\r\x1b[K")
		}
}
