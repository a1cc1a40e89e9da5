package report

import (
	"bytes"
	"encoding/json"
)

// IsLedger tells from the beginning of a file whether it is a ledger: its first
// line is a record, or begins like one.
func IsLedger(head []byte) bool {
	line := bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(line, []byte(`{"v":`)) {
		return true
	}
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	var rec struct {
		V    int    `json:"v"`
		Kind string `json:"kind"`
		Run  any    `json:"run"`
	}
	return json.Unmarshal(line, &rec) == nil && rec.V >= 1 && rec.Kind != "" && rec.Run != nil
}
