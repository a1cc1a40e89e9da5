package report

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/report/secrettest"
)

func TestRedactRawKeepsShape(t *testing.T) {
	const h = "[0-9a-f]"
	for _, tt := range []struct{ in, want string }{
		{`"IOPlatformSerialNumber" = "C02XK1ZZJGH5"`, `"IOPlatformSerialNumber" = "[A-Z]\d\d[A-Z]{2}\d[A-Z]{5}\d"`},
		{`"serial_number_key" : "QZABCDEF"`, `"serial_number_key" : "[A-Z]{8}"`}, {`"serial_num": "ab12-34"`, `"serial_num": "[a-z]{2}\d\d-\d\d"`},
		{"Serial Number (system): XQ1ABC2DEF", `Serial Number \(system\): [A-Z]{2}\d[A-Z]{3}\d[A-Z]{3}`}, {"Serial : 00000000deadbeef", `Serial : \d{8}[a-z]{8}`},
		{"serial: unknown", "serial: unknown"}, {"serial8250: ttyS0", "serial8250: ttyS0"},
		{`"switch_uid_key": "0x05AC0000DEADBEEF"`, `"switch_uid_key": "0x[0-9A-F]{16}"`}, {`"switch_uid_key": "0x5AC01"`, `"switch_uid_key": "0x[0-9A-F]{5}"`},
		{`"switch_uid_key": "0x0000000000000000"`, `"switch_uid_key": "0x0{16}"`},
		{`"domain_uuid_key": "7E1B3A4C-0011-4D22-8E33-AABBCCDDEEFF"`, `"domain_uuid_key": "[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-8[0-9A-F]{3}-[0-9A-F]{12}"`},
		{`"IOPlatformUUID" = "7E1B3A4C-0011-4D22-8E33-AABBCCDDEEFF"`, `"IOPlatformUUID" = "[0-9A-F-]{36}"`},
		{`"node_guid" = "0011:22ff:fe33:4455"`, `"node_guid" = "0000:5eff:fe` + h + `{2}:` + h + `{4}"`},
		{"  SSID : Acme Guests", `  SSID : net-` + h + `{6}`}, {`"SSID_STR" = "acme";`, `"SSID_STR" = "net-` + h + `{6}";`}, {"  BSSID : 00:11:22:33:44:55", `  BSSID : 00:00:5e(:` + h + `{2}){3}`},
		{"x\n10.1.2             link#11", `x\n(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+             link#11`}, {"x\n169.254            link#14", `x\n169\.254\.0\.0            link#14`},
		{"x\n10.1.2/30          link#11", `x\n(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+/30          link#11`}, {"x\n127                127.0.0.1", "x\n127                127.0.0.1"},
		{"gw 0:11:22:33:4:5  UHL", `gw 0:0:5e(:` + h + `{1,2}){3}  UHL`}, {"id 0:0:0:0:0:0 priority 0", "id 0:0:0:0:0:0 priority 0"},
		{"eth0\t0302010A\t0102010A\t0003\t0\t00FFFFFF", `eth0\t[0-9A-F]{8}\t[0-9A-F]{8}\t0003\t0\t00FFFFFF`}, {"eth0\t00000000\t", "eth0\t00000000\t"},
		{"20014701234567890000000000000001 40", `20010db8` + h + `{24} 40`}, {"00000000000000000000000000000001 80", "00000000000000000000000000000001 80"},
		{"kern.hostname = vm", `kern\.hostname = host-` + h + `{8}`}, {"== /proc/sys/kernel/hostname\nvm\n", `== /proc/sys/kernel/hostname\nhost-` + h + `{8}\n`}, {"/proc/sys/kernel/domainname\n(none)\n", `/proc/sys/kernel/domainname\n\(none\)\n`},
		{"x\n@yu - memlock unlimited", `x\n@user-` + h + `{8} - memlock unlimited`}, {"x\n* soft memlock 64", `x\n\* soft memlock 64`},
		{"SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"},
		{"version 6.1.0 of x", "version 6.1.0 of x"}, {"en0: flags=8863<UP> mtu 1500", "en0: flags=8863<UP> mtu 1500"}, {"netmask 0xffffff00", "netmask 0xffffff00"},
	} {
		got := NewRedactor("k").Raw(tt.in)
		if !regexp.MustCompile("^(?s:" + tt.want + ")$").MatchString(got) {
			t.Errorf("%q became %q, want %s", tt.in, got, tt.want)
		}
	}
}

// TestRedactRawAgreesWithText: what raw texts name is called there as in fields.
func TestRedactRawAgreesWithText(t *testing.T) {
	r := NewRedactor("k")
	for raw, text := range map[string]string{
		`"IOPlatformSerialNumber" = "C02XK1ZZJGH5"`: "C02XK1ZZJGH5",
		`"node_guid" = "0e99:aa03:0016:054c"`:       "0e99:aa03:0016:054c",
		`"BSSID" = "0a:11:22:33:04:05"`:             "0a:11:22:33:04:05",
		"\n10.1.2.3  x":                             "10.1.2.3",
		"\n10.1.2/24  x":                            "10.1.2.0/24",
	} {
		if got, want := r.Raw(raw), r.Text(text); want == text || !strings.Contains(got, want) {
			t.Errorf("%q became %q, and %s is called %s", raw, got, text, want)
		}
	}
	a := r.ipv4(netip.MustParseAddr("10.1.2.3")).As4()
	if got, want := r.Raw("eth0\t0302010A\t"), fmt.Sprintf("eth0\t%02X%02X%02X%02X\t", a[3], a[2], a[1], a[0]); got != want {
		t.Errorf("kernel's route %q, want %q", got, want)
	}
	m := r.mac([6]byte{0x0a, 0x11, 0x22, 0x33, 0x04, 0x05})
	if got, want := r.Raw("a:11:22:33:4:5"), fmt.Sprintf("%x:%x:%x:%x:%x:%x", m[0], m[1], m[2], m[3], m[4], m[5]); got != want {
		t.Errorf("short address %q, want %q", got, want)
	}
}

// TestRedactRawFindsAll: outputs as macOS and Linux write them, with everything
// that may not stay, in every form in which it is there.
func TestRedactRawFindsAll(t *testing.T) {
	texts := []string{
		"== sysctl\nkern.hostname = weird-box.acme.example\nkern.bootsessionuuid = 7E1B3A4C-0011-4D22-8E33-AABBCCDDEEFF\n",
		"== system_profiler SPThunderboltDataType -json\n{\"SPThunderboltDataType\":[{\"_name\":\"thunderboltusb4_bus_1\",\"domain_uuid_key\":\"7E1B3A4C-0011-4D22-8E33-AABBCCDDEE01\"," +
			"\"_items\":[{\"_name\":\"Zaphods Peer\",\"device_name_key\":\"Mac16,9\",\"domain_uuid_key\":\"7E1B3A4C-0011-4D22-8E33-AABBCCDDEE02\",\"switch_uid_key\":\"0x05AC0000DEADBEEF\",\"serial_num\":\"C02XK1ZZJGH5\"}]}]}",
		"== ifconfig -a\nen3: flags=8863<UP>\n\tether 3c:22:fb:a0:0b:0c\n\tinet6 fe80::3e22:fbff:fea0:b0c%en3 prefixlen 64\n\tinet 10.77.3.9 netmask 0xffffff00 broadcast 10.77.3.255\n\tinet6 2a02:8071:5678:9a00::1234 prefixlen 64\n",
		"== netstat -rn\nDestination        Gateway            Flags\n10.77.3/24         link#11            UCS\n10.77.3.9          3c:22:fb:a0:b:c    UHLWIir\n",
		"== ioreg\n  | \"node_guid\" = \"3e22:fbff:fea0:0b0c\"\n  | \"IOUserClientCreator\" = \"pid 4242, python3\"\n  | \"IOPlatformSerialNumber\" = \"C02XK1ZZJGH5\"\n",
		"== ipconfig getsummary en1\n  SSID : Heart Of Gold\n  BSSID : 3c:22:fb:a0:0b:0c\n  domain_name (string): acme.example\n  host_name (string): weird-box\n",
		"== /proc/net/route\nIface\tDestination\tGateway\neth0\t09034D0A\t09034D0A\t0003\n== /proc/net/ipv6_route\n2a02807156789a000000000000001234 80 fe800000000000003e22fbfffea00b0c 00\n",
		"== /etc/security/limits.conf\n#ftp hard nproc 0\nzaphod - memlock unlimited\n@beeblebrox soft memlock 64\n",
		"== /proc/sys/kernel/hostname\nweird-box\n== /proc/cpuinfo\nSerial\t\t: 00000000deadbeef\n",
		"== /sys/class/infiniband/mlx5_0/node_guid\n3e22:fbff:fea0:0b0c\n== /sys/class/infiniband/mlx5_0/ports/1/gids/0\n0000:0000:0000:0000:0000:ffff:0a4d:0309\n",
		"log: open /Users/zaphod/secret-plan/x.json by zaphod on WEIRD-BOX failed\n",
	}
	r := NewRedactor("k")
	for _, s := range texts {
		r.LearnRaw(s)
	}
	var secrets []string
	for _, name := range []string{"weird-box", "acme", "zaphod", "Zaphods Peer", "beeblebrox", "Heart Of Gold", "C02XK1ZZJGH5", "DEADBEEF", "7E1B3A4C", "secret-plan"} {
		secrets = append(secrets, secrettest.Word(name)...)
	}
	secrets = slices.Concat(secrets, secrettest.MAC("3c:22:fb:a0:0b:0c"), secrettest.Address("10.77.3.9"), secrettest.Address("2a02:8071:5678:9a00::1234"),
		secrettest.GUID("3e22:fbff:fea0:0b0c"), []string{"10.77.3", "2a02:8071"})
	planted := strings.Join(texts, "")
	found := 0
	for _, s := range secrets {
		if strings.Contains(planted, s) {
			found++
		}
	}
	if found < 20 {
		t.Errorf("only %d forms were planted", found)
	}
	for _, s := range texts {
		got := r.Raw(s)
		for _, secret := range secrets {
			if strings.Contains(strings.ToLower(got), strings.ToLower(secret)) {
				t.Errorf("%q is still in\n%s", secret, got)
			}
		}
	}
}
