package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
)

func TestRedactKeepsShapeAndClass(t *testing.T) {
	const h = "[0-9a-f]"
	for _, tt := range []struct{ in, want string }{
		{"0e99:aa03:0016:054c", `0200:5e10:` + h + `{4}:` + h + `{4}`},
		{"0011:22ff:fe33:4455", `0000:5eff:fe` + h + `{2}:` + h + `{4}`},
		{"0000:0000:0000:0000", `0000:0000:0000:0000`},
		{"00:11:22:33:44:55", `00:00:5e(:` + h + `{2}){3}`},
		{"0A-11-22-AA-44-55", `02-00-5E(-[0-9A-F]{2}){3}`},
		{"ff:ff:ff:ff:ff:ff", `ff:ff:ff:ff:ff:ff`},
		{"0011.2233.4455", `0000\.5e` + h + `{2}\.` + h + `{4}`},
		{"80:00:02:08:fe:80:00:00:00:00:00:00:00:11:22:ff:fe:33:44:55", `80:00:00:00:fe:80:00:00:00:00:00:00:00:00:5e:ff:fe(:` + h + `{2}){3}`},
		{"fe80::211:22ff:fe33:4455", `fe80::200:5eff:fe` + h + `{2}:` + h + `{1,4}`},
		{"fe80:0000:0000:0000:0211:22ff:fe33:4455", `fe80:0000:0000:0000:0200:5eff:fe` + h + `{2}:` + h + `{4}`},
		{"fe80::211:22ff:fe33:4455%en3", `fe80::200:5eff:fe` + h + `{2}:` + h + `{1,4}%en3`},
		{"::ffff:10.1.2.3", `::ffff:(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+`},
		{"0000:0000:0000:0000:0000:ffff:0a01:0203", `0000:0000:0000:0000:0000:ffff:` + h + `{4}:` + h + `{4}`},
		{"::ffff:169.254.7.8", `::ffff:169\.254\.\d+\.\d+`},
		{"2a02:1234::1", `2001:db8:` + h + `+:` + h + `+:.*`},
		{"fd12:3456::1", `fd00:.*`},
		{"ff02::1", `ff02::1`}, {"ff02::1:ff33:4455", `ff02::1:ff` + h + `{2}:` + h + `+`},
		{"::1", "::1"}, {"::", "::"}, {"127.0.0.1", "127.0.0.1"}, {"0.0.0.0", "0.0.0.0"}, {"255.255.255.0", "255.255.255.0"},
		{"10.1.2.3", `(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+`}, {"10.1.2.0/24", `(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+/24`},
		{"169.254.0.0/16", `169\.254\.0\.0/16`}, {"192.168.0.0/16", `192\.168\.0\.0/16`}, {"fe80::/64", `fe80::/64`},
		{"enx001122334455", `enx00005e` + h + `{6}`}, {"rocep3s0f0", "rocep3s0f0"}, {"mlx5_0", "mlx5_0"}, {"rdma_en3", "rdma_en3"}, {"ibp1s0", "ibp1s0"},
		{"C02XK1ZZJGH5", `[A-Z]\d\d[A-Z]{2}\d[A-Z]{5}\d`}, {"serial number: ab12-34", `serial number: [a-z]{2}\d\d-\d\d`}, {"the serial console", "the serial console"},
		{"7e1b3a4c-0011-4d22-8e33-aabbccddeeff", h + `{8}-` + h + `{4}-4` + h + `{3}-8` + h + `{3}-` + h + `{12}`},
		{"/home/alice/notes/x.json", `/home/user-` + h + `{8}/path-` + h + `{6}/path-` + h + `{6}\.json`},
		{"/Users/alice/Library/Application", `/Users/user-` + h + `{8}/Library/Application`},
		{"/usr/lib/libibverbs.so.1", `/usr/lib/libibverbs\.so\.1`}, {"/dev/infiniband/uverbs0", "/dev/infiniband/uverbs0"},
		{"/etc/security/limits.d/90-acme.conf", `/etc/security/limits\.d/path-` + h + `{6}\.conf`},
		{"/nfs/acme/x", `/nfs/path-` + h + `{6}/path-` + h + `{6}`}, {`C:\Users\alice\x`, `C:\\Users\\user-` + h + `{8}\\path-` + h + `{6}`},
		{"alice@storage.acme.example", `user-` + h + `{8}@host-` + h + `{8}\.net-` + h + `{6}\.example`},
		{"build-7.acme.example", `host-` + h + `{8}\.net-` + h + `{6}\.example`}, {"mac-7.local", `host-` + h + `{8}\.local`},
		{"https://developer.apple.com/x", "https://developer.apple.com/x"}, {"https://wiki.acme.example/p/x", `https://host-` + h + `{8}\.net-` + h + `{6}\.example/path-.*`},
		{"SEND/RECV in 5 Gb/s at 11:59:40", "SEND/RECV in 5 Gb/s at 11:59:40"}, {"rdma_en3/gid.usable", "rdma_en3/gid.usable"},
		{"std::vector", "std::vector"}, {"20260102T030405-6f1d0c2b9a83", "20260102T030405-6f1d0c2b9a83"}, {"EOPNOTSUPP, 102", "EOPNOTSUPP, 102"},
		{"run `rdma_ctl enable`.", "run `rdma_ctl enable`."}, {"25F84", "25F84"}, {"Mac15,14", "Mac15,14"}, {"6.1.0-25-amd64", "6.1.0-25-amd64"},
		{"serial=000000000000", "serial=\\d{12}"}, {"took 1500000000000 ns", `took \d{13} ns`},
	} {
		got := NewRedactor("k").Text(tt.in)
		if !regexp.MustCompile("^" + tt.want + "$").MatchString(got) {
			t.Errorf("%s became %s, want %s", tt.in, got, tt.want)
		}
		if again := NewRedactor("k").Text(tt.in); again != got {
			t.Errorf("%s: %s and %s under one key", tt.in, got, again)
		}
		if regexp.MustCompile("^" + tt.want + "$").MatchString(tt.in) {
			continue
		}
		if a, b := NewRedactor("").Text(tt.in), NewRedactor("").Text(tt.in); a == got && b == got {
			t.Errorf("%s does not depend on the key", tt.in)
		}
	}
}

// A MAC address, the GUID and the link-local address that are made of it stay
// together.
func TestRedactKeepsRelations(t *testing.T) {
	r := NewRedactor("k")
	mac := r.Text("00:11:22:33:44:55")
	tail := strings.ReplaceAll(mac, ":", "")[6:]
	for in, want := range map[string]string{
		"0011:22ff:fe33:4455":      "0000:5eff:fe" + tail[:2] + ":" + tail[2:],
		"enx001122334455":          "enx00005e" + tail,
		"001122fffe334455":         "00005efffe" + tail,
		"00:11:22:33:44:55, again": mac + ", again",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	a, err := netip.ParseAddr(r.Text("fe80::211:22ff:fe33:4455"))
	if err != nil || !strings.HasSuffix(a.StringExpanded(), "0200:5eff:fe"+tail[:2]+":"+tail[2:]) {
		t.Errorf("link-local: %v, %v", a, err)
	}
	if got, want := r.Text("::ffff:10.1.2.3"), "::ffff:"+r.Text("10.1.2.3"); got != want {
		t.Errorf("mapped: %s, want %s", got, want)
	}
}

// Every address has its own stand-in, however many there are.
func TestRedactMixesNothingUp(t *testing.T) {
	r := NewRedactor("k")
	seen := map[string]string{}
	for i := range 3000 {
		for _, in := range []string{
			fmt.Sprintf("10.%d.%d.7", i/250, i%250), fmt.Sprintf("0e99:aa03:0016:%04x", i), fmt.Sprintf("2a02:1234::%x", i+1), fmt.Sprintf("host%d.acme.example", i),
		} {
			out := r.Text(in)
			if old, ok := seen[out]; ok && old != in {
				t.Fatalf("%s and %s both became %s", old, in, out)
			}
			seen[out] = in
		}
	}
}

func TestRedactNames(t *testing.T) {
	r := NewRedactor("k")
	r.Know(HostNames, "Alice's Mac", "node-a.acme.example", "ab", "linux")
	r.Know(UserNames, "alice", "root")
	r.Know(HomePaths, "/srv/people/alice")
	for _, tt := range []struct {
		in   string
		gone []string
		kept []string
	}{
		{"Nov 29 node-a kernel: rdma", []string{"node-a"}, []string{"kernel: rdma"}},
		{"NODE-A_2026.ips", []string{"NODE-A"}, []string{"_2026.ips"}},
		{"node-a.acme.example and node-a", []string{"node-a", "acme"}, nil},
		{"xnode-a1 is another word", nil, []string{"xnode-a1"}},
		{"shared by Alice's Mac", []string{"Alice"}, []string{"shared by"}},
		{"alice ran it; root did not", []string{"alice"}, []string{"root did not"}},
		{"cannot open /srv/people/alice/ledger/e.jsonl", []string{"alice", "ledger", "people"}, []string{"cannot open /home/user-", ".jsonl"}},
		{"linux says about ab", nil, []string{"linux says about ab"}},
	} {
		got := r.Text(tt.in)
		for _, g := range tt.gone {
			if strings.Contains(strings.ToLower(got), strings.ToLower(g)) {
				t.Errorf("%q became %q: %s is left", tt.in, got, g)
			}
		}
		for _, k := range tt.kept {
			if !strings.Contains(got, k) {
				t.Errorf("%q became %q: %s is gone", tt.in, got, k)
			}
		}
	}
	if a, b := r.Text("node-a"), r.Text("node-a.acme.example"); !strings.HasPrefix(b, a+".") {
		t.Errorf("short and full name: %s and %s", a, b)
	}
}

// planter fills every string of a value with secrets that are found again.
type planter struct {
	n       int
	secrets []string
}

// plant makes a text with one secret of each kind, all different.
func (p *planter) plant() string {
	p.n++
	secrets := []string{
		fmt.Sprintf("10.77.%d.%d", p.n/200, p.n%200+1), fmt.Sprintf("2a02:77aa:%x::%x", p.n, p.n), fmt.Sprintf("0e99:77aa:0016:%04x", p.n),
		fmt.Sprintf("00:77:aa:33:%02x:%02x", p.n/256, p.n%256), fmt.Sprintf("enx0077aa44%04x", p.n), fmt.Sprintf("alice%04dq", p.n),
		fmt.Sprintf("C02X%04dJGH5", p.n), fmt.Sprintf("srv%04dq", p.n), fmt.Sprintf("7e1b%04x-0011-4d22-8e33-aabbccddeeff", p.n),
		fmt.Sprintf("secret%04dq", p.n), fmt.Sprintf("zorro%04dq", p.n),
	}
	p.secrets = append(p.secrets, secrets...)
	s := secrets
	return fmt.Sprintf("%s [%s] %s (%s) %s /home/%s/a S/N %s, %s.acme.example, %s /nfs/%s/x me@%s.acme.example", s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10])
}

// fill plants into everything below v. Times, levels and other closed types with
// a text of their own are strings too.
func (p *planter) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(p.plant())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		p.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		p.fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		p.fill(key)
		p.fill(val)
		v.SetMapIndex(key, val)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{p.plant(): []any{p.plant(), map[string]any{"x": p.plant()}}}))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(ago(time.Hour)))
			return
		}
		if v.Type() == reflect.TypeFor[probe.Return]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() { // no document has the others
				p.fill(f)
			}
		}
	}
}

func plantedDocument(t *testing.T) (*probe.Document, []string) {
	t.Helper()
	p := &planter{}
	d := &probe.Document{}
	p.fill(reflect.ValueOf(d).Elem())
	d.Observations[0].Device, d.Observations[0].Host = d.Devices[0].Name, d.Devices[0].Host
	d.Observations = append(d.Observations, d.Observations[0])
	d.Observations[1].Value = p.plant()
	d.Run.Command = append(d.Run.Command, "--peer", "quux8.lab", "--peer=quux9", "--redact-key=hunter2", "--redact-key", "hunter3", "./quux7/x.json", "--require", "queue_pair_rc")
	p.secrets = append(p.secrets, "quux", "hunter", "acme")
	d.Host.Env = map[string]string{"USER": "zelda", "HOME": "/odd/zelda", "HOSTNAME": "zeldabox", "LD_LIBRARY_PATH": "/home/zelda/lib:/odd/zelda/lib", "RDMA": p.plant()}
	d.Hosts[0].Env = d.Host.Env
	d.Notes = append(d.Notes, "zelda ran it on zeldabox", "Zelda's files are in /odd/zelda/lib")
	p.secrets = append(p.secrets, "zelda")
	if p.n < 250 {
		t.Fatalf("only %d texts are planted", p.n)
	}
	return d, p.secrets
}

func checkGone(t *testing.T, what string, out []byte, secrets []string) {
	t.Helper()
	low := bytes.ToLower(out)
	left := 0
	for _, s := range secrets {
		if i := bytes.Index(low, bytes.ToLower([]byte(s))); i >= 0 {
			if left++; left < 8 {
				t.Errorf("%s has %q: ...%s...", what, s, out[max(0, i-60):min(len(out), i+60)])
			}
		}
	}
}

func TestRedactReachesEveryField(t *testing.T) {
	d, secrets := plantedDocument(t)
	one := *d
	one.Hosts = nil // renderers show one or the other
	for name, doc := range map[string]*probe.Document{"hosts": d, "host": &one} {
		before, _ := json.Marshal(doc)
		red, err := NewRedactor("k").Document(doc)
		if err != nil {
			t.Fatal(err)
		}
		if after, _ := json.Marshal(doc); !bytes.Equal(before, after) {
			t.Error("the original was changed")
		}
		if !red.Redacted {
			t.Error("the document does not say that it is redacted")
		}
		for _, f := range Formats {
			commands := []string{"probe"}
			if f.Name == "table" {
				commands = []string{"probe", "devices", "doctor"}
			}
			for _, command := range commands {
				var b bytes.Buffer
				if err := f.Render(&b, red, Options{Now: clock, Command: command}); err != nil {
					t.Fatal(err)
				}
				checkGone(t, name+" as "+f.Name+" of "+command, b.Bytes(), secrets)
			}
		}
		diff := Compare(red.Tool, "a", red, "b", &probe.Document{})
		for _, f := range Formats {
			if f.Diff == nil {
				continue
			}
			var b bytes.Buffer
			if err := f.Diff(&b, diff, Options{Now: clock}); err != nil {
				t.Fatal(err)
			}
			checkGone(t, name+" in a diff as "+f.Name, b.Bytes(), secrets)
		}
	}
}

// Without redaction the planted texts are there: the test above looks for what
// can be found.
func TestPlantedSecretsAreThere(t *testing.T) {
	d, secrets := plantedDocument(t)
	var b bytes.Buffer
	if err := renderJSON(&b, d, Options{}); err != nil {
		t.Fatal(err)
	}
	low, there := bytes.ToLower(b.Bytes()), 0
	for _, s := range secrets {
		if bytes.Contains(low, []byte(strings.ToLower(s))) {
			there++
		}
	}
	if there*100 < len(secrets)*95 { // a few fields are set again after they were planted
		t.Errorf("%d of %d can be found", there, len(secrets))
	}
}

// A redacted document is the same document: all that is not about a machine's
// owner is left as it was, and it fits the schema's closed lists.
func TestRedactLeavesTheEvidence(t *testing.T) {
	n := 0
	for _, s := range samples {
		if strings.HasPrefix(s.name, "hostile") {
			continue
		}
		d := s.doc()
		red, err := NewRedactor("k").Document(d)
		if err != nil {
			t.Fatal(err)
		}
		if len(red.Devices) != len(d.Devices) || len(red.Observations) != len(d.Observations) || len(red.Findings) != len(d.Findings) {
			t.Fatalf("%s lost something", s.name)
		}
		for i, o := range d.Observations {
			p := red.Observations[i]
			if o.Device != p.Device || o.ID != p.ID || o.Level != p.Level || o.Reason != p.Reason || o.Port != p.Port || o.Call != p.Call || o.Run != p.Run {
				t.Errorf("%s: row %d was %+v and is %+v", s.name, i, o, p)
			}
			n++
		}
		for i, f := range d.Findings {
			if g := red.Findings[i]; g.Code != f.Code || g.Severity != f.Severity || g.Scope != f.Scope {
				t.Errorf("%s: finding was %+v and is %+v", s.name, f, g)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d rows were looked at", n)
	}
}

// Two hosts that are redacted apart with one key can be merged.
func TestRedactAcrossHosts(t *testing.T) {
	make := func(seen string) *probe.Document {
		d := base("probe")
		d.Host = &hostfacts.Host{Name: "node-a", RDMAProcesses: []hostfacts.Process{{PID: 1, Command: seen}}}
		d.Devices = []probe.Device{{Name: "mlx5_0", NodeGUID: "0e99:aa03:0016:054c", Ports: []probe.Port{}}}
		return d
	}
	a, err := NewRedactor("k").Document(make("x"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewRedactor("k").Document(make("10.0.0.9 /home/bob node-a"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Host.Name != b.Host.Name || a.Devices[0].NodeGUID != b.Devices[0].NodeGUID || a.Host.Name == "node-a" {
		t.Errorf("%s and %s, %s and %s", a.Host.Name, b.Host.Name, a.Devices[0].NodeGUID, b.Devices[0].NodeGUID)
	}
	c, _ := NewRedactor("other").Document(make("x"))
	if c.Host.Name == a.Host.Name {
		t.Error("another key gives the same name")
	}
}

func FuzzRedactText(f *testing.F) {
	for _, s := range []string{evil, "fe80::1%en0/64", "::", "a@b@c", "/home//x", "serial: 1", "0011.2233.4455.66", "::ffff:1.2.3.4.5", "host-1.local.", `C:\Users\`} {
		f.Add(s)
	}
	r := NewRedactor("k")
	r.Know(HostNames, "node-a")
	f.Fuzz(func(t *testing.T, s string) {
		out := r.Text("10.9.8.7 " + s + " 00:11:22:33:44:55")
		if strings.Contains(out, "10.9.8.7 ") || strings.HasSuffix(out, " 00:11:22:33:44:55") {
			t.Errorf("%q became %q", s, out)
		}
		if out != r.Text("10.9.8.7 "+s+" 00:11:22:33:44:55") {
			t.Errorf("%q has two stand-ins", s)
		}
	})
}

// What is hidden does not depend on where in a long text it stands, nor on what
// stands before it: words without an end, in which a token seems to begin at every
// letter, among it.
func TestRedactLongTexts(t *testing.T) {
	r := NewRedactor("key")
	words := []string{"word ", "aa-", "é ", "10.0.0.1.", "serial", "fe80::"}
	if testing.Short() { // under the race detector each takes ten times as long
		words = words[:2]
	}
	for _, secret := range []string{"203.0.113.77", "2001:db8::5300:4d", "00:00:5e:00:53:4d", "/home/planted/notes"} {
		for _, word := range words {
			for n := range 8 {
				text := strings.Repeat(word, (1000+n*4)/len(word)) + " " + secret + " and more"
				if got := r.Text(text); strings.Contains(got, secret) {
					t.Fatalf("%s after %d bytes of %q: %q", secret, strings.Index(text, secret), word, got)
				}
			}
			long := strings.Repeat(word, 6_000/len(word)) + " " + secret
			if got := r.Text(long); strings.Contains(got, secret) {
				t.Errorf("%s after 6 kB of %q", secret, word)
			}
		}
	}
}
