//go:build (linux || darwin) && (amd64 || arm64)

package cmd

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/report/bundle"
)

// cli runs the program in this process.
func cli(t *testing.T, stdin io.Reader, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	s := streams{in: stdin, out: &o, err: &e, terminal: terminal, env: func(string) string { return "" }}
	status = run(t.Context(), s, args)
	return status, o.String(), e.String()
}

// packed is a redacted bundle of a simulated machine after a probe and a doctor.
func packed(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "machine.tar.gz")
	globals := []string{"--provider", "sim:mac-mini-m4pro", "--store", filepath.Join(dir, "evidence.jsonl")}
	for _, line := range [][]string{{"probe", "--rc"}, {"doctor"}, {"report", "--bundle", file}} {
		if status, _, errs := cli(t, strings.NewReader(""), append(globals, line...)...); status != 0 && line[0] != "doctor" {
			t.Fatalf("%v: exit %d: %s", line, status, errs)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// changed is a bundle with another document.
func changed(t *testing.T, data []byte, change func(*probe.Document)) []byte {
	t.Helper()
	b, err := bundle.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.Document()
	if err != nil {
		t.Fatal(err)
	}
	change(d)
	document, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	other := bundle.New(b.Manifest.Tool, b.Manifest.At, b.Manifest.Redacted)
	for name, content := range b.Files {
		if name == bundle.DocumentFile {
			content = document
		}
		if err := other.Add(name, "", content); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range b.Manifest.LeftOut {
		other.LeaveOut(l.What, l.Why)
	}
	var out bytes.Buffer
	if err := bundle.Write(&out, other); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// row is the document's first row of an id.
func row(t *testing.T, d *probe.Document, id string) *probe.Observation {
	t.Helper()
	i := slices.IndexFunc(d.Observations, func(o probe.Observation) bool { return o.ID == id })
	if i < 0 {
		t.Fatalf("no row %s", id)
	}
	return &d.Observations[i]
}

func TestImportWritesAPlayableProfile(t *testing.T) {
	data := packed(t)
	file := filepath.Join(t.TempDir(), "machine.json")
	status, out, errs := cli(t, bytes.NewReader(data), "profiles", "import", "-", "--out", file)
	if status != 0 || out != "" || errs != "" {
		t.Fatalf("exit %d, %q, %q", status, out, errs)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if status, out, errs := cli(t, nil, "profiles", "show", file); status != 0 || out != string(written) {
		t.Errorf("show: exit %d, %s, and not what import wrote", status, errs)
	}
	status, out, errs = cli(t, nil, "profiles", "check", file)
	if status != 0 || !strings.Contains(out, "no evidence of a real one") || !strings.Contains(out, "ibv_create_qp (qp_type RC): errno EOPNOTSUPP") {
		t.Errorf("check: exit %d, %s\n%s", status, errs, out)
	}
	status, out, errs = cli(t, nil, "--provider", "sim:"+file, "--store", "none", "probe", "--rc", "-d", "rdma_en2", "--json")
	if status != 0 || !strings.Contains(out, `"name": "EOPNOTSUPP"`) {
		t.Errorf("probe: exit %d, %s", status, errs)
	}
}

// TestKeptBundlesAreReplayed: what real machines said stays playable.
func TestKeptBundlesAreReplayed(t *testing.T) {
	files, err := filepath.Glob("../fixtures/bundles/*.tar.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	for _, file := range files {
		out := filepath.Join(t.TempDir(), "machine.json")
		if status, _, errs := cli(t, nil, "profiles", "import", file, "--out", out); status != 0 {
			t.Errorf("%s: exit %d, %s", filepath.Base(file), status, errs)
			continue
		}
		if status, text, _ := cli(t, nil, "profiles", "check", out); status != 0 || strings.Contains(text, "no evidence") {
			t.Errorf("%s: exit %d, %s", filepath.Base(file), status, text)
		}
	}
}

// TestImportRefuses: nothing is written, an older file stays, and the place is told.
func TestImportRefuses(t *testing.T) {
	data := packed(t)
	for _, c := range []struct {
		name   string
		data   []byte
		status int
		tells  string
	}{
		{"a count that no table gives", changed(t, data, func(d *probe.Document) { row(t, d, "gid.usable").Value = 77 }), probe.ExitFinding, "in 1 place(s):\n  observations[rdma_en2/gid.usable port 1 by gid].value: want 77, got 3\n"},
		{"a limit of another machine", changed(t, data, func(d *probe.Document) { d.Devices[0].Ports[0].Speed = 3 }), probe.ExitFinding, "devices[rdma_en2].ports[1].speed: want 3, got 80"},
		{"a peer on another host", changed(t, data, func(d *probe.Document) {
			row(t, d, "qp.uc.init").Params["mode"] = "two hosts"
		}), probe.ExitUsage, "cannot be replayed: observations[rdma_en2/qp.uc.init port 1 by uc]: the other end was another host"},
		{"two answers to one call", changed(t, data, func(d *probe.Document) {
			o := row(t, d, "cq.create")
			o.Level, o.Reason, o.Return, o.Errno = "unknown", probe.Exhausted, &probe.Return{Pointer: true, Null: true}, &probe.Errno{Number: 12, Name: "ENOMEM", Platform: "darwin"}
		}), probe.ExitUsage, "ibv_create_cq answered differently"},
		{"a run that the ledger does not have", changed(t, data, func(d *probe.Document) { row(t, d, "qp.uc.init").Run = "nobody" }), probe.ExitUsage, `ledger.jsonl: it has no record of the run "nobody"`},
		{"no document", changed(t, data, func(d *probe.Document) { d.Schema = "x" }), probe.ExitUsage, "document.json"},
		{"no bundle", []byte("hello"), probe.ExitUsage, "does not begin like one"},
		{"half a bundle", data[:len(data)/2], probe.ExitUsage, "damaged or cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "machine.tar.gz"), filepath.Join(dir, "machine.json")
			writeFile(t, in, c.data)
			writeFile(t, out, []byte("old"))
			status, printed, errs := cli(t, nil, "profiles", "import", in, "--out", out)
			if status != c.status || printed != "" || !strings.Contains(errs, c.tells) {
				t.Errorf("exit %d, want %d; %q on stdout; stderr %q, want %q in it", status, c.status, printed, errs, c.tells)
			}
			if left, _ := os.ReadFile(out); string(left) != "old" {
				t.Errorf("the old file now holds %.40q", left)
			}
			if files, _ := os.ReadDir(dir); len(files) != 2 {
				t.Errorf("%d files are left", len(files))
			}
		})
	}
}

// TestCheckNamesThePlace: a wrong profile is told by line and key.
func TestCheckNamesThePlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.json")
	writeFile(t, file, []byte("{\"profile\": 1, \"id\": \"x\",\n\"devices\": [{\"name\": \"a\", \"transport\": \"infiniband\",\n\"ports\": [{\"num\": 1, \"state\": \"up\"}]}]}"))
	for _, command := range []string{"check", "show"} {
		status, out, errs := cli(t, nil, "profiles", command, file)
		if status != probe.ExitUsage || out != "" || !strings.Contains(errs, `profile line 3: devices[0].ports[0].state: unknown value "up"; allowed: nop, down`) {
			t.Errorf("%s: exit %d, %q, %q", command, status, out, errs)
		}
	}
	writeFile(t, file, []byte("{\"profile\": 2, \"id\": \"x\",\n\"devices\": [{\"name\": \"a\", \"transport\": \"infiniband\",\n\"calls\": {\"ibv_zz\": []}}, {\"name\": \"b\"}]}"))
	status, out, errs := cli(t, nil, "profiles", "check", file)
	if status != probe.ExitUsage || out != "" || strings.Count(errs, "rdmaprobe: profile "+file+": profile line ") != 3 || !strings.Contains(errs, "has 3 errors") {
		t.Errorf("three errors: exit %d, %q, %q", status, out, errs)
	}
	status, out, _ = cli(t, nil, "profiles", "check", "rxe", "--json")
	var s profileSummary
	if err := json.Unmarshal([]byte(out), &s); status != 0 || err != nil || s.ID != "rxe" || s.Platform != "linux" || len(s.Devices) != 2 || len(s.Devices[0].Ports) != 1 {
		t.Errorf("exit %d, %v, %+v", status, err, s)
	}
}

// TestRecordedLine: of a recorded command only what asks a provider is run.
func TestRecordedLine(t *testing.T) {
	for _, c := range []struct{ recorded, want string }{
		{"rdmaprobe --provider native probe --rc -d a,b --store /x --json", "probe --device=a,b --rc=true"},
		{"rdmaprobe probe --size 64,4KiB --size 1 --only mr --mr-size 64KiB --out f --redact", "probe --mr-size=65536 --only=mr --size=64,4KiB,1"},
		{"rdmaprobe doctor --peer host-1 --timeout 3s", "doctor --peer=host-1 --timeout=3s"},
		{"rdmaprobe devices --verify --library /lib/x.so -o wide", "devices"},
		{"rdmaprobe report --bundle x.tar.gz -d a", "devices --device=a"},
		{"rdmaprobe serve", ""}, {"rdmaprobe profiles import x", ""}, {"rdmaprobe probe --no-such-flag", ""}, {"rdmaprobe", ""}, {"", ""},
	} {
		got, err := recordedLine(strings.Fields(c.recorded))
		if strings.Join(got, " ") != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.recorded, got, err, c.want)
		}
	}
}
