package sim

import (
	"errors"
	"slices"
	"sort"
	"strings"

	"rdmaprobe/rdma"
)

// Bounds of a profile.
const (
	maxDevices  = 64
	maxPorts    = 16  // a device
	maxGIDs     = 256 // a port
	maxGIDIndex = 1023
	maxStates   = 64
	maxRules    = 64 // a verb of a device
	maxLines    = 64 // of the library's stderr
	maxText     = 64 << 10
	maxRepeat   = 1 << 20
	maxOutput   = 1 << 30 // text times repeat
)

// isID tells whether an id is 1 to 64 letters, digits, dots, underscores and hyphens, and
// begins with a letter or a digit. Every simulated child asks, so no regular
// expression is compiled for it.
func isID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return 0 < len(s) && len(s) <= 64
}

// Parse reads a profile. host, when it is not nil, is a pointer that the
// profile's host facts are decoded into. Whatever is wrong is a *ParseError that
// names the line and the key and says what is allowed: unknown keys anywhere
// (also in host), wrong types, unknown names of states, verbs or errno values,
// and sizes beyond the bounds. It tells of the first; Check has all.
func Parse(data []byte, host any) (*Profile, error) {
	p, err := parse(data, host)
	if wrong := flat(err); len(wrong) > 0 {
		return nil, wrong[0]
	}
	return p, nil
}

// Check lists everything that is wrong with a profile, in the order of its lines,
// and nothing when Parse takes it. Where keys or types are wrong, what only the
// values could tell is not looked for.
func Check(data []byte, host any) []error {
	_, err := parse(data, host)
	wrong := flat(err)
	sort.SliceStable(wrong, func(i, j int) bool { return lineOf(wrong[i]) < lineOf(wrong[j]) })
	return wrong
}

func lineOf(err error) int {
	var pe *ParseError
	if errors.As(err, &pe) {
		return pe.Line
	}
	return 0
}

// flat are the errors that were joined into one.
func flat(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flat(e)...)
	}
	return all
}

// parse is Parse with all errors joined.
func parse(data []byte, host any) (*Profile, error) {
	root, err := parseTree(data)
	if err != nil {
		return nil, err
	}
	p := &Profile{}
	if err := decodeStrict(root, p); err != nil {
		return nil, errors.Join(err, p.decodeHost(root, host))
	}
	err = errors.Join(p.checkHead(root), p.decodeHost(root, host))
	return p, errors.Join(err, p.checkLibrary(root), p.checkPeer(root), p.checkDevices(root.at("devices")))
}

func (p *Profile) checkHead(root *node) error {
	switch {
	case root.member("profile") == nil:
		return root.errorf("the key profile is missing: it is the version of the format, 1")
	case p.Version != 1:
		return root.at("profile").errorf("version %d of the format is not known; allowed: 1", p.Version)
	case !isID(p.ID):
		return root.at("id").errorf("id must be 1 to 64 letters, digits, dots, hyphens or underscores, and not begin with a sign")
	case p.BootID != "" && !isID(p.BootID):
		return root.at("boot_id").errorf("boot_id must be 1 to 64 letters, digits, dots, hyphens or underscores")
	}
	return nil
}

// decodeHost finds the platform, then fills the caller's host facts.
func (p *Profile) decodeHost(root *node, host any) error {
	p.platform = rdma.PlatformLinux
	n := root.member("host")
	if n == nil {
		return nil
	}
	if n.kind != '{' {
		return n.errorf("must be an object, not %s", n.describe())
	}
	if os := n.member("os"); os != nil {
		switch string(os.raw) {
		case `"macos"`:
			p.platform = rdma.PlatformDarwin
		case `"linux"`:
		default:
			return os.errorf("unknown value %s; allowed: macos, linux", os.describe())
		}
	}
	if host == nil {
		return nil
	}
	return decodeStrict(n, host)
}

func (p *Profile) checkLibrary(root *node) error {
	n := root.at("library")
	symbols := map[string][]string{"missing_symbols": p.Library.MissingSymbols, "extra_symbols": p.Library.ExtraSymbols}
	for _, m := range n.fields() {
		for i, name := range symbols[m.key] {
			if _, ok := verbOf(name); !ok {
				return m.node.at(i).errorf("unknown verb; allowed: %s", strings.Join(verbNames(), ", "))
			}
		}
	}
	if len(p.Library.Stderr) > maxLines {
		return n.at("stderr").errorf("%d lines, at most %d are allowed", len(p.Library.Stderr), maxLines)
	}
	if p.DeviceList != nil && p.DeviceList.Errno != nil {
		number, err := p.errno(root.at("device_list", "errno"), *p.DeviceList.Errno)
		if err != nil {
			return err
		}
		p.DeviceList.number = int32(number)
	}
	if c := p.ControlChannel; c != nil {
		if c.ElapsedMS < 0 {
			return root.at("control_channel", "elapsed_ms").errorf("must not be negative")
		}
		var err error
		c.number, err = p.errno(root.at("control_channel", "errno"), c.Errno)
		return err
	}
	return nil
}

// errno resolves a name on the profile's platform; "" is 0.
func (p *Profile) errno(n *node, name string) (int, error) {
	if name == "" {
		return 0, nil
	}
	if number, ok := rdma.ErrnoNumberOn(p.platform, name); ok {
		return number, nil
	}
	if alias := errnoAliases[name]; alias != "" {
		if number, ok := rdma.ErrnoNumberOn(p.platform, alias); ok {
			return number, nil
		}
	}
	return 0, n.errorf("%s is no errno of %s; a name as EINVAL is wanted, or \"\" for none", n.describe(), p.platform)
}

// errnoAliases are second names, of systems where two share a number.
var errnoAliases = map[string]string{
	"ENOTSUP": "EOPNOTSUPP", "EOPNOTSUPP": "ENOTSUP", "EWOULDBLOCK": "EAGAIN", "EDEADLOCK": "EDEADLK",
}

func (p *Profile) checkPeer(root *node) error {
	if p.Peer == nil {
		return nil
	}
	n := root.at("peer")
	if k := p.Peer.RKey; k != nil && !k.fits(4) {
		return n.at("rkey").errorf("does not fit into 32 bits")
	}
	return checkGIDs(n.at("gids"), p.Peer.GIDs)
}

func checkGIDs(n *node, gids []GIDSlot) error {
	if len(gids) > maxGIDs {
		return n.errorf("%d entries, at most %d are allowed", len(gids), maxGIDs)
	}
	seen := map[int]bool{}
	for i, g := range gids {
		at := n.at(i)
		switch {
		case g.Index < 0 || g.Index > maxGIDIndex:
			return at.at("index").errorf("must be from 0 to %d", maxGIDIndex)
		case seen[g.Index]:
			return at.at("index").errorf("index %d stands here twice", g.Index)
		case at.member("gid") == nil:
			return at.errorf("the key gid is missing")
		}
		seen[g.Index] = true
	}
	return nil
}

func (p *Profile) checkDevices(n *node) error {
	if len(p.Devices) > maxDevices {
		return n.errorf("%d devices, at most %d are allowed", len(p.Devices), maxDevices)
	}
	seen := map[string]bool{}
	var wrong error
	for i := range p.Devices {
		d, at := &p.Devices[i], n.at(i)
		wrong = errors.Join(wrong, p.checkDevice(d, at, seen[d.Name]))
		seen[d.Name] = true
	}
	return wrong
}

// checkDevice looks at one device; again says that its name was there before.
func (p *Profile) checkDevice(d *Device, at *node, again bool) error {
	switch {
	case d.Name == "" || len(d.Name) > 63 || strings.ContainsRune(d.Name, 0):
		return at.at("name").errorf("a device needs a name of 1 to 63 bytes, without NUL")
	case again:
		return at.at("name").errorf("a second device of this name")
	case d.Transport == nil:
		return at.errorf("the key transport is missing; allowed: %s", transports.names())
	}
	return errors.Join(d.checkPorts(at.at("ports")), d.resolveAttr(at.member("attr")), p.checkCalls(at.member("calls"), d.Calls))
}

func (d *Device) checkPorts(n *node) error {
	if len(d.Ports) > maxPorts {
		return n.errorf("%d ports, at most %d are allowed", len(d.Ports), maxPorts)
	}
	seen := map[int]bool{}
	var wrong error
	for i := range d.Ports {
		q, at := &d.Ports[i], n.at(i)
		wrong = errors.Join(wrong, d.checkPort(q, at, seen[q.Num]))
		seen[q.Num] = true
	}
	return wrong
}

// checkPort looks at one port; again says that its number was there before.
func (d *Device) checkPort(q *Port, at *node, again bool) error {
	switch {
	case q.Num < 1 || q.Num > 255:
		return at.at("num").errorf("a port needs a number num from 1 to 255")
	case again:
		return at.at("num").errorf("port %d stands here twice", q.Num)
	case q.State == nil && len(q.States) == 0:
		return at.errorf("the key state is missing; allowed: %s", portStates.names())
	case len(q.States) > maxStates:
		return at.at("states").errorf("%d steps, at most %d are allowed", len(q.States), maxStates)
	}
	return errors.Join(checkGIDs(at.at("gids"), q.GIDs), q.resolveAttr(at.member("attr"), *d.Transport))
}

// override writes the fields of values into image, in the order of the file.
func (t fieldTable) override(n *node, image []byte, extra ...string) error {
	for _, m := range n.fields() {
		if slices.Contains(extra, m.key) {
			continue
		}
		v, err := t.value(m)
		if err != nil {
			return err
		}
		v.put(image)
	}
	return nil
}

// value decodes one member of an object of fields.
func (t fieldTable) value(m member) (fieldValue, error) {
	f, ok := t.find(m.key)
	if !ok {
		return fieldValue{}, &ParseError{Line: m.line, Key: m.node.path, Text: "unknown field; allowed: " + t.names()}
	}
	v, err := f.decode(m.node.raw)
	if err != nil {
		return v, m.node.errorf("%v", err)
	}
	return v, nil
}
