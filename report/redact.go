package report

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rdmaprobe/probe"
)

// Redactor replaces what tells whose machine a document is about by stand-ins:
// GUIDs, GIDs, MAC and network addresses, names of hosts and users, paths and
// serial numbers. A stand-in keeps the shape and the class of what it stands for,
// so that a finding about it still makes sense, and one original has one
// stand-in: within a Redactor always, and in all that have the same key. It does
// not depend on what else a document holds, but for IPv4 addresses; see ipv4.
//
// Names of devices and interfaces stay, as far as they hold none of the above.
// So do versions, builds, models and times. A word of free text that looks like
// none of the above and is no name that the document or Know gives is not
// recognised: who shares a report should still look at it.
//
// A Redactor is not safe for concurrent use.
type Redactor struct {
	key   []byte
	names map[string]string // lower case: stand-in
	finds *regexp.Regexp    // of all names; nil when they have changed
	homes []string

	tokens  []token
	pattern *regexp.Regexp
	raw     *rawTokens // once Raw was used

	noted map[string]map[string]bool // by kind, while a text is read for names

	v4    map[netip.Addr]netip.Addr
	taken map[netip.Addr]bool // IPv4 stand-ins in use
}

// NewRedactor uses a key of the caller's, or a random one when it is empty.
func NewRedactor(key string) *Redactor {
	r := &Redactor{key: []byte(key), names: map[string]string{}, v4: map[netip.Addr]netip.Addr{}, taken: map[netip.Addr]bool{}}
	r.tokens = tokenList()
	r.pattern = patternOf(r.tokens)
	if key == "" {
		r.key = make([]byte, 32)
		rand.Read(r.key) // never fails
	}
	return r
}

// hash is the secret number behind a stand-in.
func (r *Redactor) hash(class, original string) []byte {
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(class + "\x00" + original))
	return h.Sum(nil)
}

// word is a stand-in of letters and digits behind a prefix.
func (r *Redactor) word(prefix, original string, digits int) string {
	return prefix + fmt.Sprintf("%x", r.hash(prefix, original))[:digits]
}

// Document is the document with stand-ins. The original is not changed. On an
// error there is no document: nothing is ever let through half done.
func (r *Redactor) Document(d *probe.Document) (*probe.Document, error) {
	v, err := r.Value(d)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("redact document: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var out probe.Document
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("redact document: %w", err)
	}
	out.Redacted = true
	return &out, nil
}

// Value is anything that encodes as JSON, decoded again with stand-ins.
func (r *Redactor) Value(v any) (any, error) {
	tree, err := treeOf(v)
	if err != nil {
		return nil, err
	}
	if err := r.LearnValue(v); err != nil {
		return nil, err
	}
	return r.walk(tree, place{}), nil
}

// Learn takes note of the names that a document gives, for the texts of others.
func (r *Redactor) Learn(d *probe.Document) error {
	if d.Redacted {
		return nil
	}
	return r.LearnValue(d)
}

// LearnValue is Learn for what else is made of the fields of a document.
func (r *Redactor) LearnValue(v any) error {
	tree, err := treeOf(v)
	if err == nil {
		r.learn(tree, "", "")
		r.learnFound(func() { r.walk(tree, place{}) })
	}
	return err
}

// treeOf is a value as JSON has it.
func treeOf(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	return tree, nil
}

// place is where in a document a value stands.
type place struct {
	key, parent string
	data        bool // below params or data: keys are no field names
}

// freeForm are the fields whose contents have no fixed form.
var freeForm = []string{"params", "data", "value"}

// openMaps are the objects whose keys are names, not fields.
var openMaps = []string{
	"symbols", "params", "data", "hardware_ports", "bridges", "interfaces", "routes",
	"dev_infiniband", "uverbs_access", "uverbs_of_device", "modules_available", "abi", "kernel_abi",
	"driver", "netdev_of_device", "rdma_link", "sysfs", "env", "ioclasscount", "value",
}

func (r *Redactor) walk(v any, at place) any {
	switch v := v.(type) {
	case string:
		return r.field(v, at)
	case []any:
		if at.key == "command" {
			return r.command(v)
		}
		for i := range v {
			v[i] = r.walk(v[i], at)
		}
	case map[string]any:
		open := at.data || slices.Contains(openMaps, at.key) && at.parent != at.key
		out := make(map[string]any, len(v))
		for k, e := range v {
			name, below := k, place{key: k, parent: at.key, data: at.data || slices.Contains(freeForm, at.key)}
			if open && !(below.data && ownKey().MatchString(k)) {
				name = r.Text(k)
			}
			if open {
				if !below.data && at.key != "env" {
					below.key, below.parent = at.key, at.key // a name says nothing about its value
				}
			}
			out[name] = r.walk(e, below)
		}
		return out
	}
	return v
}

// field replaces one string by what its place says about it.
func (r *Redactor) field(s string, at place) string {
	switch {
	case s == "":
		return s
	case at.key == "name" && (at.parent == "host" || at.parent == "hosts"), at.key == "host", at.key == "hosts", at.key == "peer":
		return r.host(s) // also of a machine that is called by one of our words
	case vocabulary()[s]:
		return s
	case at.key == "boot_id":
		return r.boot(s)
	case strings.HasSuffix(at.key, "_at") || at.key == "at" || at.key == "before":
		if _, err := time.Parse(time.RFC3339, s); err == nil {
			return s
		}
	case at.key == "max_mr_size", at.key == "page_size_cap":
		if strings.Trim(s, "0123456789") == "" {
			return s
		}
	case at.key == "file", at.key == "path", at.key == "asked", at.key == "profile":
		return r.pathField(s)
	case at.parent == "env":
		return r.env(at.key, s)
	case slices.Contains(versionKeys, at.key) && versionText().MatchString(s):
		return s
	}
	return r.Text(s)
}

// versionKeys hold what identifies a build, which many machines have.
var versionKeys = []string{"version", "commit", "go", "id"}

var versionText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(v?\d+\.\d+(\.\d+)?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.]+)?|\(devel\)|go\d+\.\d+(\.\d+)?|[0-9a-f]{40}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$`)
})
