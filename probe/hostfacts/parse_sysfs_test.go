//go:build unix

package hostfacts

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLsMode(t *testing.T) {
	for want, m := range map[string]fs.FileMode{
		"crw-rw-rw-": fs.ModeDevice | fs.ModeCharDevice | 0o666,
		"crw-------": fs.ModeDevice | fs.ModeCharDevice | 0o600,
		"brw-rw----": fs.ModeDevice | 0o660,
		"drwxr-xr-x": fs.ModeDir | 0o755,
		"drwxrwxrwt": fs.ModeDir | fs.ModeSticky | 0o777,
		"-rwsr-S--T": fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky | 0o740,
		"lrwxrwxrwx": fs.ModeSymlink | 0o777,
		"p---------": fs.ModeNamedPipe,
		"s---------": fs.ModeSocket,
	} {
		if got := lsMode(m); got != want {
			t.Errorf("%v: %s, want %s", m, got, want)
		}
	}
}

func TestInfinibandTexts(t *testing.T) {
	for in, want := range map[string]string{
		"4: ACTIVE": "active", "5: ACTIVE_DEFER": "active_defer", "1: DOWN": "down", "0: NOP": "nop",
		"77: <unknown>": "unknown(77)", "77: ": "unknown(77)", "ACTIVE": "", "x: ACTIVE": "", "": "",
	} {
		if got := portState(in); got != want {
			t.Errorf("state %q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"5: LinkUp": "link_up", "3: Disabled": "disabled", "2: Polling": "polling", "1: Sleep": "sleep",
		"4: PortConfigurationTraining": "training", "6: LinkErrorRecovery": "recovery", "7: Phy Test": "phy_test",
		"0: <unknown>": "unknown(0)", "8: x": "unknown(8)", "-1: x": "", "LinkUp": "", "": "",
	} {
		if got := physState(in); got != want {
			t.Errorf("phys_state %q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]float64{"100 Gb/sec (4X EDR)": 100, "2.5 Gb/sec (1X SDR)": 2.5, "0 Gb/sec": 0} {
		if got, ok := parseRate(in); !ok || got != want {
			t.Errorf("rate %q: %v %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "Gb/sec", "NaN Gb/sec", "-1 Gb/sec", "Inf Gb/sec", "100"} {
		if got, ok := parseRate(in); ok {
			t.Errorf("rate %q: %v", in, got)
		}
	}
	for in, want := range map[string]string{
		"fe80:0000:0000:0000:0200:5eff:fe00:5301": "fe80::200:5eff:fe00:5301",
		"0000:0000:0000:0000:0000:ffff:c000:0201": "::ffff:192.0.2.1",
		"0000:0000:0000:0000:0000:0000:0000:0000": "", "192.0.2.1": "", "fe80::1%eth0": "", "": "",
	} {
		if got, ok := parseGID(in); got != want || ok != (want != "") {
			t.Errorf("gid %q: %q %v", in, got, ok)
		}
	}
	for _, c := range [][3]string{
		{"RoCE v2", "Ethernet", "roce_v2"}, {"IB/RoCE v1", "Ethernet", "roce_v1"}, {"IB/RoCE v1", "InfiniBand", "ib"}, {"RoCE v9", "Ethernet", ""},
	} {
		if got := gidType(c[0], c[1]); got != c[2] {
			t.Errorf("gid type %q on %s: %q", c[0], c[1], got)
		}
	}
}

func TestSysfsGIDs(t *testing.T) {
	s := load(t, "testdata/linux/roce-two-ports.txtar")
	gids, err := SysfsGIDs(s, "mlx5_0", 1)
	if err != nil {
		t.Fatal(err)
	}
	var index []int
	for _, g := range gids {
		index = append(index, g.Index)
	}
	if !slices.Equal(index, []int{0, 1, 2, 3, 10}) {
		t.Errorf("slots %v: by number, without empty ones", index)
	}
	if last := gids[len(gids)-1]; last != (SysfsGID{10, "2001:db8::1", "roce_v2", "eth1.7"}) {
		t.Errorf("last slot %+v", last)
	}
	for _, device := range []string{"", ".", "..", "../mlx5_0", "mlx5_0/..", "none", "a\x00b"} {
		if gids, err := SysfsGIDs(s, device, 1); !errors.Is(err, fs.ErrNotExist) || gids != nil {
			t.Errorf("device %q: %v, %v", device, gids, err)
		}
	}
}

func TestAvailableModules(t *testing.T) {
	got := availableModules([]byte("kernel/a/rdma-rxe.ko.xz: x\nkernel/b/ib_core.ko:\n"), []byte("kernel/c/siw.ko\nnot_siw.ko\n"))
	want := map[string]bool{"rdma_rxe": true, "ib_core": true, "siw": true, "ib_uverbs": false, "rdma_cm": false, "rdma_ucm": false}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestHypervisorFlag(t *testing.T) {
	for in, want := range map[string][2]bool{
		"flags\t\t: fpu hypervisor sse\n": {true, true}, "flags : fpu\n": {false, true},
		"model : hypervisor\n": {}, "": {}, "Features : fp asimd\n": {},
	} {
		if vm, ok := hypervisorFlag([]byte(in)); vm != want[0] || ok != want[1] {
			t.Errorf("%q: %v %v", in, vm, ok)
		}
	}
}

// tree makes a file system of a few files and links.
func tree(t *testing.T, files map[string]string, links string) *System {
	t.Helper()
	root := t.TempDir()
	for name, data := range files {
		put(t, filepath.Join(root, name), []byte(data))
	}
	putLinks(t, root, links)
	return &System{OS: Linux, Root: root}
}

func TestVirtualMachineByDMI(t *testing.T) {
	for name, c := range map[string]struct {
		vendor, product string
		vm, ok          bool
	}{
		"qemu": {"QEMU", "Standard PC", true, true}, "ec2": {"Amazon EC2", "c7g.large", true, true},
		"ec2 metal": {"Amazon EC2", "c7g.metal", false, true}, "hyper-v": {"Microsoft Corporation", "Virtual Machine", true, true},
		"server": {"Example", "Server", false, true}, "nothing": {"", "", false, false},
	} {
		s := tree(t, map[string]string{"sys/class/dmi/id/sys_vendor": c.vendor, "sys/class/dmi/id/product_name": c.product}, "")
		if vm, ok := virtualMachine(s); vm != c.vm || ok != c.ok {
			t.Errorf("%s: %v %v", name, vm, ok)
		}
	}
	if vm, ok := virtualMachine(tree(t, map[string]string{"proc/device-tree/hypervisor/compatible": "x"}, "")); !vm || !ok {
		t.Error("device tree")
	}
}

func TestInContainer(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		links string
		env   []string
		want  bool
	}{
		"docker":       {map[string]string{".dockerenv": ""}, "", nil, true},
		"podman":       {map[string]string{"run/.containerenv": ""}, "", nil, true},
		"nspawn":       {nil, "", []string{"container=systemd-nspawn"}, true},
		"kubernetes":   {map[string]string{"proc/1/cgroup": "0::/kubepods.slice/pod1\n"}, "", nil, true},
		"namespace":    {nil, "proc/self/ns/pid -> pid:[4026532200]", nil, true},
		"host":         {map[string]string{"proc/1/cgroup": "0::/init.scope\n"}, "proc/self/ns/pid -> pid:[4026531836]", nil, false},
		"odd cgroup":   {map[string]string{"proc/1/cgroup": "docker\n:\n"}, "", nil, false},
		"empty system": {nil, "", nil, false},
	} {
		s := tree(t, c.files, c.links)
		s.Env = c.env
		if got := inContainer(s); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNetnsKind(t *testing.T) {
	veth := map[string]string{"sys/class/net/lo/ifindex": "1", "sys/class/net/lo/iflink": "1", "sys/class/net/eth0/ifindex": "2", "sys/class/net/eth0/iflink": "9"}
	ipvlan := map[string]string{"sys/class/net/eth0/uevent": "DEVTYPE=ipvlan\n", "sys/class/net/a/ifindex": "2", "sys/class/net/a/iflink": "3"}
	for name, c := range map[string]struct {
		files map[string]string
		links string
		want  string
	}{
		"veth": {veth, "", "veth"}, "ipvlan beside veth": {ipvlan, "", "ipvlan"},
		"physical":        {map[string]string{"sys/class/net/eth0/device/vendor": "x"}, "", "host"},
		"only a loopback": {map[string]string{"sys/class/net/lo/ifindex": "1", "sys/class/net/lo/iflink": "2"}, "", ""},
		"nothing":         {nil, "", ""},
	} {
		if got := netnsKind(tree(t, c.files, c.links), true); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestParseRoutes(t *testing.T) {
	const head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
	routes := map[string]string{}
	err := parseRoute4([]byte(head+
		"eth0 000200C0 00000000 0001 0 0 100 00FFFFFF 0 0 0\n"+
		"eth1 000200C0 00000000 0001 0 0 50 00FFFFFF 0 0 0\n"+ // better metric
		"eth2 000200C0 00000000 0001 0 0 50 00FFFFFF 0 0 0\n"+ // as good, later
		"eth3 006433C6 00000000 0000 0 0 0 00FFFFFF 0 0 0\n"+ // not up
		"eth3 006433C6 00000000 0201 0 0 0 00FFFFFF 0 0 0\n"+ // reject
		"eth3 007100CB 00000000 0001 0 0 0 00FF00FF 0 0 0\n"+ // mask with a hole
		"eth3 7100CB 00000000 0001 0 0 0 00FFFFFF 0 0 0\n"+
		"eth3 short\n"), routes)
	if d := cmp.Diff(map[string]string{"192.0.2.0/24": "eth1"}, routes); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if parseRoute4([]byte("eth0 000200C0 00000000 0001 0 0 100 00FFFFFF 0 0 0\n"), map[string]string{}) == nil {
		t.Error("a table without header was read")
	}
	for in, ok := range map[string]bool{"": true, "x\n": false, "zz 40 0 00 0 0 0 0 1 eth0\n": false} {
		if err := parseRoute6([]byte(in), map[string]string{}); (err == nil) != ok {
			t.Errorf("ipv6 %q: %v", in, err)
		}
	}
}

func TestParseWantedABI(t *testing.T) {
	for in, want := range map[string][2]string{
		"\x00lib%s-rdmav34.so\x00/usr/lib/x86_64-linux-gnu/libibverbs/lib%s-rdmav34.so\x00": {"rdmav34", "usr/lib/x86_64-linux-gnu/libibverbs"},
		"lib%s-rdmav2.so":          {"rdmav2", ""},
		"relative/lib%s-rdmav3.so": {"rdmav3", ""},
		"lib%s-rdmav.so":           {"", ""},
		"lib%s-rdmav99999.so":      {"", ""},
		"lib%s-rdmav":              {"", ""},
		"":                         {"", ""},
		strings.Repeat("/", 4096) + "lib%s-rdmav34.so": {"rdmav34", "."},
	} {
		abi, dir := parseWantedABI([]byte(in))
		if dir == "." || dir == "/" {
			dir = "."
		}
		if abi != want[0] || dir != want[1] {
			t.Errorf("%.60q: %q %q, want %v", in, abi, dir, want)
		}
	}
}

func TestProvidersNeedEntryAndFile(t *testing.T) {
	const so, entry = "usr/lib64/libibverbs/librxe-rdmav34.so", "etc/libibverbs.d/rxe.driver"
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"both": {map[string]string{so: "", entry: "driver rxe\n"}, true}, "file only": {map[string]string{so: ""}, false},
		"entry only": {map[string]string{entry: "driver rxe\n"}, false}, "neither": {nil, false},
	} {
		h := &Host{}
		readProviders(t.Context(), tree(t, c.files, "")).apply(h)
		if h.Providers == nil || *h.Providers != c.want {
			t.Errorf("%s: %v", name, h.Providers)
		}
	}
}

func TestProviderFilesCountOnce(t *testing.T) {
	s := tree(t, map[string]string{"usr/lib64/libibverbs/librxe-rdmav34.so": ""}, "lib64 -> usr/lib64\nusr/lib64/libibverbs/libgone-rdmav34.so -> nowhere")
	want := []string{"/usr/lib64/libibverbs/librxe-rdmav34.so"}
	if d := cmp.Diff(want, providerFiles(s, libraryDirs(s), "usr/lib64/libibverbs")); d != "" {
		t.Error(d)
	}
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		conf, user string
		euid       int
		want       string
	}{
		"soft before hard":   {"* hard memlock unlimited\n* soft memlock 64\n", "user", 501, "64"},
		"hard alone":         {"* hard memlock 128\n", "user", 501, "128"},
		"the user's line":    {"user - memlock 256\n* - memlock 64\n", "user", 501, "256"},
		"another user":       {"other - memlock 256\n", "user", 501, ""},
		"group":              {"@hpc - memlock 256\n", "user", 501, ""},
		"star is not root's": {"* - memlock 64\n", "", 0, ""},
		"root":               {"root - memlock 64\n", "", 0, "64"},
		"minus one":          {"* - memlock -1\n", "user", 501, "unlimited"},
		"comments":           {"#* - memlock 1\n* - memlock 2 # 3\n* - nofile 4\n", "user", 501, "2"},
	} {
		s := tree(t, map[string]string{"etc/security/limits.conf": c.conf}, "")
		s.Env, s.EUID = []string{"USER=" + c.user}, c.euid
		if got := limitsMemlock(s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestHostileFiles(t *testing.T) {
	s := tree(t, map[string]string{"big": strings.Repeat("x", maxFile+1), "ok": "a\x1b[31mb\u202ec\n"}, "")
	if err := syscall.Mkfifo(filepath.Join(s.Root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"big", "fifo", ".", "none"} {
		if b, err := s.read(maxFile, name); err == nil || b != nil {
			t.Errorf("%s was read: %d bytes", name, len(b))
		}
	}
	if got := s.text("ok"); got != "a[31mbc" {
		t.Errorf("text %q", got)
	}
	if _, err := s.list("none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("list: %v", err)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		" a\tb\r\n": "a b", "\xff\xfea": "a", "é": "é", "a\u200fb": "ab", "\x9b31m": "31m", "\u009b31m": "31m", "": "",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := clean(strings.Repeat("é", maxText)); len(got) > maxText || !strings.HasPrefix(got, "éé") || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("%d bytes", len(got))
	}
}

func TestLines(t *testing.T) {
	var got []string
	lines([]byte("a\r\n\nlonger than ten\nb"), 10, func(l string) bool { got = append(got, l); return true })
	if d := cmp.Diff([]string{"a", "", "longer tha", "b"}, got); d != "" {
		t.Error(d)
	}
}

func TestInterfaceFacts(t *testing.T) {
	i := newInterface([]netip.Prefix{netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("169.254.7.1/16"), netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("2001:db8::1/128")})
	if !slices.Equal(i.Addresses, []string{"192.0.2.1", "169.254.7.1", "2001:db8::1"}) || !slices.Equal(i.Prefixes, []string{"192.0.2.0/24", "169.254.0.0/16"}) {
		t.Errorf("%+v", i)
	}
	if i.SelfAssigned == nil || !*i.SelfAssigned {
		t.Error("a self-assigned address beside another one")
	}
	if i := newInterface(nil); i.Addresses == nil || i.SelfAssigned != nil {
		t.Errorf("no address: %+v", i)
	}
}

func TestRDMAEnv(t *testing.T) {
	got := rdmaEnv([]string{"LD_PRELOAD=/x.so", "LD_LIBRARY_PATH=.", "DYLD_INSERT_LIBRARIES=y", "LDFLAGS=z", "NCCL_IB_HCA=mlx5\n", "NCCL_DEBUG=x", "PATH=/bin", "RDMAV_FORK_SAFE=", "novalue", "=x"})
	if d := cmp.Diff(map[string]string{"LD_PRELOAD": "/x.so", "LD_LIBRARY_PATH": ".", "DYLD_INSERT_LIBRARIES": "y", "NCCL_IB_HCA": "mlx5", "RDMAV_FORK_SAFE": ""}, got); d != "" {
		t.Error(d)
	}
}
