package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rdmaprobe/probe/devinfo"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// printed is what the tool printed, as a file of package devinfo has it.
func printed(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile("devinfo/testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func parsed(t *testing.T, text string) []devinfo.Device {
	t.Helper()
	devices, err := devinfo.Parse(strings.NewReader(text))
	if err != nil || len(devices) == 0 {
		t.Fatalf("%d devices, %v", len(devices), err)
	}
	return devices
}

// guid is the last 16 bits of a GUID with documentation addresses.
func guid(high, low uint16) [8]byte {
	return [8]byte{byte(high >> 8), byte(high), 0x5e, 0xff, 0xfe, 0x00, byte(low >> 8), byte(low)}
}

func gid(index int, text, kind string) GID {
	return GID{Index: index, GID: text, Type: kind, Class: gidClass(netip.MustParseAddr(text))}
}

// macDevice is what the binding makes of the device that mac.txt prints: all
// fields of the structs, by the code that every listing takes.
func macDevice(name string, guidLow uint16, state int32, lid uint16, gids ...GID) Device {
	attr := deviceAttr(&rdma.IbvDeviceAttr{
		NodeGUID: guid(0, guidLow), SysImageGUID: guid(0, 0x5320), MaxMRSize: 0xfa0000, MaxQP: 11, MaxSGE: 1, MaxCQ: 11, MaxMR: 100, MaxPD: 11, PhysPortCnt: 1,
	})
	p := port(1, &rdma.IbvPortAttr{
		State: state, MaxMTU: 5, ActiveMTU: 5, MaxMsgSz: 0x1000000, LID: lid, SMLID: lid, ActiveWidth: 4, ActiveSpeed: 4, LinkLayer: 100,
	})
	p.GIDs = gids
	return Device{Name: name, Transport: "thunderbolt", NodeGUID: attr.NodeGUID, Listed: true, Attr: attr, Ports: []Port{p}}
}

func macDevices() []Device {
	return []Device{
		macDevice("rdma_en2", 0x5322, 4, 1, gid(0, "fe80::200:5eff:fe00:5302", ""), gid(1, "::ffff:192.0.2.9", "none"), gid(2, "fe80::200:5eff:fe00:5382", "")),
		macDevice("rdma_en3", 0x5323, 1, 2, gid(0, "fe80::200:5eff:fe00:5303", "")),
	}
}

// linuxDevices are the Soft-RoCE devices of linux.txt.
func linuxDevices() []Device {
	var devices []Device
	for i, low := range []uint16{0x5301, 0x5302} {
		var fw [64]byte
		copy(fw[:], "0.0.0")
		attr := deviceAttr(&rdma.IbvDeviceAttr{
			FWVer: fw, NodeGUID: guid(0x0200, low), SysImageGUID: guid(0x0200, low), MaxMRSize: 1<<64 - 1, PageSizeCap: 0xfffff000, VendorID: 0xffffff,
			MaxQP: 1048560, MaxQPWR: 1048576, DeviceCapFlags: 0x01223c76, MaxSGE: 32, MaxSGERd: 32, MaxCQ: 1048576, MaxCQE: 32767, MaxMR: 524287,
			MaxPD: 1048576, MaxQPRdAtom: 128, MaxResRdAtom: 258048, MaxQPInitRdAtom: 128, AtomicCap: 1, MaxMW: 524287, MaxMcastGrp: 8192,
			MaxMcastQPAttach: 56, MaxTotalMcastQPAttach: 458752, MaxAH: 32767, MaxSRQ: 917503, MaxSRQWR: 1048576, MaxSRQSGE: 27, MaxPKeys: 64,
			LocalCAAckDelay: 15, PhysPortCnt: 1,
		})
		p := port(1, &rdma.IbvPortAttr{
			State: 4, MaxMTU: 5, ActiveMTU: 3, GIDTblLen: 1024, PortCapFlags: 0x10000, MaxMsgSz: 0x800000, PKeyTblLen: 1, MaxVLNum: 1,
			ActiveWidth: 1, ActiveSpeed: 8, PhysState: 5, LinkLayer: 2,
		})
		p.GIDs = []GID{gid(0, fmt.Sprintf("fe80::200:5eff:fe00:%x", low), "roce_v2"), gid(1, fmt.Sprintf("::ffff:192.0.2.%d", i+1), "roce_v2")}
		devices = append(devices, Device{Name: fmt.Sprintf("rxe%d", i), Transport: "infiniband", NodeGUID: attr.NodeGUID, Listed: true, Attr: attr, Ports: []Port{p}})
	}
	return devices
}

func TestVerifyFindsNoDifference(t *testing.T) {
	for _, tt := range []struct {
		file        string
		ours        []Device
		fields      int
		notCompared int
	}{
		{"mac.txt", macDevices(), 58, 0},
		{"linux.txt", linuxDevices(), 100, 11},
	} {
		t.Run(tt.file, func(t *testing.T) {
			v := CompareWith(tt.ours, parsed(t, printed(t, tt.file)))
			if len(v.Differences) != 0 || v.Error != "" {
				t.Errorf("differences %+v, error %q", v.Differences, v.Error)
			}
			if v.Fields < tt.fields || len(v.NotCompared) != tt.notCompared {
				t.Errorf("%d fields compared, want at least %d; not compared: %v", v.Fields, tt.fields, v.NotCompared)
			}
			if v.Tool != "ibv_devinfo -v" {
				t.Errorf("tool is %q", v.Tool)
			}
		})
	}
}

// The short form has fewer fields; what it has is compared, and a GID table that
// it does not print is no difference.
func TestVerifyAgainstTheShortForm(t *testing.T) {
	ours := []Device{
		macDevice("rdma_en1", 0x5301, 1, 1, gid(0, "fe80::200:5eff:fe00:5301", "")),
		macDevice("rdma_en6", 0x5306, 4, 2, gid(0, "fe80::200:5eff:fe00:5306", "")),
	}
	for i := range ours {
		ours[i].Attr.SysImageGUID = "0000:5eff:fe00:5300"
	}
	v := CompareWith(ours, parsed(t, printed(t, "mac-short.txt")))
	if len(v.Differences) != 0 || v.Fields != 28 {
		t.Errorf("%d fields, differences %+v; want 28 and none", v.Fields, v.Differences)
	}
}

// Every line of the tool's that says something else is one difference, in the
// document's terms.
func TestVerifyFindsEachDifference(t *testing.T) {
	on := func(port int, field, ours, theirs string) Difference {
		return Difference{Device: "rdma_en2", Port: port, Field: field, Ours: ours, Theirs: theirs}
	}
	for _, tt := range []struct {
		was, is string
		want    Difference
	}{
		{"Thunderbolt (100)", "InfiniBand (0)", on(0, "transport", "thunderbolt", "infiniband")},
		{"node_guid:\t\t\t0000:5eff:fe00:5322", "node_guid:\t\t\t0000:5eff:fe00:5329", on(0, "node_guid", "0000:5eff:fe00:5322", "0000:5eff:fe00:5329")},
		{"0xfa0000", "0xfa0001", on(0, "max_mr_size", "16384000", "16384001")},
		{"max_qp:\t\t\t\t11", "max_qp:\t\t\t\t3", on(0, "max_qp", "11", "3")},
		{"max_qp:\t\t\t\t11", "max_qp:\t\t\t\t-1", on(0, "max_qp", "11", "-1")},
		{"0x00000000", "0x00000400", on(0, "device_cap_flags", "0", "1024")},
		{"ATOMIC_NONE (0)", "ATOMIC_HCA (1)", on(0, "atomic_cap", "none", "hca")},
		{"PORT_ACTIVE (4)", "PORT_DOWN (1)", on(1, "state", "active", "down")},
		{"PORT_ACTIVE (4)", "invalid state (77)", on(1, "state", "active", "unknown(77)")},
		{"active_mtu:\t\t4096 (5)", "active_mtu:\t\t1024 (3)", on(1, "active_mtu", "4096", "1024")},
		{"max_mtu:\t\t4096 (5)", "max_mtu:\t\t2048 (4)", on(1, "max_mtu", "4096", "2048")},
		{"sm_lid:\t\t\t1", "sm_lid:\t\t\t7", on(1, "sm_lid", "1", "7")},
		{"port_lid:\t\t1", "port_lid:\t\t9", on(1, "lid", "1", "9")},
		{"port_lmc:\t\t0x00", "port_lmc:\t\t0x01", on(1, "lmc", "0", "1")},
		{"link_layer:\t\tThunderbolt", "link_layer:\t\tEthernet", on(1, "link_layer", "thunderbolt", "ethernet")},
		{"0x1000000", "0x800000", on(1, "max_msg_sz", "16777216", "8388608")},
		{"8X (4)", "4X (2)", on(1, "active_width", "4", "2")},
		{"10.0 Gbps (4)", "25.0 Gbps (32)", on(1, "active_speed", "4", "32")},
		{"0000:0000:0000:0000:0000:ffff:c000:0209", "0000:0000:0000:0000:0000:ffff:c000:020a", on(1, "GID[1]", "::ffff:192.0.2.9", "::ffff:192.0.2.10")},
		{"GID[  2]:\t\tfe80:0000:0000:0000:0200:5eff:fe00:5382\n", "\n", on(1, "GID[2]", "fe80::200:5eff:fe00:5382", "")},
		{"GID[  0]:", "GID[  7]:\t\t2001:db8::7\n\t\t\tGID[  0]:", on(1, "GID[7]", "", "2001:db8::7")},
		{"\n\nhca_id:", "\n\t\tport:\t2\n\t\t\tstate:\t\tPORT_DOWN (1)\n\nhca_id:", on(2, "port", "", "2")},
		{"hca_id:\trdma_en3", "hca_id:\trdma_en4\n\nhca_id:\trdma_en3", Difference{Device: "rdma_en4", Field: "listed", Theirs: "true"}},
	} {
		t.Run(tt.is, func(t *testing.T) {
			text := printed(t, "mac.txt")
			if !strings.Contains(text, tt.was) {
				t.Fatalf("%q is not in the text", tt.was)
			}
			v := CompareWith(macDevices(), parsed(t, strings.Replace(text, tt.was, tt.is, 1)))
			if diff := cmp.Diff([]Difference{tt.want}, v.Differences); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVerifyWhatOneSideLacks(t *testing.T) {
	mac := printed(t, "mac.txt")
	first, _, _ := strings.Cut(mac, "hca_id:\trdma_en3")
	t.Run("a device of ours", func(t *testing.T) {
		v := CompareWith(macDevices(), parsed(t, first))
		if want := []Difference{{Device: "rdma_en3", Field: "listed", Ours: "true"}}; !slices.Equal(v.Differences, want) {
			t.Errorf("%+v, want %+v", v.Differences, want)
		}
	})
	t.Run("a device that neither could open", func(t *testing.T) {
		ours := macDevices()
		ours[1].Attr, ours[1].Ports = nil, nil
		if v := CompareWith(ours, parsed(t, first)); len(v.Differences) != 0 {
			t.Errorf("%+v", v.Differences)
		}
	})
	t.Run("a port of ours", func(t *testing.T) {
		ours := macDevices()
		ours[0].Ports = append(ours[0].Ports, Port{Num: 2})
		v := CompareWith(ours, parsed(t, mac))
		if want := []Difference{{Device: "rdma_en2", Port: 2, Field: "port", Ours: "2"}}; !slices.Equal(v.Differences, want) {
			t.Errorf("%+v, want %+v", v.Differences, want)
		}
	})
	t.Run("named devices only", func(t *testing.T) {
		if v := CompareWith(macDevices()[:1], parsed(t, mac), "rdma_en2"); len(v.Differences) != 0 || v.Fields == 0 {
			t.Errorf("%+v", v)
		}
	})
	t.Run("a word that the tool does not have", func(t *testing.T) {
		v := CompareWith(macDevices(), parsed(t, strings.ReplaceAll(mac, "link_layer:\t\tThunderbolt", "link_layer:\t\tUnknown")))
		if len(v.Differences) != 0 || !slices.Equal(v.NotCompared, []string{"link_layer"}) {
			t.Errorf("%+v", v)
		}
	})
	t.Run("a type of GID", func(t *testing.T) {
		v := CompareWith(linuxDevices(), parsed(t, strings.Replace(printed(t, "linux.txt"), "RoCE v2", "IB/RoCE v1", 1)))
		if len(v.Differences) != 1 || v.Differences[0].Field != "GID[0].type" || v.Differences[0].Theirs != "roce_v1" {
			t.Errorf("%+v", v.Differences)
		}
	})
	t.Run("without bound", func(t *testing.T) {
		text := ""
		for i := range 3 * maxDifferences {
			text += fmt.Sprintf("hca_id:\ty%d\n", i)
		}
		v := CompareWith(nil, parsed(t, text))
		if len(v.Differences) != maxDifferences || !strings.Contains(v.Error, "were left out") {
			t.Errorf("%d differences, error %q", len(v.Differences), v.Error)
		}
	})
}

// The tool as it may answer.
func TestReadTool(t *testing.T) {
	answer := func(out string, err error) *hostfacts.System {
		return &hostfacts.System{Run: func(_ context.Context, name string, args ...string) ([]byte, error) {
			if name != "ibv_devinfo" || !slices.Equal(args, []string{"-v"}) {
				t.Errorf("ran %s %v", name, args)
			}
			return []byte(out), err
		}}
	}
	failed := errors.New("run ibv_devinfo: exit status 255: Failed to open device")
	for _, tt := range []struct {
		name    string
		system  *hostfacts.System
		devices int
		err     string
	}{
		{"all", answer(printed(t, "mac.txt"), nil), 2, ""},
		{"none, said on stdout", answer("No IB devices found\n", nil), 0, ""},
		{"none, said on stderr", answer("", errors.New("run ibv_devinfo: exit status 255: No IB devices found")), 0, ""},
		{"gave up at the third", answer(printed(t, "mac.txt"), failed), 2, "Failed to open device"},
		{"did not end", answer("", context.DeadlineExceeded), 0, "deadline"},
		{"something else", answer("usage: ibv_devinfo\n", nil), 0, "before any hca_id"},
		{"bytes that are no text", answer("hca_id:\tx\xff\n", nil), 1, ""},
		{"no programs here", &hostfacts.System{}, 0, "no outside programs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			devices, err := readTool(context.Background(), tt.system)
			if len(devices) != tt.devices || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%d devices, %v; want %d, %q", len(devices), err, tt.devices, tt.err)
			}
		})
	}
}
