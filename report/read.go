package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/probe/jsonlimit"
)

// MaxDocument is the largest document that Read takes, in bytes.
const MaxDocument = 64 << 20

// Read reads one document, as JSON or as our JSON Lines. A newer minor version is read, and what this program
// does not know of it is dropped; a newer major version, another kind of
// document and anything else is refused with a word on what it is. The document
// may come from anywhere: it is checked for form, not for truth.
func Read(r io.Reader) (*probe.Document, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	if len(b) > MaxDocument {
		return nil, fmt.Errorf("read document: larger than %d MiB", MaxDocument>>20)
	}
	if err := jsonlimit.Check(b); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if beginsLines(b) {
		d, err := readLines(b)
		if err != nil {
			return nil, fmt.Errorf("read document: %w", err)
		}
		return whole(d), nil
	}
	if err := checkForm(b); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	var d probe.Document
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("read document: %w", placed(b, err))
	}
	return whole(&d), nil
}

// checkForm tells a document of this program from all else, before its fields
// are looked at.
func checkForm(b []byte) error {
	switch start := bytes.TrimSpace(b); {
	case len(start) == 0:
		return errors.New("it is empty")
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return errors.New("it is UTF-16 text, a document is UTF-8")
	case start[0] == '[':
		return errors.New("it is a JSON array, not an rdmaprobe document")
	case start[0] != '{':
		return errors.New("it is not JSON")
	}
	var head struct {
		Schema        string `json:"schema"`
		SchemaVersion string `json:"schema_version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		if isLines(b) {
			return errors.New("it is several JSON values, not one document")
		}
		return placed(b, err)
	}
	switch {
	case head.Schema == "":
		return errors.New("it is JSON without a schema, not an rdmaprobe document")
	case head.Schema != probe.Schema:
		return fmt.Errorf("it is a document of schema %q, not %s", cleanName(head.Schema), probe.Schema)
	}
	return checkVersion(head.SchemaVersion)
}

// isLines tells whether more JSON values follow the first.
func isLines(b []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(b))
	var first, second json.RawMessage
	return dec.Decode(&first) == nil && dec.Decode(&second) == nil
}

// checkVersion accepts every minor version of our own major one.
func checkVersion(v string) error {
	ours, _, _ := strings.Cut(probe.SchemaVersion, ".")
	major, minor, ok := strings.Cut(v, ".")
	n, err := strconv.ParseUint(major, 10, 16)
	_, err2 := strconv.ParseUint(minor, 10, 16)
	switch {
	case !ok || err != nil || err2 != nil:
		return fmt.Errorf("its schema version is %q, not a number like %s", cleanName(v), probe.SchemaVersion)
	case strconv.FormatUint(n, 10) != ours:
		return fmt.Errorf("its schema version is %s, this program reads %s.x: use the rdmaprobe that wrote it, or a newer one",
			cleanName(v), ours)
	}
	return nil
}

// placed adds the line to an error of the JSON decoder.
func placed(b []byte, err error) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	offset := int64(0)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &wrong):
		offset = wrong.Offset
	default:
		return errors.New(Clean(err.Error()))
	}
	offset = min(max(offset, 0), int64(len(b)))
	line := 1 + bytes.Count(b[:offset], []byte("\n"))
	return fmt.Errorf("line %d: %s", line, Clean(strings.TrimPrefix(err.Error(), "json: ")))
}
