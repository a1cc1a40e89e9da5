package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"

	"rdmaprobe/probe"
	"rdmaprobe/probe/jsonlimit"
	"rdmaprobe/report"
)

// Parts are what a bundle is made of.
type Parts struct {
	Tool     probe.Tool
	Gathered *probe.Gathered
	SelfTest any    // as selftest --json has it; nil: Missing says why
	Missing  string // why there is no self-test

	// Redactor puts stand-ins into every file, the same ones everywhere; nil leaves
	// all as it is.
	Redactor *report.Redactor
}

// Make packs what was gathered. All files are looked at for names before the
// first is written, so that one that only one of them labels is gone from all.
func Make(p Parts) (*Bundle, error) {
	v := veil{p.Redactor}
	if err := v.learn(p); err != nil {
		return nil, err
	}
	b := New(p.Tool, p.Gathered.Document.Run.StartedAt, p.Redactor != nil)
	m := maker{b, v}
	for _, step := range []func(Parts) error{m.document, m.identity, m.selfTest, m.verify, m.ledger, m.sources} {
		if err := step(p); err != nil {
			return nil, fmt.Errorf("make a bundle: %w", err)
		}
	}
	for _, n := range p.Gathered.Document.NotRead {
		b.LeaveOut(v.text("host fact "+n.Fact+" from "+n.Source), v.text(n.Why))
	}
	return b, nil
}

// veil is a Redactor, or none.
type veil struct{ *report.Redactor }

func (v veil) text(s string) string {
	if v.Redactor == nil {
		return s
	}
	return v.Raw(s)
}

// value is what encodes as JSON, as JSON.
func (v veil) value(x any) ([]byte, error) {
	if v.Redactor != nil {
		var err error
		if x, err = v.Value(x); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(x)
	return out.Bytes(), err
}

// learn takes note of the names that any part gives.
func (v veil) learn(p Parts) error {
	if v.Redactor == nil {
		return nil
	}
	if err := v.Learn(p.Gathered.Document); err != nil {
		return err
	}
	for _, rec := range p.Gathered.Records {
		if err := v.LearnValue(rec.Body); err != nil {
			return err
		}
	}
	for _, s := range p.Gathered.Sources {
		v.LearnRaw(s.Text)
		if jsonlimit.Valid([]byte(s.Text)) {
			if err := v.LearnValue(json.RawMessage(s.Text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// maker adds one part after the other.
type maker struct {
	b *Bundle
	v veil
}

// document is the machine and its evidence. A comparison that could not be made
// is not in it.
func (m maker) document(p Parts) error {
	d := *p.Gathered.Document
	if d.Verify != nil && d.Verify.Fields == 0 && d.Verify.Error != "" {
		d.Verify = nil
	}
	shown := &d
	if m.v.Redactor != nil {
		var err error
		if shown, err = m.v.Redactor.Document(shown); err != nil {
			return err
		}
	}
	f, err := report.Lookup("json")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := f.Render(&out, shown, report.Options{Command: "report"}); err != nil {
		return err
	}
	if p.Gathered.Partly != "" {
		m.b.LeaveOut("evidence of earlier runs in "+DocumentFile, m.v.text(p.Gathered.Partly))
	}
	return m.b.Add(DocumentFile, "the machine, its devices and all evidence, as rdmaprobe report --json has it", out.Bytes())
}

// identity tells the builds that met.
func (m maker) identity(p Parts) error {
	out, err := m.v.value(map[string]any{
		"tool": p.Tool, "os": runtime.GOOS, "arch": runtime.GOARCH, "provider": p.Gathered.Document.Provider,
	})
	if err != nil {
		return err
	}
	return m.b.Add(IdentityFile, "which rdmaprobe made this, and which verbs library it found: path, build, symbols", out)
}

func (m maker) selfTest(p Parts) error {
	if p.SelfTest == nil {
		m.b.LeaveOut(SelfTestFile, m.v.text(p.Missing))
		return nil
	}
	out, err := m.v.value(p.SelfTest)
	if err != nil {
		return err
	}
	return m.b.Add(SelfTestFile, "what rdmaprobe selftest says: no device was touched for it", out)
}

func (m maker) verify(p Parts) error {
	v := p.Gathered.Document.Verify
	switch {
	case v == nil:
		m.b.LeaveOut(VerifyFile, "the machine is simulated: ibv_devinfo would tell of another one")
		return nil
	case v.Fields == 0 && v.Error != "":
		m.b.LeaveOut(VerifyFile, m.v.text(v.Error))
		return nil
	}
	out, err := m.v.value(v)
	if err != nil {
		return err
	}
	return m.b.Add(VerifyFile, "how the listing compares with what ibv_devinfo -v prints, field by field", out)
}

// ledger writes the rows as they are in the evidence file, so that report reads
// them.
func (m maker) ledger(p Parts) error {
	g := p.Gathered
	if len(g.Records) == 0 {
		m.b.LeaveOut(LedgerFile, m.v.text(g.Ledger))
		return nil
	}
	var out bytes.Buffer
	for _, rec := range g.Records {
		if m.v.Redactor != nil {
			body, err := m.v.Value(rec.Body)
			if err != nil {
				return err
			}
			if rec.Body, err = json.Marshal(body); err != nil {
				return err
			}
			rec.Provider = m.v.text(rec.Provider)
		}
		line, err := rec.Encode()
		if err != nil {
			return err
		}
		out.Write(line)
	}
	if g.LeftOut > 0 {
		m.b.LeaveOut("of the evidence file", fmt.Sprintf("%d runs: of other machines, or too old to fit", g.LeftOut))
	}
	m.orLeaveOut(LedgerFile, "the rows of the evidence file that are of this machine", out.Bytes())
	return nil
}

func (m maker) sources(p Parts) error {
	for _, s := range p.Gathered.Sources {
		text := []byte(m.v.text(s.Text))
		if jsonlimit.Valid([]byte(s.Text)) { // a profile's facts: fields tell more than text does
			var err error
			if text, err = m.v.value(json.RawMessage(s.Text)); err != nil {
				return err
			}
		}
		m.orLeaveOut(HostFolder+"/"+s.Name+".txt", "what was read for host facts: "+m.v.text(s.What), text)
	}
	if len(p.Gathered.Sources) == 0 {
		m.b.LeaveOut(HostFolder, "no source of host facts was asked")
	}
	return nil
}

// orLeaveOut adds a file that the bundle can do without.
func (m maker) orLeaveOut(name, what string, data []byte) {
	if err := m.b.Add(name, what, data); err != nil {
		m.b.LeaveOut(name, err.Error())
	}
}
