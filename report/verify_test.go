package report

import (
	"bytes"
	"strings"
	"testing"

	"rdmaprobe/probe"
)

// Every format for people tells what differs, and lets nothing of the tool's
// text act on a terminal.
func TestVerifyIsTold(t *testing.T) {
	d := macSix()
	d.Verify = &probe.Verify{
		Tool: "ibv_devinfo -v", Fields: 58, NotCompared: []string{"new_thing"}, Error: "run ibv_devinfo: exit status 255: \x1b[2Joops",
		Differences: []probe.Difference{
			{Device: "rdma_en2", Port: 1, Field: "state", Ours: "active", Theirs: "down"},
			{Device: "rdma\x1b[31m_en3", Field: "max_qp", Ours: "11", Theirs: "\x1b[1m3\u202e"},
			{Device: "rdma_en4", Field: "listed", Ours: "true"},
		},
	}
	for _, format := range []string{"table", "wide", "markdown", "html"} {
		t.Run(format, func(t *testing.T) {
			f, err := Lookup(format)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := f.Render(&b, d, Options{Now: clock, Command: "devices"}); err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer(`\_`, "_", `\[`, "[").Replace(b.String())
			for _, want := range []string{
				"58 fields compared, 3 differ", "rdma_en2 port 1 state: active here, down there", "max_qp: 11 here", "listed: true here, nothing there",
				"1 fields of the tool are not in the document", "not verified: run ibv_devinfo: exit status 255",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("a control character is left in\n%q", text)
			}
		})
	}
	d.Verify = &probe.Verify{Tool: "ibv_devinfo -v", Error: "run ibv_devinfo: file does not exist"}
	if lines := verifyLines(d); len(lines) != 1 || !strings.HasPrefix(lines[0], "not verified: ") {
		t.Errorf("%q: a comparison that was none must not count", lines)
	}
}

// In the document the list is there also when it is empty.
func TestVerifyInJSON(t *testing.T) {
	d := rxe()
	d.Verify = &probe.Verify{Tool: "ibv_devinfo -v", Fields: 7}
	for _, format := range []string{"json", "jsonl"} {
		f, err := Lookup(format)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Render(&b, d, Options{}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(b.String()), ""); !strings.Contains(text, `"verify":{"tool":"ibv_devinfo-v","fields":7,"differences":[]}`) {
			t.Errorf("%s: no verify in it", format)
		}
	}
	if d.Verify.Differences != nil {
		t.Error("rendering changed the document")
	}
}
