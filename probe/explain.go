package probe

// Explanation is the page of one finding code, in plain words, for somebody who
// has just met it.
type Explanation struct {
	Code      string   `json:"code"`
	Severity  string   `json:"severity"` // the usual one
	Scope     string   `json:"scope"`    // what a finding of it is about: host, device or interface
	Meaning   string   `json:"meaning"`
	Concluded string   `json:"concluded"` // from which observations and facts
	Do        string   `json:"do"`
	Verify    string   `json:"verify"`   // how to see that it is cured
	Replaces  []string `json:"replaces"` // codes of its effects, which are not raised beside it
	Sources   []string `json:"sources"`  // public reports and documents
}

// findingPage is the part of an Explanation that the rule does not have.
type findingPage struct {
	code                           string
	meaning, concluded, do, verify string
	sources                        []string
}

// findingPages has a page for every code of findingRules and for no other. They
// are slices, not maps, here and in other tables of texts: a map is made by code,
// at every start of every child.
var findingPages = [][]findingPage{macPages, macNetworkPages, linuxPages, devicePages, runPages, providerPages}

func pageOf(code string) findingPage {
	for _, pages := range findingPages {
		for i := range pages {
			if pages[i].code == code {
				return pages[i]
			}
		}
	}
	return findingPage{}
}

// ExplainFinding is the page of a code; false when there is no such code.
func ExplainFinding(code string) (Explanation, bool) {
	r := ruleOf(code)
	if r == nil {
		return Explanation{}, false
	}
	p := pageOf(code)
	e := Explanation{
		Code: code, Severity: r.severity, Scope: r.scope,
		Meaning: p.meaning, Concluded: p.concluded, Do: p.do, Verify: p.verify,
		Replaces: []string{}, Sources: append([]string{}, p.sources...),
	}
	for _, row := range precedences {
		for _, w := range row.winners {
			if w == code {
				e.Replaces = union(e.Replaces, row.losers)
			}
		}
	}
	return e, true
}
