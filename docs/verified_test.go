package docs

import (
	"bytes"
	"cmp"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
	"rdmaprobe/report/bundle"
)

// kept are the bundles of real machines, by file name.
func kept(t *testing.T) map[string]*bundle.Bundle {
	t.Helper()
	files, err := filepath.Glob("../fixtures/bundles/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bundles in fixtures/bundles: %v", err)
	}
	all := map[string]*bundle.Bundle{}
	for _, file := range files {
		b, err := bundle.Read(strings.NewReader(read(t, file)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)] = b
	}
	return all
}

func documentOf(t *testing.T, b *bundle.Bundle) *probe.Document {
	t.Helper()
	d, err := b.Document()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bundlesTable has a row for each device of each bundle.
func bundlesTable(t *testing.T) string {
	t.Helper()
	var rows [][]string
	all := kept(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d := documentOf(t, all[name])
		if d.Host == nil {
			t.Fatalf("%s: it does not say of which machine it is", name)
		}
		build := strings.TrimSpace(d.Host.OS + " " + cmp.Or(d.Host.OSBuild, d.Host.Kernel))
		for _, dev := range d.Devices {
			rows = append(rows, []string{build, cmp.Or(d.Host.Model, "not known"), dev.Name + ", " + dev.Transport, seen(d, dev.Name), "`" + name + "`"})
		}
		if len(d.Devices) == 0 {
			rows = append(rows, []string{build, cmp.Or(d.Host.Model, "not known"), "none", seen(d, ""), "`" + name + "`"})
		}
	}
	return table([]string{"system and build", "model", "device", "what was seen", "bundle"}, rows)
}

// seen lists the ids of a device by the best level of each, in the order of the
// documentation. What was not tried is left out.
func seen(d *probe.Document, device string) string {
	best := map[string]rdma.Capability{}
	order := []rdma.Capability{rdma.CapabilityConfirmed, rdma.CapabilityRejected, rdma.CapabilityObservedZero, rdma.CapabilityUnknown}
	for _, o := range d.Observations {
		if o.Device != device || slices.Contains([]probe.Reason{probe.NotTried, probe.Precondition, probe.Guarded}, o.Reason) {
			continue
		}
		if old, there := best[o.ID]; !there || slices.Index(order, o.Level) < slices.Index(order, old) {
			best[o.ID] = o.Level
		}
	}
	var parts []string
	for _, level := range order {
		var ids []string
		for _, e := range probe.EvidenceIDs {
			if best[e.ID] == level {
				ids = append(ids, e.ID)
			}
		}
		if len(ids) > 0 {
			parts = append(parts, "**"+string(level)+"** "+strings.Join(ids, ", "))
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "nothing")
}

// noMac is what verified.md says as long as no Mac has reported.
const noMac = "**No Mac has reported yet.**"

// A bundle is of a real machine and holds stand-ins only; whether one is of a Mac
// the page says.
func TestBundlesAreOfRealMachines(t *testing.T) {
	macs := 0
	for name, b := range kept(t) {
		d := documentOf(t, b)
		if d.Provider.Kind != probe.Native {
			t.Errorf("%s is of a simulated machine: it is evidence of nothing", name)
		}
		if !b.Manifest.Redacted || !d.Redacted {
			t.Errorf("%s is not redacted", name)
		}
		for file, content := range b.Files {
			if at := personal.FindIndex(content); at != nil {
				t.Errorf("%s: %s holds %q", name, file, content[at[0]:at[1]])
			}
		}
		if d.Host != nil && d.Host.OS == hostfacts.MacOS {
			macs++
		}
	}
	if said := strings.Contains(read(t, "verified.md"), noMac); said != (macs == 0) {
		t.Errorf("%d bundles are of Macs, and verified.md says %q: %v", macs, noMac, said)
	}
	if said := strings.Contains(read(t, "limits.md"), "**Nothing was seen on a Mac.**"); said != (macs == 0) {
		t.Errorf("%d bundles are of Macs, and limits.md says that nothing was seen on one: %v", macs, said)
	}
}

// personal are places of a person's or a developer's machine, and mail addresses.
var personal = regexp.MustCompile(`/home/[a-z]|/Users/[A-Za-z]|[a-z0-9]@[a-z0-9-]+\.[a-z]{2,}`)

// claims are sentences that speak of evidence from a Mac; negations and sources
// are words that make one harmless.
var (
	sentence  = regexp.MustCompile(`[.:;|]\s|\n\n|\n[-#|]`)
	claims    = regexp.MustCompile(`(?is)\b(seen|measured|verified|tested|proven|proved|confirmed|recorded|captured|works|worked)\b.*\bon\b.{0,20}\b(macs?|macos|apple)\b`)
	negations = regexp.MustCompile(`(?is)\b(not|no|none|nothing|never|nobody|without|cannot|must|reports?|reported|simulated|would)\b|n't\b`)
)

// TestNoClaimOfAMac: as long as no Mac has reported, no document says that
// anything was seen on one.
func TestNoClaimOfAMac(t *testing.T) {
	for _, b := range kept(t) {
		if d := documentOf(t, b); d.Host != nil && d.Host.OS == hostfacts.MacOS {
			t.Skip("NOT CHECKED: a Mac has reported, and claims are in verified.md by bundle")
		}
	}
	for file, text := range documents(t) {
		for _, s := range claimsIn(text) {
			t.Errorf("%s claims evidence of a Mac: %q", file, s)
		}
	}
	for text, want := range map[string]int{
		"It was tested\non a Mac.": 1, "A queue pair was confirmed on macOS 26.2: fine": 1, "Nothing was seen on a Mac. ": 0,
		"RC works on Apple silicon.\n\nIt does not on others.": 1, "It was measured on Linux. Macs have none.": 0,
	} {
		if got := claimsIn(text); len(got) != want {
			t.Errorf("%q: claims %q, want %d", text, got, want)
		}
	}
}

func claimsIn(text string) []string {
	var found []string
	for _, s := range sentence.Split(text+"\n", -1) {
		if claims.MatchString(s) && !negations.MatchString(s) {
			found = append(found, strings.Join(strings.Fields(s), " "))
		}
	}
	return found
}

// The row of a device says what its bundle has.
func TestSeenIsOfTheDevice(t *testing.T) {
	d := &probe.Document{Observations: []probe.Observation{
		{ID: "mr.rkey", Device: "a", Level: rdma.CapabilityObservedZero},
		{ID: "qp.rc.create", Device: "a", Level: rdma.CapabilityRejected},
		{ID: "dev.open", Device: "a", Probe: "mr", Level: rdma.CapabilityUnknown, Reason: probe.Crash},
		{ID: "dev.open", Device: "a", Probe: "uc", Level: rdma.CapabilityConfirmed},
		{ID: "pd.alloc", Device: "a", Level: rdma.CapabilityUnknown, Reason: probe.Crash},
		{ID: "qp.ud.create", Device: "a", Level: rdma.CapabilityUnknown, Reason: probe.NotTried},
		{ID: "qp.uc.create", Device: "b", Level: rdma.CapabilityConfirmed},
	}}
	want := "**confirmed** dev.open; **rejected** qp.rc.create; **observed_zero** mr.rkey; **unknown** pd.alloc"
	if got := seen(d, "a"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := seen(d, "c"); got != "nothing" {
		t.Errorf("of no device: %q", got)
	}
}

// A damaged bundle is no evidence.
func TestDamagedBundleIsRefused(t *testing.T) {
	for name := range kept(t) {
		data := []byte(read(t, "../fixtures/bundles/"+name))
		data[len(data)/2] ^= 1
		if _, err := bundle.Read(bytes.NewReader(data)); err == nil {
			t.Errorf("%s is read with a flipped bit", name)
		}
	}
}
