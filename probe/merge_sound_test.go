package probe

import (
	"slices"
	"testing"

	"rdmaprobe/rdma"
)

func TestSound(t *testing.T) {
	errno := func(n int, name string, p rdma.Platform) Observation {
		o := level("qp.rc.create", rdma.CapabilityRejected)
		o.Errno = &Errno{Number: n, Name: name, Platform: p}
		return o
	}
	reasoned := level("qp.rc.create", rdma.CapabilityConfirmed)
	reasoned.Reason = Timeout
	for name, c := range map[string]struct {
		o    Observation
		want bool
	}{
		"an answer":                 {level("qp.rc.create", rdma.CapabilityConfirmed), true},
		"unknown with a reason":     {unknown("qp.rc.create", Timeout), true},
		"another id":                {level("qp.zz", rdma.CapabilityConfirmed), false},
		"another level":             {level("qp.rc.create", "excellent"), false},
		"no level":                  {level("qp.rc.create", ""), false},
		"unknown without a reason":  {unknown("qp.rc.create", ""), false},
		"unknown, another reason":   {unknown("qp.rc.create", "bored"), false},
		"an answer with a reason":   {reasoned, false},
		"an errno":                  {errno(22, "EINVAL", rdma.PlatformLinux), true},
		"an errno of its platform":  {errno(102, "EOPNOTSUPP", rdma.PlatformDarwin), true},
		"a negated errno":           {errno(-22, "EINVAL", rdma.PlatformLinux), true},
		"an errno without a name":   {errno(12345, "errno 12345", rdma.PlatformLinux), true},
		"an errno with a new name":  {errno(4000, "ENEWNAME", rdma.PlatformLinux), true},
		"errno 0":                   {errno(0, "errno 0", rdma.PlatformLinux), false},
		"an errno that is no int":   {errno(1<<40, "errno 1099511627776", rdma.PlatformLinux), false},
		"another errno's name":      {errno(22, "EPERM", rdma.PlatformLinux), false},
		"another platform's name":   {errno(102, "EOPNOTSUPP", rdma.PlatformLinux), false},
		"an errno of no platform":   {errno(22, "EINVAL", "amiga"), false},
		"a text in place of a name": {errno(4000, "<b>bold</b>", rdma.PlatformLinux), false},
	} {
		if got := Sound(c.o); got != c.want {
			t.Errorf("%s: sound is %v", name, got)
		}
	}
}

// Rows that cannot be are left out and counted, with what rests on them; the
// file's other rows and the input itself stay.
func TestMergeLeavesOutUnsoundRows(t *testing.T) {
	bad := level("qp.rc.create", rdma.CapabilityConfirmed)
	bad.Reason = Timeout
	in := mergeDoc("node-01", "25F84", 0, bad, level("qp.uc.create", rdma.CapabilityConfirmed), level("mr.register", "excellent"))
	if in.Devices[0].Capabilities.QueuePairRC.State != rdma.CapabilityConfirmed {
		t.Fatal("the document does not conclude from the row that is wrong")
	}
	for name, docs := range map[string][]*Document{
		"alone":        {in},
		"with another": {in, mergeDoc("node-01", "25F84", 1)},
		"of two hosts": {in, mergeDoc("node-02", "25F84", 1)},
	} {
		d := merged(t, false, docs...)
		if len(d.Observations) != 1 || d.Observations[0].ID != "qp.uc.create" {
			t.Errorf("%s: %+v", name, d.Observations)
		}
		if want := "2 rows of a.json left out: not of the vocabulary"; !slices.Contains(d.Notes, want) {
			t.Errorf("%s: the notes are %q", name, d.Notes)
		}
		for _, dev := range d.Devices {
			if s := dev.Capabilities.QueuePairRC; s.State != rdma.CapabilityUnknown || s.Observation != nil {
				t.Errorf("%s: %s of %s still rests on a row that is gone: %+v", name, "RC", dev.Name, s)
			}
		}
	}
	if len(in.Observations) != 3 || in.Devices[0].Capabilities.QueuePairRC.State != rdma.CapabilityConfirmed {
		t.Error("the input was changed")
	}
	if d := merged(t, false, mergeDoc("node-01", "25F84", 0, level("qp.uc.create", rdma.CapabilityConfirmed))); len(d.Notes) != 0 {
		t.Errorf("notes where nothing was left out: %q", d.Notes)
	}
}
