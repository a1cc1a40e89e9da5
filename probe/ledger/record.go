package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Version is the format that this package writes. Readers count lines of newer
// versions and skip them.
const Version = 1

// MaxLine is the longest line in bytes, newline included, that is written or read.
const MaxLine = 16 << 20

// maxNumber bounds run and sequence numbers: JSON readers round above it.
const maxNumber = 1<<53 - 1

// The kinds of records. The list is closed within one version.
const (
	KindRun         = "run"         // the first of a run: tool, host, library, boot
	KindDevice      = "device"      // a device as it was seen
	KindIntent      = "intent"      // something risky is about to be tried
	KindObservation = "observation" // what came of it
	KindEnd         = "end"         // the last of a run that ended by itself
)

var kinds = [...]string{KindRun, KindDevice, KindIntent, KindObservation, KindEnd}

// Record is one line: a header that this package writes and reads, and a body
// that belongs to the caller.
type Record struct {
	V        int             `json:"v"`
	Kind     string          `json:"kind"`
	Run      string          `json:"run"`                // 20260102T030405-6f1d0c2b9a83: start in UTC, random part
	N        int64           `json:"n"`                  // number of the run in this ledger, from 1
	Seq      int64           `json:"seq"`                // number of the record in its run, from 1
	At       time.Time       `json:"at"`                 // UTC
	Provider string          `json:"provider,omitempty"` // run records only: "native" or "simulated:ID"
	Body     json.RawMessage `json:"body"`
}

// Encode is the record as the line that a ledger has, newline included.
func (r *Record) Encode() ([]byte, error) { return r.line(r.Body) }

// line encodes r with body in place of r.Body, newline included. Field order
// and spelling are what canonical in parse.go reads.
func (r *Record) line(body any) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, 512))
	b.Write(r.appendHeader(b.AvailableBuffer()))
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false) // evidence is read by people with jq and grep
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("encode %s record: %w", r.Kind, err)
	}
	line := b.Bytes()
	line = line[:len(line)-1] // the encoder's newline
	line = append(appendSeal(line, line), '\n')
	if len(line) > MaxLine {
		return nil, fmt.Errorf("encode %s record of %d bytes: %w", r.Kind, len(line), ErrTooLong)
	}
	return line, nil
}

func (r *Record) appendHeader(b []byte) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, int64(r.V), 10)
	b = append(b, `,"kind":"`...)
	b = append(b, r.Kind...)
	b = append(b, `","run":"`...)
	b = append(b, r.Run...)
	b = append(b, `","n":`...)
	b = strconv.AppendInt(b, r.N, 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, r.Seq, 10)
	b = append(b, `,"at":"`...)
	b = r.At.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	if r.Provider != "" {
		quoted, _ := json.Marshal(r.Provider) // a string always encodes
		b = append(append(b, `,"provider":`...), quoted...)
	}
	return append(b, `,"body":`...)
}

// usable is what a header must fulfil, in whichever way it was read.
func (r *Record) usable() bool {
	return r.V >= 1 && r.V <= Version && kindOf([]byte(r.Kind)) != "" && validRunID(r.Run) &&
		r.N >= 1 && r.N <= maxNumber && r.Seq >= 1 && r.Seq <= maxNumber &&
		!r.At.IsZero() && (r.Kind == KindRun) == (r.Provider != "")
}

// kindOf returns the constant that equals b, or "".
func kindOf(b []byte) string {
	for _, k := range kinds {
		if string(b) == k {
			return k
		}
	}
	return ""
}

// validRunID holds for what may become part of a file name: letters, digits
// and dashes, at most 64.
func validRunID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' {
			return false
		}
	}
	return true
}
