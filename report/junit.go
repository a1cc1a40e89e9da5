package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// completed is the outcome of a child that reached its end.
const completed probe.Outcome = "completed"

// renderJUnit writes test results: what --require asked for and the findings as
// tests that pass or fail, then every observation. A rejected capability is an
// answer and passes; an unknown one is skipped; a child that was not completed
// is an error.
func renderJUnit(w io.Writer, d *probe.Document, o Options) error {
	all := junitSuites{Name: "rdmaprobe"}
	for _, s := range append([]junitSuite{runSuite(d), requireSuite(d, o), findingSuite(d)}, deviceSuites(d)...) {
		if len(s.Cases) == 0 {
			continue
		}
		if !d.Run.StartedAt.IsZero() {
			s.Timestamp = d.Run.StartedAt.UTC().Format("2006-01-02T15:04:05")
		}
		s.count()
		all.Suites = append(all.Suites, s)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
	}
	if err := all.write(w); err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	return nil
}

func (s *junitSuite) count() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

// runSuite is one test: the run did what was asked of it. A run that found
// nothing to probe fails, any other that did not get to its end is an error. What
// it has found wrong is said by the other suites.
func runSuite(d *probe.Document) junitSuite {
	c := junitCase{Class: "rdmaprobe", Name: "run"}
	text := strings.Join(emptyLines(d), "; ")
	m := &junitMessage{Message: exitText(d.Exit)}
	if why := cmp.Or(Clean(d.Error), text); why != "" {
		m.Message, m.Text = why, m.Message
	}
	switch {
	case d.Exit == probe.ExitNothing:
		c.Failure = m
	case d.Error != "", d.Exit != probe.ExitOK && d.Exit != probe.ExitFinding:
		c.Error = m
	default:
		c.Out = text
	}
	return junitSuite{Name: "run", Cases: []junitCase{c}}
}

// exitText is what an exit status means.
func exitText(code int) string {
	text := fmt.Sprintf("exit status %d", code)
	for _, e := range probe.ExitCodes {
		if e.Code == code {
			text += ": " + e.Means
		}
	}
	return text
}

// requireCode is the finding that a --require raises when it does not hold.
const requireCode = "required_capability_not_confirmed"

// requireSuite has one test for each word of --require. Only the run itself
// judges them: a report of it cannot tell that they held.
func requireSuite(d *probe.Document, o Options) junitSuite {
	s := junitSuite{Name: "require"}
	for _, want := range d.Run.Require {
		c := junitCase{Class: "require", Name: Clean(want)}
		for _, f := range d.Findings {
			if f.Code != requireCode || !concerns(f, want) {
				continue
			}
			message := cleanName(f.Scope) + ": " + Clean(f.Message)
			if c.Failure == nil {
				c.Failure = &junitMessage{Message: message, Text: Clean(f.Remedy)}
			} else {
				c.Failure.Message += "; " + message
			}
		}
		if c.Failure == nil && o.Command == "report" {
			c.Skipped = &junitMessage{Message: "a report does not judge --require"}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// concerns tells whether a finding is about a required word.
func concerns(f probe.Finding, want string) bool {
	named := func(s string) bool { return strings.HasSuffix(s, "/"+want) }
	same := func(s string) bool { return strings.Trim(s, ".") == want }
	return slices.ContainsFunc(f.Observations, named) || slices.ContainsFunc(splitWords(f.Message), same)
}

// splitWords splits a message at what cannot be in an id.
func splitWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r != '.' && r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// findingSuite has one test per finding; those of severity error fail.
func findingSuite(d *probe.Document) junitSuite {
	s := junitSuite{Name: "findings"}
	for _, f := range worstFirst(d) {
		c := junitCase{Class: "findings." + cleanName(f.Scope), Name: cleanName(f.Code), Out: Clean(f.Message)}
		if f.Severity == probe.SeverityError {
			c.Failure = &junitMessage{Message: Clean(f.Message), Text: Clean(f.Remedy)}
			c.Out = ""
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// deviceSuites has a suite per host or device with observations.
func deviceSuites(d *probe.Document) []junitSuite {
	var suites []junitSuite
	at := map[string]int{}
	for i := range d.Observations {
		o := &d.Observations[i]
		label := "host"
		if o.Device != "" {
			label = cleanName(o.Device)
		}
		if o.Host != "" {
			label = cleanName(o.Host) + "/" + label
		}
		k, ok := at[label]
		if !ok {
			k = len(suites)
			at[label] = k
			suites = append(suites, junitSuite{Name: label})
		}
		suites[k].Cases = append(suites[k].Cases, observationCase(label, o))
	}
	return suites
}

func observationCase(class string, o *probe.Observation) junitCase {
	c := junitCase{Class: class, Name: cleanName(o.ID)}
	if o.Probe != "" {
		c.Name += " in " + cleanName(o.Probe)
	}
	if o.Port != 0 {
		c.Name += fmt.Sprintf(" port %d", o.Port)
	}
	if o.OSBuild != "" {
		c.Name += " under build " + cleanName(o.OSBuild)
	}
	if o.DurationNS > 0 {
		c.Seconds = fmt.Sprintf("%.6f", float64(o.DurationNS)/1e9)
	}
	text := strings.TrimSpace(strings.Join([]string{
		Clean(string(o.Level)), Clean(string(o.Reason)), Clean(errnoText(o.Errno)), Clean(scalar(o.Value)), Clean(o.Detail),
	}, " "))
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case contained(o):
		c.Error = &junitMessage{Message: text}
	case o.Level == rdma.CapabilityUnknown:
		c.Skipped = &junitMessage{Message: text}
	default:
		c.Out = text
	}
	return c
}

// contained tells whether a row is the one in which a child had to be contained:
// it crashed, or a provider call did not return.
func contained(o *probe.Observation) bool {
	switch o.Reason {
	case probe.Crash, probe.Stuck:
		return true
	case probe.Timeout:
		return o.Child != nil && o.Child.Outcome != completed
	}
	return false
}
