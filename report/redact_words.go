package report

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// vocabulary are the words of the document itself: a text that is one of them
// stays, and a name that is one is not looked for in texts.
var vocabulary = sync.OnceValue(func() map[string]bool {
	v := map[string]bool{"": true}
	for _, e := range probe.EvidenceIDs {
		v[e.ID] = true
	}
	for _, code := range probe.FindingCodes() {
		v[code] = true
	}
	for _, t := range probe.Terms() {
		v[t.Name] = true
	}
	for _, w := range strings.Fields(`host hosts error warning info native simulated macos linux amd64 arm64 enabled disabled missing lid gid
		nop down init armed active active_defer sleep polling training link_up recovery phy_test unspecified infiniband ethernet
		thunderbolt iwarp usnic usnic_udp none hca glob ib roce_v1 roce_v2 link_local ipv4_mapped global ca rnic darwin null non-null
		confirmed rejected observed_zero unknown completed crashed timed_out stuck left localhost rdmaprobe rdma supported unsupported
		port mr uc rc ud pingpong write events devices probe doctor report force kill allow_rtr Apple TN3205 Mac apple mac`) {
		v[w] = true
	}
	return v
})

// identifiers are what a document and the interface of verbs call things by: calls,
// errno names, fields. A user called max is in none of them.
var identifiers = sync.OnceValue(func() map[string]bool {
	v := map[string]bool{}
	for w := range vocabulary() {
		v[w] = true
	}
	for _, name := range rdma.Verbs() {
		v[name] = true
	}
	for _, p := range []rdma.Platform{rdma.PlatformLinux, rdma.PlatformDarwin} {
		for n := 1; n < maxErrno; n++ {
			v[rdma.ErrnoNameOn(p, n)] = true
		}
	}
	var tree any
	if json.Unmarshal(schemaJSON, &tree) == nil { // it is embedded, and tested
		fieldNames(tree, v)
	}
	return v
})

const maxErrno = 256

// fieldNames collects the names of fields that no word of a language has.
func fieldNames(schema any, into map[string]bool) {
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	for name := range properties {
		if strings.Contains(name, "_") {
			into[name] = true
		}
	}
	for _, below := range object {
		fieldNames(below, into)
	}
}

// ownKey is a key below params, data or value: a child of this program gives them,
// and names what it asked or saw.
var ownKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{1,11}(_[a-z]{1,11})*$`) })

// longestWord bounds how far is looked for the ends of an identifier.
const longestWord = 64

// inIdentifier tells how far the identifier goes in which s[start:end] lies, where
// it is a known one.
func inIdentifier(s string, start, end int) (int, bool) {
	first, last := max(0, start-longestWord), min(len(s), end+longestWord)
	for start > first && identifierByte(s[start-1]) {
		start--
	}
	for end < last && identifierByte(s[end]) {
		end++
	}
	word := strings.Trim(s[start:end], ".")
	return end, identifiers()[word]
}

func identifierByte(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
