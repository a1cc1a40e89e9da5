package probe

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// Every limit that a row tells of is a note, an error and no verdict of ready; one
// that this version does not know as well.
func TestLimitsAreTold(t *testing.T) {
	names := []string{"of_a_later_version"}
	for _, l := range limits {
		names = append(names, l.name)
	}
	for _, name := range names {
		for _, device := range []string{"", "mlx5_0"} {
			s := linuxScene()
			s.confirm("mlx5_0", "port.state", "gid.usable", "qp.rc.create")
			if v := VerdictOf(s.d); v.Word != VerdictReady {
				t.Fatalf("without a limit: %+v", v)
			}
			id := map[bool]string{true: "dev.enumerate", false: "gid.usable"}[device == ""]
			o := s.row(device, id)
			o.Data = map[string]any{dataLimit: name, dataLimitFound: 123456}
			r := recorder{doc: NewDocument(Tool{}, nil)}
			r.observe(*o)
			r.observe(*o)
			if len(r.doc.Notes) != 1 || !strings.Contains(r.doc.Notes[0], "123456") || !strings.Contains(r.doc.Notes[0], device) {
				t.Errorf("%s on %q: notes %q", name, device, r.doc.Notes)
			}
			s.d.Findings = Findings(s.d, FindingContext{Command: "doctor"})
			i := slices.IndexFunc(s.d.Findings, func(f Finding) bool { return f.Code == codeLimitMet })
			if i < 0 || s.d.Findings[i].Severity != SeverityError || s.d.Findings[i].Remedy == "" || !strings.Contains(s.d.Findings[i].Message, "123456") {
				t.Errorf("%s on %q: %+v", name, device, s.d.Findings)
			}
			if v := VerdictOf(s.d); v.Word != VerdictNotKnown || !strings.Contains(v.Text, "limit") {
				t.Errorf("%s on %q: %+v", name, device, v)
			}
		}
	}
}

// What a child sends beyond a limit is dropped, and told.
func TestAttemptMeetsLimits(t *testing.T) {
	message := func(typ string, body any) guard.Message {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return guard.Message{Type: typ, Body: b}
	}
	row := Observation{ID: "dev.open", Device: "d", Level: rdma.CapabilityConfirmed}
	for name, tt := range map[string]struct {
		fill func(*attempt)
		last guard.Message
		want string
	}{
		"rows":    {func(a *attempt) { a.rows = make([]Observation, maxRows) }, message(msgObservation, row), limitRows},
		"devices": {func(a *attempt) { a.devices, a.rows = make([]Device, maxRows), make([]Observation, 1) }, message(msgDevice, Device{}), limitRows},
		"message": {func(a *attempt) { a.rows = make([]Observation, 1) }, message(msgCut, msgDevice), limitMessage},
		"none":    {func(*attempt) {}, message(msgObservation, row), ""},
	} {
		a := &attempt{}
		tt.fill(a)
		a.take(tt.last)
		a.tellMet()
		if got := dataText(a.rows[len(a.rows)-1].Data, dataLimit); got != tt.want {
			t.Errorf("%s: the last row tells of %q, want %q", name, got, tt.want)
		}
	}
	silent := &attempt{met: []string{limitMessage, limitRows}}
	if notes := silent.tellMet(); len(notes) != 2 {
		t.Errorf("a child without rows met two limits: notes %q", notes)
	}
	two := &attempt{met: []string{limitMessage, limitRows}, rows: make([]Observation, 2)}
	if notes := two.tellMet(); len(notes) != 0 || dataText(two.rows[0].Data, dataLimit) == "" || dataText(two.rows[1].Data, dataLimit) == "" {
		t.Errorf("two limits met with two rows: %+v, notes %q", two.rows, notes)
	}
	a := &attempt{}
	for i := range rdma.MaxDevices {
		a.take(message(msgListed, listedDevice{Name: strings.Repeat("\x01", 50) + fmt.Sprint(i)}))
	}
	if len(a.listed) != rdma.MaxDevices {
		t.Errorf("%d of %d listed devices are taken", len(a.listed), rdma.MaxDevices)
	}
}

// A count of nothing in a table that was not read to its end is no zero.
func TestCutTableHasNoZero(t *testing.T) {
	for _, tt := range []struct {
		n    int
		cut  bool
		want rdma.Capability
	}{{0, false, rdma.CapabilityObservedZero}, {0, true, rdma.CapabilityUnknown}, {1, true, rdma.CapabilityConfirmed}} {
		if got := gidCount(tt.n, tt.cut); got != tt.want {
			t.Errorf("%d, cut %v: %s, want %s", tt.n, tt.cut, got, tt.want)
		}
	}
}

// loudBounds are the bounds of this package that no row of limits tells, and what tells
// them instead.
var loudBounds = map[string]string{
	"maxPorts": "is all that a number of a port can be", "maxGIDs": limitGIDSlots, "maxKept": limitGIDs, "maxRows": limitRows,
	"maxTold": "the note has the number", "maxListed": "the phrase has the number", "maxQuoted": "the text ends in dots",
	"maxRecords": "Gathered.LeftOut counts them", "maxDifferences": "Verify.Error says so", "maxComplaints": "the next line counts them",
	"maxRemembered": "of a server, whose ledger has all", "maxSessions": "the next client is refused, with a word", "maxStrangers": "the next is refused",
	"maxTries": "the pairing fails, with a word", "maxTimeout": "refused as usage", "maxMessage": "refused as usage", "maxIterations": "refused as usage",
	"maxSGIDIndex": "the entry is not taken, and a finding says so", "maxFrames": "a size that is refused, with a word",
	"maxErrno": "a number, not an amount", "maxParallel": "the others wait", "maxAhead": "the others wait",
}

// A new bound is a row of limits, or says here what tells of it.
func TestNoSilentBound(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for _, name := range v.Names {
				if rest, is := strings.CutPrefix(name.Name, "max"); is && rest != "" && rest[0] <= 'Z' {
					seen[name.Name] = true
					if loudBounds[name.Name] == "" {
						t.Errorf("%s of %s: nothing tells when it is met", name.Name, file)
					}
				}
			}
			return true
		})
	}
	for name := range loudBounds {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
