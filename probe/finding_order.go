package probe

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// precedence is one row of the second table: one cause, one finding. Where a
// winner and a loser hold of the same thing, the loser is dropped.
type precedence struct {
	winners []string
	losers  []string
}

// anyCause stands for every error that can be a cause.
const anyCause = "*"

var precedences = []precedence{
	{winners: []string{"thunderbolt_generation_unsupported"}, losers: []string{"rdma_disabled", "link_speed_below_tb5", "peer_not_advertising_rdma"}},
	{winners: []string{"link_speed_below_tb5"}, losers: []string{"peer_not_advertising_rdma"}},
	{winners: []string{"os_too_old", "running_translated"}, losers: []string{"verbs_library_missing", "verbs_library_mismatch"}},
	{winners: []string{"address_on_bridge_not_port"}, losers: []string{"port_in_thunderbolt_bridge"}},
	{winners: []string{"gid_no_ipv4_mapped"}, losers: []string{"gid_table_empty"}},
	{winners: []string{"ib_port_down_no_sm", "ib_port_init_no_sm", "port_unstable"}, losers: []string{"port_down"}},
	{winners: []string{"uverbs_permission_denied"}, losers: []string{"uverbs_node_missing"}},
	{
		winners: []string{"uverbs_permission_denied", "uverbs_node_missing", "thunderbolt_generation_unsupported", "rdma_disabled"},
		losers:  []string{"device_open_failed", "port_query_failed"},
	},
	{
		winners: []string{"thunderbolt_generation_unsupported", "rdma_disabled", "pd_pool_exhausted"},
		losers:  []string{"object_create_failed"},
	},
	{winners: []string{"child_unkillable"}, losers: []string{"provider_wedged", "pingpong_timeout"}},
	{winners: []string{"gid_type_mismatch"}, losers: []string{"pingpong_timeout"}},
	{
		winners: []string{"pd_pool_exhausted", "qp_pool_exhausted", "mr_pool_exhausted"},
		losers:  []string{"pd_alloc_failed", "pd_alloc_failed_port_active", "mr_register_enomem", "memlock_too_low", "provider_degraded"},
	},
	// What a library writes when it finds no provider, or dies, is told by the
	// finding itself.
	{
		winners: []string{
			"provider_library_missing", "provider_abi_mismatch", "device_without_provider", "verbs_library_mismatch",
			"verbs_library_missing", "provider_crashed",
		},
		losers: []string{"provider_stderr"},
	},
	{winners: []string{anyCause}, losers: []string{"no_rdma_device"}},
}

// ruleHit is a hit with its rule.
type ruleHit struct {
	rule *findingRule
	findingHit
}

func newRuleHit(r *findingRule, h findingHit) ruleHit {
	h.scope = cmp.Or(h.scope, "host")
	if h.subject == "" && h.scope != "host" {
		h.subject = h.scope
	}
	h.severity = cmp.Or(h.severity, r.severity)
	if h.check == "" && h.scope == "host" {
		h.check = strings.ReplaceAll(r.check, " -d DEVICE", "")
	}
	if h.check == "" {
		h.check = strings.NewReplacer("DEVICE", shellName(h.scope, "DEVICE"), "IFACE", shellName(h.scope, "IFACE")).Replace(r.check)
	}
	return ruleHit{rule: r, findingHit: h}
}

// withoutEffects drops what has its cause among the others.
func withoutEffects(all []ruleHit) []ruleHit {
	c := causes{}
	for _, h := range all {
		c.add(h.rule.code, h)
		if h.severity == SeverityError && h.rule.code != "required_capability_not_confirmed" { // which explains nothing
			c.add(anyCause, h)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), c.replace)
}

// causes are the hits that may be one, by their code, or anyCause, and then by their
// subject: "" is the host as a whole.
type causes map[string]map[string][]ruleHit

func (c causes) add(code string, h ruleHit) {
	if c[code] == nil {
		c[code] = map[string][]ruleHit{}
	}
	c[code][h.subject] = append(c[code][h.subject], h)
}

// replace tells whether one of the causes is named before l in the table of
// precedences and is about the same thing: the same device or interface, or the host
// as a whole.
func (c causes) replace(l ruleHit) bool {
	other := func(w ruleHit) bool { return w.rule.code != l.rule.code }
	for _, p := range precedences {
		if !slices.Contains(p.losers, l.rule.code) {
			continue
		}
		for _, winner := range p.winners {
			of := c[winner]
			if winner != anyCause {
				if l.subject == "" && len(of) > 0 || len(of[""])+len(of[l.subject]) > 0 {
					return true
				}
				continue
			}
			for subject, hits := range of {
				if (subject == "" || l.subject == "" || subject == l.subject) && slices.ContainsFunc(hits, other) {
					return true
				}
			}
		}
	}
	return false
}

// mergeHits makes one finding of all hits of a code in one scope.
func mergeHits(hits []ruleHit) []Finding {
	merged, places := []Finding{}, map[codeScope]int{}
	for _, h := range hits {
		f := h.finding()
		i, there := places[f.place()]
		if !there {
			places[f.place()] = len(merged)
			merged = append(merged, f)
			continue
		}
		g := &merged[i]
		if severityOrder(f.Severity) < severityOrder(g.Severity) {
			g.Severity = f.Severity
		}
		if !strings.Contains(g.Message, f.Message) {
			g.Message += "; " + f.Message
		}
		if g.Ports != nil && f.Ports != nil {
			g.Ports = slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.Ports, f.Ports))))
		} else {
			g.Ports = nil
		}
		g.Observations = union(g.Observations, f.Observations)
		g.Facts = union(g.Facts, f.Facts)
	}
	return merged
}

// codeScope is what a document has one finding of.
type codeScope struct{ code, scope string }

func (f *Finding) place() codeScope { return codeScope{f.Code, f.Scope} }

func (h ruleHit) finding() Finding {
	return Finding{
		Code: h.rule.code, Severity: h.severity, Scope: h.scope, Ports: h.ports, Message: h.message, Remedy: h.remedy, Undo: h.undo, Check: h.check,
		Observations: union(nil, h.seen), Facts: union(nil, h.facts),
	}
}

// sortFindings puts the worst first, then by code, then by scope.
func sortFindings(f []Finding) []Finding {
	sort.SliceStable(f, func(i, j int) bool {
		a, b := &f[i], &f[j]
		return cmp.Or(
			cmp.Compare(severityOrder(a.Severity), severityOrder(b.Severity)),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Message, b.Message)) < 0
	})
	return f
}

func severityOrder(s string) int {
	return slices.Index([]string{SeverityError, SeverityWarning, SeverityInfo}, s)
}

// union appends what is not there yet.
func union(a, b []string) []string {
	there := make(map[string]bool, len(a)+len(b))
	for _, s := range a {
		there[s] = true
	}
	for _, s := range b {
		if !there[s] {
			there[s] = true
			a = append(a, s)
		}
	}
	return a
}
