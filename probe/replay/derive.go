package replay

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// deriving is a profile in the making.
type deriving struct {
	doc  *probe.Document
	p    *profile
	rows []probe.Observation // those that were tried, as they came
	seen map[string]answer   // of each call with its condition
}

// Derive writes the profile of a document, in its canonical form. Nothing has
// shown yet that it answers as the document says: see Import.
func Derive(d *probe.Document) ([]byte, error) {
	d, err := plain(d)
	if err != nil {
		return nil, err
	}
	if err := playable(d); err != nil {
		return nil, err
	}
	v := &deriving{doc: d, seen: map[string]answer{}, p: &profile{Version: 1, Host: d.Host, Devices: []*device{}}}
	for _, o := range d.Observations {
		if tried(&o) {
			v.rows = append(v.rows, o)
		}
	}
	sort.SliceStable(v.rows, func(i, j int) bool {
		a, b := &v.rows[i], &v.rows[j]
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq)) < 0
	})
	v.library()
	for i := range d.Devices {
		if d.Devices[i].Listed {
			v.p.Devices = append(v.p.Devices, v.device(&d.Devices[i]))
		}
	}
	if err := v.listing(); err != nil {
		return nil, err
	}
	for i := range v.rows {
		if err := v.rule(&v.rows[i]); err != nil {
			return nil, err
		}
	}
	v.peers()
	return v.write()
}

// plain is a document as a reader of its JSON has it.
func plain(d *probe.Document) (*probe.Document, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	out := &probe.Document{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	return out, nil
}

// tried tells whether anything was done to see a row.
func tried(o *probe.Observation) bool {
	switch o.Reason {
	case probe.NotTried, probe.Precondition, probe.Guarded:
		return false
	}
	return true
}

// library is what the listing child saw of the library.
func (v *deriving) library() {
	lib := v.doc.Provider.Library
	out := &v.p.Library
	out.ID = lib.ID
	if !lib.Loaded {
		absent := false
		out.Present, out.LoadError = &absent, loaderText(lib)
		return
	}
	for name, there := range lib.Symbols {
		unusual := name == "_ibv_query_gid_ex" && v.platform() == rdma.PlatformDarwin
		switch {
		case there && unusual:
			out.Extra = append(out.Extra, name)
		case !there && !unusual:
			out.Missing = append(out.Missing, name)
		}
	}
	for _, o := range v.rows {
		switch o.ID {
		case "dev.open":
			ops, _ := o.Data["ops"].(map[string]any)
			for name, there := range ops {
				if there == false && !slices.Contains(out.Missing, name) {
					out.Missing = append(out.Missing, name)
				}
			}
		case "lib.load":
			if o.Child != nil && o.Child.Outcome == "completed" && o.Child.Stderr != "" {
				out.Stderr = strings.Split(strings.TrimRight(o.Child.Stderr, "\n"), "\n")
			}
		}
	}
	slices.Sort(out.Missing)
}

// loaderText is what the loader said, without our own words before it.
func loaderText(lib probe.Library) string {
	return strings.TrimPrefix(lib.Error, "load "+lib.Asked+": ")
}

func (v *deriving) platform() rdma.Platform {
	if v.doc.Host != nil && v.doc.Host.OS == hostfacts.MacOS {
		return rdma.PlatformDarwin
	}
	return rdma.PlatformLinux
}

// listing is how the listing itself went, and stand-ins for what was listed and
// is not in the document.
func (v *deriving) listing() error {
	i := slices.IndexFunc(v.rows, func(o probe.Observation) bool { return o.ID == "dev.enumerate" })
	if i < 0 {
		return nil
	}
	o := &v.rows[i]
	if n, ok := number(o.Value); ok {
		for k := len(v.p.Devices); k < int(min(n, maxDevices)); k++ {
			v.p.Devices = append(v.p.Devices, &device{
				Name: fmt.Sprintf("other-%d", k+1), Transport: "unspecified",
				Source: "stands for a device that was listed and not asked: nothing else is known of it",
			})
		}
		return nil
	}
	if o.Reason == probe.LibraryMissing || o.Reason == probe.SymbolMissing {
		return nil
	}
	effect, err := v.effect(o)
	if err != nil {
		return err
	}
	if name, failed := effect["errno"].(string); failed {
		v.p.List = &listing{Errno: name}
		return nil
	}
	v.p.Devices = append(v.p.Devices, &device{
		Name: "never-listed", Transport: "unspecified", Source: "holds the rule about the listing, which ended before it named any device",
		Calls: map[string][]rule{"ibv_get_device_list": {effect}},
	})
	return nil
}

// maxDevices is how many a profile may have.
const maxDevices = 64

// write names the profile after its contents and gives it its form.
func (v *deriving) write() ([]byte, error) {
	v.p.About, v.p.Source = v.about(), v.source()
	v.p.ID = "recorded"
	data, err := json.Marshal(v.p)
	if err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	sum := sha256.Sum256(data)
	v.p.ID = fmt.Sprintf("recorded-%x", sum[:6])
	if data, err = json.Marshal(v.p); err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	out, err := sim.Canonical(data, &hostfacts.Host{})
	var pe *sim.ParseError
	if errors.As(err, &pe) {
		return nil, cannot(pe.Key, "a profile cannot hold it: %s", pe.Text)
	}
	return out, err
}

// about says which machine it is.
func (v *deriving) about() string {
	words := []string{}
	if h := v.doc.Host; h != nil {
		for _, s := range []string{h.Model, h.OS, h.OSVersion, h.OSBuild, h.Kernel, h.Arch} {
			if s != "" {
				words = append(words, s)
			}
		}
	}
	if len(words) == 0 {
		words = []string{"a machine of which nothing is known"}
	}
	return fmt.Sprintf("as recorded on %s: %s", v.doc.Run.StartedAt.UTC().Format("2006-01-02"), strings.Join(words, ", "))
}

// source says whose answers they were.
func (v *deriving) source() string {
	text := "derived from a document of rdmaprobe " + v.doc.Tool.Version + ", and its replay compared with it"
	if v.doc.Provider.Kind != probe.Native {
		return text + "; the document is of a simulated machine, " + path.Base(v.doc.Provider.Profile) + ", and no evidence of a real one"
	}
	if p := v.doc.Provider.Library.Path; p != "" {
		text += "; library " + p
	}
	if v.doc.Redacted {
		text += "; names and addresses are stand-ins"
	}
	return text
}
