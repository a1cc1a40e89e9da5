package bundle

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/report"
	"rdmaprobe/report/secrettest"
)

// planted is a machine that tells everything that nobody else may know. Each
// secret is told to be one in a single place and stands bare in others.
func planted() *probe.Gathered {
	d := probe.NewDocument(probe.Tool{Name: "rdmaprobe"}, []string{"rdmaprobe", "report", "--bundle", "/home/zaphod/heart-of-gold.tar.gz"})
	d.Run.StartedAt = noon
	d.Host = &hostfacts.Host{Name: "weird-box.acme.example", OS: "macos", KernelLog: []string{"weird-box: serial number C02XK1ZZJGH5"}}
	d.Devices = []probe.Device{{Name: "rdma_en3", NodeGUID: "3e22:fbff:fea0:0b0c", Listed: true, Ports: []probe.Port{{Num: 1, GIDs: []probe.GID{
		{GID: "fe80::3e22:fbff:fea0:b0c", Class: "link_local"}, {Index: 1, GID: "::ffff:10.77.3.9", Class: "ipv4_mapped"}, {Index: 2, GID: "2a02:8071:5678:9a00::1234", Class: "global"},
	}}}}}
	d.NotRead = []probe.NotRead{{Fact: "crash_reports", Source: "/Users/zaphod/Library/Logs", Why: "zaphod may not read it on weird-box"}}
	d.Notes = []string{"beeblebrox was here"}
	d.Verify = &probe.Verify{Tool: "ibv_devinfo -v", Fields: 3, Differences: []probe.Difference{{Device: "rdma_en3", Field: "GID[1]", Ours: "::ffff:10.77.3.9", Theirs: "::ffff:0a4d:0309"}}}
	body, _ := json.Marshal(map[string]any{"host": map[string]any{"name": "old-name"}, "run": map[string]any{"command": []string{"rdmaprobe", "--peer", "trillian"}}})
	return &probe.Gathered{
		Document: d,
		Records: []ledger.Record{
			{V: 1, Kind: ledger.KindRun, Run: "20260102T030405-6f1d0c2b9a83", N: 1, Seq: 1, At: noon, Provider: "native", Body: body},
			{V: 1, Kind: ledger.KindObservation, Run: "20260102T030405-6f1d0c2b9a83", N: 1, Seq: 2, At: noon, Body: json.RawMessage(`{"id":"dev.open","detail":"on old-name for 3C-22-FB-A0-0B-0C: trillian <zaphod> & 3e22fbfffea00b0c"}`)},
		},
		LeftOut: 2,
		Sources: []hostfacts.Raw{
			{Name: "ifconfig-a", What: "ifconfig -a", Text: "== ifconfig -a\nen3: flags=8863<UP>\n\tether 3c:22:fb:a0:0b:0c\n\tinet6 fe80::3e22:fbff:fea0:b0c%en3 prefixlen 64\n\tinet 10.77.3.9 netmask 0xffffff00\n"},
			{Name: "ioreg", What: "ioreg on weird-box", Text: "  | \"IOPlatformSerialNumber\" = \"C02XK1ZZJGH5\"\n  | \"IOPlatformUUID\" = \"7E1B3A4C-0011-4D22-8E33-AABBCCDDEEFF\"\n"},
			{Name: "limits", What: "limits.conf", Text: "== /etc/security/limits.conf\n@beeblebrox - memlock unlimited\n"},
			{Name: "netstat-rn", What: "netstat -rn", Text: "x\n10.77.3/24         link#11            UCS\n10.77.3.9          3c:22:fb:a0:b:c    UHLWIir\n"},
			{Name: "profile", What: "fields", Text: `{"host": {"name": "yu", "env": {"USER": "marvin"}}, "note": "of marvin"}`},
			{Name: "system_profiler", What: "system_profiler", Text: "== x\n{\"SPThunderboltDataType\":[{\"_name\":\"thunderboltusb4_bus_1\",\"domain_uuid_key\":\"7E1B3A4C-0011-4D22-8E33-AABBCCDDEE01\",\"_items\":[" +
				"{\"_name\":\"Fords Mac\",\"domain_uuid_key\":\"7E1B3A4C-0011-4D22-8E33-AABBCCDDEE02\",\"switch_uid_key\":\"0x05AC0000DEADBEEF\"}]}]}"},
			{Name: "log-show", What: "log show", Text: "kernel[0:1] Fords Mac and marvin and old-name and WEIRD-BOX in /Users/zaphod/heart-of-gold\n"},
		},
	}
}

// secrets are all forms of what planted plants.
func secrets() []string {
	var all []string
	for _, w := range []string{"weird-box", "acme", "zaphod", "heart-of-gold", "beeblebrox", "old-name", "trillian", "marvin", "Fords Mac", "C02XK1ZZJGH5", "7E1B3A4C", "DEADBEEF", `"yu"`} {
		all = append(all, secrettest.Word(w)...)
	}
	return slices.Concat(all, secrettest.MAC("3c:22:fb:a0:0b:0c"), secrettest.GUID("3e22:fbff:fea0:0b0c"),
		secrettest.Address("10.77.3.9"), secrettest.Address("2a02:8071:5678:9a00::1234"), secrettest.Address("fe80::3e22:fbff:fea0:b0c"), []string{"10.77.3"})
}

// found are the secrets in a bundle, by file.
func found(t *testing.T, b *Bundle) []string {
	t.Helper()
	manifest, err := b.Manifest.encode()
	if err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(b.Files)
	files[ManifestFile] = manifest
	var all []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, s := range secrets() {
			if strings.Contains(strings.ToLower(name+"\n"+string(files[name])), strings.ToLower(s)) {
				all = append(all, name+": "+s)
			}
		}
	}
	return all
}

func TestNothingThatIsSomebodysLeaves(t *testing.T) {
	p := Parts{Tool: probe.Tool{Name: "rdmaprobe"}, Gathered: planted(), SelfTest: map[string]any{"checks": []any{map[string]any{"detail": "/home/zaphod/x"}}}}
	open, err := Make(p)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(found(t, open)); n < 60 || open.Manifest.Redacted {
		t.Errorf("only %d secrets were planted", n)
	}
	p.Redactor = report.NewRedactor("key")
	b, err := Make(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found(t, b) {
		t.Error(f)
	}
	if !b.Manifest.Redacted || len(b.Files) != len(open.Files) {
		t.Errorf("%d of %d files, redacted %v", len(b.Files), len(open.Files), b.Manifest.Redacted)
	}
	p.Redactor = report.NewRedactor("key")
	again, err := Make(p)
	if err != nil || string(packed(t, again)) != string(packed(t, b)) {
		t.Errorf("the same machine under the same key is another bundle: %v", err)
	}
}

// TestFilesAgree: one original is called alike in all files, and what other
// programs read is still readable.
func TestFilesAgree(t *testing.T) {
	b, err := Make(Parts{Gathered: planted(), Missing: "not run", Redactor: report.NewRedactor("key")})
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.Document()
	if err != nil || !d.Redacted {
		t.Fatalf("document %v, %v", d, err)
	}
	for file, want := range map[string]string{
		"host/ifconfig-a.txt": strings.TrimPrefix(d.Devices[0].Ports[0].GIDs[1].GID, "::ffff:"),
		"host/netstat-rn.txt": strings.TrimPrefix(d.Devices[0].Ports[0].GIDs[1].GID, "::ffff:"),
		VerifyFile:            d.Devices[0].Ports[0].GIDs[1].GID,
		LedgerFile:            strings.ReplaceAll(d.Devices[0].NodeGUID, ":", ""),
		"host/log-show.txt":   strings.Split(d.Host.Name, ".")[0],
	} {
		if !strings.Contains(string(b.Files[file]), want) {
			t.Errorf("%s has no %s:\n%s", file, want, b.Files[file])
		}
	}
	if !report.IsLedger(b.Files[LedgerFile]) {
		t.Errorf("no ledger: %s", b.Files[LedgerFile])
	}
	if _, err := probe.ReadLedger(strings.NewReader(string(b.Files[LedgerFile])), probe.LedgerOptions{}); err != nil {
		t.Error(err)
	}
}

// TestWhatIsMissingIsTold: nothing is left out without a word.
func TestWhatIsMissingIsTold(t *testing.T) {
	g := planted()
	g.Document.Verify = &probe.Verify{Error: "ibv_devinfo is not installed"}
	g.Records, g.Ledger, g.Partly, g.Sources = nil, "nothing is kept", "only this run", nil
	b, err := Make(Parts{Gathered: g, Missing: "no child"})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, l := range b.Manifest.LeftOut {
		told[l.What] = l.Why
	}
	for what, why := range map[string]string{
		VerifyFile: "ibv_devinfo is not installed", LedgerFile: "nothing is kept", SelfTestFile: "no child", HostFolder: "no source of host facts was asked",
		"evidence of earlier runs in " + DocumentFile: "only this run", "host fact crash_reports from /Users/zaphod/Library/Logs": "zaphod may not read it on weird-box",
	} {
		if told[what] != why {
			t.Errorf("%s: %q, want %q", what, told[what], why)
		}
	}
	if d, err := b.Document(); err != nil || d.Verify != nil {
		t.Errorf("verify %+v, %v", d.Verify, err)
	}
	packed(t, b)
}
