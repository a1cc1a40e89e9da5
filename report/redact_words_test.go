package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"rdmaprobe/rdma"
)

// A user or a host may be called like a part of what the document and the verbs
// call things by. Nothing of that changes, and the name is gone where it is one.
func TestRedactOddNames(t *testing.T) {
	names := []string{
		"max", "send", "query", "create", "device", "list", "state", "apple", "mac", "port", "probe", "rejected",
		"eopnotsupp", "ibv_create_qp", "port_down", "dev.open", "linux",
	}
	row := map[string]any{
		"id": "qp.rc.create", "level": "rejected", "call": "ibv_create_qp", "errno": map[string]any{"number": 102, "name": "EOPNOTSUPP"},
		"params": map[string]any{"requested": map[string]any{"max_send_wr": 16}}, "data": map[string]any{"state": "RESET", "granted": map[string]any{"max_send_wr": 16}},
		"detail": "ibv_query_device and ibv_get_device_list: EOPNOTSUPP, max_mr_size. See dev.open, port.state, port_down.",
		"source": "Apple TN3205", "observations": []string{"rdma_en2/port.state"},
		"command": []string{"rdmaprobe", "probe", "--force", "--require", "qp.rc.create"},
	}
	want, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		r := NewRedactor("k")
		r.Know(UserNames, name)
		r.Know(HostNames, name)
		v, err := r.Value(row)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(v); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\nit was %s\nand is %s", name, err, want, got)
		}
		v, err = r.Value(map[string]any{"host": map[string]any{"name": name}, "peer": name, "command": []string{"--peer", name}})
		if got, _ := json.Marshal(v); err != nil || bytes.Contains(got, []byte(`"`+name+`"`)) {
			t.Errorf("%s is in %s, %v", name, got, err)
		}
	}
}

// The names of calls and numbers come from tables that may grow.
func TestRedactKeepsIdentifiers(t *testing.T) {
	for _, name := range append(rdma.Verbs(), rdma.ErrnoNameOn(rdma.PlatformDarwin, 102), "max_qp_wr", "qp.uc.rtr") {
		r := NewRedactor("k")
		for _, part := range strings.FieldsFunc(name, func(c rune) bool { return c == '_' || c == '.' }) {
			r.Know(UserNames, part)
		}
		if text := "(" + name + ")."; r.Text(text) != text {
			t.Errorf("%s became %s", text, r.Text(text))
		}
	}
	r := NewRedactor("k")
	r.Know(UserNames, "query", "jane")
	for _, text := range []string{"query", "my_query", "ibv_query_jane", "jane_" + strings.Repeat("ibv_query_gid", 9)} {
		if got := r.Text(text); got == text {
			t.Errorf("%s is left as it is", text)
		}
	}
}

// Paths that a blank or a backslash makes unlike others.
func TestRedactOddPaths(t *testing.T) {
	r := NewRedactor("k")
	for text, gone := range map[string][]string{
		`open "/Users/jane/My Secret Docs/x.json": no`: {"jane", "Secret", "Docs"},
		`in "/Volumes/Janes Disk/x" it is`:             {"Janes", "Disk"},
		`\\filer07\homes\jane\x.txt is gone`:           {"filer07", "homes", "jane"},
		`see "~/old stuff"`:                            {"stuff"},
	} {
		got := r.Text(text)
		for _, g := range gone {
			if strings.Contains(got, g) {
				t.Errorf("%s became %s: %s is left", text, got, g)
			}
		}
	}
	for _, text := range []string{`"a"/"b c"`, `a\\n b`, `"/dev/infiniband/rdma_cm" and "the rest"`, `"/usr/bin/ibv_devinfo -v"`} {
		if got := r.Text(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}
