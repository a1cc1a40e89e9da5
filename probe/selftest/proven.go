package selftest

import "strings"

// subjects are what the checks are about, by the beginning of their names; the
// first that fits a name has it.
var subjects = []struct{ prefix, what string }{
	{"call.", "calls to C with their errno"},
	{"arena", "memory for regions"},
	{"layout.header", "struct layouts by the system's header"},
	{"constants.header", "constants by the system's header"},
	{"layout", "struct layouts"},
	{"library.", "loading of the verbs library"},
	{"child.", "containment of children"},
	{"ledger", "the evidence file"},
	{"lock", "locks"},
}

// needsDevice is what no check here can show.
const needsDevice = "only a device can prove: what its provider answers, supports and transfers"

// subjectOf is what a check is about; "" for a name that nothing fits.
func subjectOf(name string) string {
	for _, s := range subjects {
		if strings.HasPrefix(name, s.prefix) {
			return s.what
		}
	}
	return ""
}

// conclude says in one line what the checks have proven, what they have not, and what
// only a device can prove. A subject is proven when one of its checks passed and none
// failed.
func conclude(checks []Check) string {
	results := map[string]map[Result]bool{}
	for _, c := range checks {
		what := subjectOf(c.Name)
		if results[what] == nil {
			results[what] = map[Result]bool{}
		}
		results[what][c.Result] = true
	}
	by := map[Result][]string{}
	for _, s := range subjects {
		switch r := results[s.what]; {
		case r[Failed]:
			by[Failed] = append(by[Failed], s.what)
		case r[OK]:
			by[OK] = append(by[OK], s.what)
		case r[Skipped]:
			by[Skipped] = append(by[Skipped], s.what)
		}
	}
	var parts []string
	for _, p := range []struct {
		word   string
		result Result
	}{{"proven here", OK}, {"disproven", Failed}, {"not checked", Skipped}} {
		if list := by[p.result]; len(list) > 0 {
			parts = append(parts, p.word+": "+strings.Join(list, ", "))
		}
	}
	return strings.Join(append(parts, needsDevice), "; ")
}
