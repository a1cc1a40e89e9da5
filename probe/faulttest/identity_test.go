//go:build linux

package faulttest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// What becomes of a device between the children of one run, or in one. A probe of
// one device has these children: the listing, port, gid, mr, uc. Nothing that another
// device says is an answer of the one that was listed.
func TestNativeLibraryRenumbers(t *testing.T) {
	t.Parallel()
	library := needLibrary(t)
	pair := []string{"probe", "--pingpong", "--peer-device", "good0id"}
	const listed = "0000:5eff:fe00:5301"
	for _, tt := range []struct {
		identity, after, guid string
		args                  []string
		answers               []string // rows that stand
		finding, says         string
	}{
		{identity: "swap", after: "3", answers: []string{"dev.open", "port.query", "gid.usable"}, finding: "device_changed", says: "its node GUID was " + listed},
		{identity: "swap", after: "1", finding: "device_changed", says: "its node GUID was " + listed},
		{identity: "swap", after: "1", guid: "zero", finding: "device_changed", says: "its node was uverbs0, and is uverbs1"},
		{identity: "swap", after: "1", guid: "same", finding: "device_changed", says: "its node was uverbs0, and is uverbs1"},
		{identity: "rename", after: "3", answers: []string{"dev.open", "port.query", "gid.usable"}, finding: "device_vanished", says: "is now renamed"},
		{identity: "vanish", after: "3", answers: []string{"dev.open", "port.query", "gid.usable"}, finding: "device_vanished", says: "no longer listed"},
		{identity: "vanish", after: "1", guid: "zero", finding: "device_vanished", says: "no longer listed"},
		{identity: "late", after: "0", finding: "device_changed", says: "its node GUID was"},
		{identity: "late", after: "0", args: []string{"devices"}, says: "its node GUID was"},
		{identity: "swap", after: "1", args: []string{"doctor"}, finding: "device_changed", says: "its node GUID was " + listed},
		// Only those that open it count.
		{identity: "inner", after: "2", answers: []string{"dev.open", "port.query", "gid.usable"}, finding: "device_changed", says: "its node GUID was"},
		// Only those that ask for the second one's GUID count: the listing, two that read it, the exchange.
		{identity: "other", after: "1", args: pair, answers: probed, finding: "device_changed", says: "good0id is another device"},
		{identity: "other", after: "3", args: pair, answers: probed, finding: "device_changed", says: "good0id is another device"},
		{identity: "swap", after: "99", answers: probed},
		{identity: "swap", after: "99", guid: "zero", answers: probed},
		{identity: "swap", after: "99", guid: "same", answers: probed},
	} {
		t.Run(strings.Join(append([]string{tt.identity, tt.after, tt.guid}, tt.args...), " "), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			args := tt.args
			if args == nil {
				args = []string{"probe"}
			}
			cmd := p.command(t.Context(), append(slices.Clone(args), "--json", "-d", "bad0id", "--library", library, "--store", p.store(), "--timeout", slow)...)
			cmd.Env = append(cmd.Env, "FAULT_DEVICE=0id", "IDENTITY="+tt.identity, "IDENTITY_AFTER="+tt.after)
			if tt.guid != "" {
				cmd.Env = append(cmd.Env, "IDENTITY_GUID="+tt.guid)
			}
			o := p.finish(t, cmd)
			if len(tt.answers) < len(probed) {
				o.disowned(t, "bad0id", tt.answers, tt.says)
			} else {
				o.confirms(t, "bad0id", tt.answers)
			}
			found := slices.ContainsFunc(o.doc.Findings, func(f probe.Finding) bool {
				return f.Code == tt.finding && f.Scope == "bad0id" && strings.Contains(f.Message, tt.says)
			})
			if tt.finding != "" && (!found || o.exit != probe.ExitFinding) {
				t.Errorf("exit %d, findings %+v", o.exit, o.doc.Findings)
			}
			if tt.finding == "" && tt.args == nil && slices.ContainsFunc(o.doc.Findings, func(f probe.Finding) bool { return strings.HasPrefix(f.Code, "device_") }) {
				t.Errorf("findings %+v", o.doc.Findings)
			}
			if rest := p.run(t, "report", "--library", library, "--store", p.store()).doc; slices.ContainsFunc(rest.Findings, func(f probe.Finding) bool { return f.Code == "probe_interrupted" }) {
				t.Errorf("the ledger tells of a probe without an outcome: %+v", rest.Findings)
			}
		})
	}
}

// disowned checks that a device has no answers but those, and that a row says why.
func (o *outcome) disowned(t *testing.T, device string, answers []string, says string) {
	t.Helper()
	told := false
	for _, r := range o.doc.Observations {
		if r.Device != device {
			continue
		}
		told = told || r.Reason == probe.Precondition && strings.Contains(r.Detail, says) && r.Data["identity"] != nil
		if r.Level != rdma.CapabilityUnknown && !slices.Contains(append(answers, "port.state", "gid.ipv4_mapped"), r.ID) {
			t.Errorf("%s of %s is %s", r.ID, r.Probe, r.Level)
		}
	}
	if !told {
		t.Errorf("no row says %q:\n%s", says, mustJSON(o.doc.Observations))
	}
	o.confirms(t, device, answers)
	if raw := o.out; bytes.Contains(raw, []byte(`"capabilities":{"queue_pair_uc":{"state":"confirmed"`)) {
		t.Errorf("a capability of another device:\n%s", raw)
	}
}
