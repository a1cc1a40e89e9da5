package report

import (
	"fmt"
	"io"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
)

// The lines of JSON Lines: each an object with a kind, its fields named as in
// the document.
type (
	runLine struct {
		Kind          string         `json:"kind"`
		Schema        string         `json:"schema"`
		SchemaVersion string         `json:"schema_version"`
		Tool          probe.Tool     `json:"tool"`
		Run           probe.RunInfo  `json:"run"`
		Provider      probe.Provider `json:"provider"`
		Redacted      bool           `json:"redacted,omitempty"`
	}
	hostLines struct {
		Kind string `json:"kind"`
		hostfacts.Host
	}
	deviceLine struct {
		Kind string `json:"kind"`
		probe.Device
	}
	observationLine struct {
		Kind string `json:"kind"`
		probe.Observation
	}
	sourceLine struct {
		Kind string `json:"kind"`
		probe.Source
	}
	conflictLine struct {
		Kind string `json:"kind"`
		probe.Conflict
	}
	findingLine struct {
		Kind string `json:"kind"`
		probe.Finding
	}
	endLine struct {
		Kind    string          `json:"kind"`
		Verdict *probe.Verdict  `json:"verdict,omitempty"`
		Verify  *probe.Verify   `json:"verify,omitempty"`
		NotRead []probe.NotRead `json:"not_read,omitempty"`
		Error   string          `json:"error,omitempty"`
		Notes   []string        `json:"notes,omitempty"`
		Exit    int             `json:"exit"`
	}
)

// renderJSONL writes the parts of a document as lines of kind run, source, host,
// device, observation, conflict, finding and, last, end: without an end the text was cut short.
func renderJSONL(w io.Writer, d *probe.Document, _ Options) error {
	d = whole(d)
	lines := []any{&runLine{"run", d.Schema, d.SchemaVersion, d.Tool, d.Run, d.Provider, d.Redacted}}
	for i := range d.Sources {
		lines = append(lines, &sourceLine{"source", d.Sources[i]})
	}
	hosts := hostsOf(d)
	for i := range hosts {
		lines = append(lines, &hostLines{"host", hosts[i]})
	}
	for i := range d.Devices {
		lines = append(lines, &deviceLine{"device", d.Devices[i]})
	}
	for i := range d.Observations {
		lines = append(lines, &observationLine{"observation", d.Observations[i]})
	}
	for i := range d.Conflicts {
		lines = append(lines, &conflictLine{"conflict", d.Conflicts[i]})
	}
	for i := range d.Findings {
		lines = append(lines, &findingLine{"finding", d.Findings[i]})
	}
	lines = append(lines, &endLine{"end", d.Verdict, d.Verify, d.NotRead, d.Error, d.Notes, d.Exit})
	for _, l := range lines {
		if err := writeLine(w, l); err != nil {
			return err
		}
	}
	return nil
}

// writeRow writes one observation as a line, as it stands among the lines of a
// whole document.
func writeRow(w io.Writer, o probe.Observation) error {
	return writeLine(w, observationLine{"observation", o})
}

func writeLine(w io.Writer, line any) error {
	b, err := encode(line, "")
	if err != nil {
		return fmt.Errorf("encode line: %w", err)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write line: %w", err)
	}
	return nil
}
