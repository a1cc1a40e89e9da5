package report

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"
)

// The elements of JUnit's XML that build servers agree on. Their tags are what
// the tests read them back by: to write them, encoding/xml with its reader would
// weigh 90 kB for these few lines.
type (
	junitSuites struct {
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Seconds string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
		Skipped *junitMessage `xml:"skipped"`
		Out     string        `xml:"system-out"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func (all *junitSuites) write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	fmt.Fprintf(&b, `<testsuites name="%s"%s>`+"\n", xmlText(all.Name), counts(all.Tests, all.Failures, all.Errors, all.Skipped))
	for i := range all.Suites {
		all.Suites[i].write(&b)
	}
	b.WriteString("</testsuites>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func counts(tests, failures, errors, skipped int) string {
	return fmt.Sprintf(` tests="%d" failures="%d" errors="%d" skipped="%d"`, tests, failures, errors, skipped)
}

func (s *junitSuite) write(b *strings.Builder) {
	fmt.Fprintf(b, `  <testsuite name="%s"%s%s>`+"\n", xmlText(s.Name), counts(s.Tests, s.Failures, s.Errors, s.Skipped), optional("timestamp", s.Timestamp))
	for i := range s.Cases {
		s.Cases[i].write(b)
	}
	b.WriteString("  </testsuite>\n")
}

func (c *junitCase) write(b *strings.Builder) {
	fmt.Fprintf(b, `    <testcase classname="%s" name="%s"%s>`, xmlText(c.Class), xmlText(c.Name), optional("time", c.Seconds))
	empty := b.Len()
	c.Failure.write(b, "failure")
	c.Error.write(b, "error")
	c.Skipped.write(b, "skipped")
	if c.Out != "" {
		fmt.Fprintf(b, "\n      <system-out>%s</system-out>", xmlText(c.Out))
	}
	if b.Len() > empty {
		b.WriteString("\n    ")
	}
	b.WriteString("</testcase>\n")
}

func (m *junitMessage) write(b *strings.Builder, element string) {
	if m != nil {
		fmt.Fprintf(b, "\n      <%s message=\"%s\">%s</%[1]s>", element, xmlText(m.Message), xmlText(m.Text))
	}
}

func optional(attribute, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, attribute, xmlText(value))
}

// xmlText is a text as it may stand in an element or between double quotes. What
// XML has no way to write becomes U+FFFD.
func xmlText(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s))
}
