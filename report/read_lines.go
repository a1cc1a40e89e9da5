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
	var head struct {
		Kind string `json:"kind"`
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return json.Unmarshal(first, &head) == nil && head.Kind != ""
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

func (r *lineReader) take(line []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return err
	}
	d := &r.d
	switch head.Kind {
	case "":
		return errors.New("it has no kind")
	case "run":
		return r.run(line)
	case "host":
		var l hostLines
		err := json.Unmarshal(line, &l)
		r.hosts = append(r.hosts, l.Host)
		return err
	case "source":
		var l sourceLine
		err := json.Unmarshal(line, &l)
		d.Sources = append(d.Sources, l.Source)
		return err
	case "device":
		var l deviceLine
		err := json.Unmarshal(line, &l)
		d.Devices = append(d.Devices, l.Device)
		return err
	case "observation":
		var l observationLine
		err := json.Unmarshal(line, &l)
		d.Observations = append(d.Observations, l.Observation)
		return err
	case "conflict":
		var l conflictLine
		err := json.Unmarshal(line, &l)
		d.Conflicts = append(d.Conflicts, l.Conflict)
		return err
	case "finding":
		var l findingLine
		err := json.Unmarshal(line, &l)
		d.Findings = append(d.Findings, l.Finding)
		return err
	case "end":
		var l endLine
		err := json.Unmarshal(line, &l)
		d.Verdict, d.Verify, d.NotRead, d.Error, d.Notes, d.Exit = l.Verdict, l.Verify, l.NotRead, l.Error, l.Notes, l.Exit
		r.end = true
		return err
	}
	return nil
}

func (r *lineReader) run(line []byte) error {
	var l runLine
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	switch {
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
