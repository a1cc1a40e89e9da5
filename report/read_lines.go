package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
)

// beginsLines tells from its first line whether a text is our JSON Lines.
func beginsLines(b []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	head, err := decoded[lineHead](first)
	return err == nil && head.Kind != ""
}

// lineHead is what every line has.
type lineHead struct {
	Kind string `json:"kind"`
}

// lineReader puts the lines of renderJSONL together again. A run that told of
// its observations as they came has them before its line of kind run.
type lineReader struct {
	d          probe.Document
	hosts      []hostfacts.Host
	begun, end bool
}

// readLines reads one document from its lines. Kinds that this program does not
// know are dropped, as fields are.
func readLines(b []byte) (*probe.Document, error) {
	var r lineReader
	for n := 1; len(b) > 0; n++ {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if r.end {
			return nil, fmt.Errorf("line %d: more after the end: a file holds one document", n)
		}
		if err := r.take(line); err != nil {
			return nil, fmt.Errorf("line %d: %s", n, Clean(strings.TrimPrefix(err.Error(), "json: ")))
		}
	}
	if !r.begun || !r.end {
		return nil, errors.New("it was cut short: JSON Lines have one line of kind run and, last, one of kind end")
	}
	if len(r.hosts) == 1 {
		r.d.Host = &r.hosts[0]
	} else {
		r.d.Hosts = r.hosts
	}
	return &r.d, nil
}

// decoded is a line of one kind.
func decoded[T any](line []byte) (*T, error) {
	l := new(T)
	err := json.Unmarshal(line, l)
	return l, err
}

// take reads one line into the document.
func (r *lineReader) take(line []byte) error {
	head, err := decoded[lineHead](line)
	if err != nil {
		return err
	}
	d := &r.d
	switch head.Kind {
	case "":
		return errors.New("it has no kind")
	case "run":
		return r.run(line)
	case "host":
		l, err := decoded[hostLines](line)
		r.hosts = append(r.hosts, l.Host)
		return err
	case "source":
		l, err := decoded[sourceLine](line)
		d.Sources = append(d.Sources, l.Source)
		return err
	case "device":
		l, err := decoded[deviceLine](line)
		d.Devices = append(d.Devices, l.Device)
		return err
	case "observation":
		l, err := decoded[observationLine](line)
		d.Observations = append(d.Observations, l.Observation)
		return err
	case "conflict":
		l, err := decoded[conflictLine](line)
		d.Conflicts = append(d.Conflicts, l.Conflict)
		return err
	case "finding":
		l, err := decoded[findingLine](line)
		d.Findings = append(d.Findings, l.Finding)
		return err
	case "end":
		l, err := decoded[endLine](line)
		d.Verdict, d.Verify, d.NotRead, d.Error, d.Notes, d.Exit = l.Verdict, l.Verify, l.NotRead, l.Error, l.Notes, l.Exit
		r.end = true
		return err
	}
	return nil
}

func (r *lineReader) run(line []byte) error {
	l, err := decoded[runLine](line)
	switch {
	case err != nil:
		return err
	case r.begun:
		return errors.New("a second run: a file holds one document")
	case l.Schema != probe.Schema:
		return fmt.Errorf("its schema is %q, not %s", cleanName(l.Schema), probe.Schema)
	}
	r.begun = true
	r.d.Schema, r.d.SchemaVersion, r.d.Tool, r.d.Run = l.Schema, l.SchemaVersion, l.Tool, l.Run
	r.d.Provider, r.d.Redacted = l.Provider, l.Redacted
	return checkVersion(l.SchemaVersion)
}
