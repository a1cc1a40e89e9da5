package cmd

import (
	"os"
	"os/user"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// redacts tells whether the result gets stand-ins. A key asks for them too. The
// arguments are looked at as well: flags may have failed to parse.
func (a *app) redacts() bool {
	if a.redact || a.redactKey != "" {
		return true
	}
	for _, s := range a.args {
		switch {
		case s == "--":
			return false
		case s == "--redact" || s == "--redact=true" || strings.HasPrefix(s, "--redact-key"):
			return true
		}
	}
	return false
}

// stand is the Redactor of this command, which knows this machine and its user.
func (a *app) stand() *report.Redactor {
	if a.redactor != nil {
		return a.redactor
	}
	a.redactor = report.NewRedactor(a.redactKey)
	if name, err := os.Hostname(); err == nil {
		a.redactor.Know(report.HostNames, name)
	}
	if u, err := user.Current(); err == nil {
		a.redactor.Know(report.UserNames, u.Username)
		a.redactor.Know(report.HomePaths, u.HomeDir)
	}
	a.redactor.Know(report.UserNames, a.env("SUDO_USER"))
	a.redactor.Know(report.HomePaths, a.env("HOME"))
	return a.redactor
}

// redacted is the document as it may be shown. One that has stand-ins keeps them:
// with one key they are those that it would get.
func (a *app) redacted(d *probe.Document) (*probe.Document, error) {
	if !a.redacts() || d.Redacted {
		return d, nil
	}
	return a.stand().Document(d)
}

// redactInputs puts stand-ins into files before they are merged.
func (a *app) redactInputs(inputs []probe.MergeInput) error {
	if !a.redacts() {
		return nil
	}
	for _, in := range inputs {
		if err := a.stand().Learn(in.Document); err != nil {
			return err
		}
	}
	for i := range inputs {
		var err error
		if inputs[i].Document, err = a.redacted(inputs[i].Document); err != nil {
			return err
		}
		inputs[i].File = a.stand().File(inputs[i].File)
	}
	return nil
}

// scrub is a text as it may be shown.
func (a *app) scrub(s string) string {
	if !a.redacts() {
		return s
	}
	return a.stand().Text(s)
}

// scrubFile is a file's name, or a build's, as it may be shown.
func (a *app) scrubFile(s string) string {
	if !a.redacts() || strings.HasPrefix(s, "build:") || !exists(s) {
		return s
	}
	return a.stand().File(s)
}

// command is the command line for the record, without the key.
func (a *app) command() []string {
	c := append([]string{"rdmaprobe"}, a.args...)
	for i, s := range c {
		if strings.HasPrefix(s, "--redact-key=") {
			c[i] = "--redact-key=***"
		} else if i > 0 && c[i-1] == "--redact-key" {
			c[i] = "***"
		}
	}
	return c
}
