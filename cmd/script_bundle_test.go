package cmd

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"rdmaprobe/report/bundle"
	"rdmaprobe/report/secrettest"
)

// unbundle reads a bundle as a stranger's and writes its files below a folder.
func unbundle(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unbundle FILE FOLDER")
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	b, err := bundle.Read(f)
	ts.Check(err)
	root := ts.MkAbs(args[1])
	write := func(name string, data []byte) {
		path := filepath.Join(root, filepath.FromSlash(name))
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, data, 0o644))
	}
	for name, data := range b.Files {
		write(name, data)
	}
	manifest, err := json.MarshalIndent(b.Manifest, "", "  ")
	ts.Check(err)
	write(bundle.ManifestFile, manifest)
}

// noSecrets looks in every file below a folder for every form of what a list has;
// negated, each of the list must be there.
func noSecrets(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: nosecrets FOLDER LIST")
	}
	var all strings.Builder
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all.WriteString(path + "\n" + string(b) + "\n")
		files++
		return err
	}))
	text := strings.ToLower(all.String())
	forms := map[string]func(string) []string{"word": secrettest.Word, "mac": secrettest.MAC, "guid": secrettest.GUID, "address": secrettest.Address}
	looked := 0
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		kind, secret, _ := strings.Cut(strings.TrimSpace(line), " ")
		of := forms[kind]
		if of == nil {
			ts.Fatalf("%s: what is a %s?", args[1], kind)
		}
		there := ""
		for _, form := range of(secret) {
			if i := strings.Index(text, strings.ToLower(form)); i >= 0 {
				there = text[max(0, i-60):min(len(text), i+60)]
			}
		}
		if there != "" && !neg {
			ts.Fatalf("%s is there: ...%s...", secret, there)
		}
		if there == "" && neg {
			ts.Fatalf("%s is not there", secret)
		}
		looked++
	}
	if looked == 0 || files == 0 {
		ts.Fatalf("%d secrets in %d files", looked, files)
	}
}

// privateFile looks whether nobody else may read a file.
func privateFile(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if neg || info.Mode() != 0o600 {
		ts.Fatalf("%s has mode %v", args[0], info.Mode())
	}
}
