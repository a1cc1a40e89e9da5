package probe

import (
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// Term is a word of the documents that can be asked about: a level, a reason, an
// evidence id, a capability, or how a child ended.
type Term struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`            // level, reason, evidence, capability or outcome
	Class   string `json:"class,omitempty"` // evidence: read, create, transition or data
	Meaning string `json:"meaning"`
}

var levelTexts = []Term{
	{Name: string(rdma.CapabilityConfirmed), Meaning: "the call succeeded; for a data path, the receiver checked the bytes. A completion at the sender alone confirms nothing"},
	{Name: string(rdma.CapabilityRejected), Meaning: "the provider itself said that it does not support it (macOS: ENOTSUP, EOPNOTSUPP; Linux: EOPNOTSUPP, EPROTONOSUPPORT, ENOSYS). No other failure is a rejection"},
	{Name: string(rdma.CapabilityObservedZero), Meaning: "the call succeeded, and the value or count was zero. It is a value that was seen, not a refusal of anything"},
	{Name: string(rdma.CapabilityUnknown), Meaning: "everything else, always with a reason. Unknown is never no"},
}

var reasonTexts = map[Reason]string{
	NotTried:        "nobody asked for it",
	Precondition:    "what it stands on failed or is missing, so it was not tried",
	Timeout:         "the deadline came first",
	Crash:           "the child died inside a provider call",
	Stuck:           "the child could not be killed, or was left running in a provider call",
	Unstable:        "successive answers differ, so none of them is the answer",
	Interrupted:     "the run ended first, somebody else killed the child, or an earlier run began it and recorded no outcome",
	Guarded:         "the guard refused because of an earlier event or of somebody else on the device",
	Exhausted:       "a pool is used up",
	Permission:      "this user may not",
	Invalid:         "the provider refused the arguments, or gave an impossible answer",
	Unreachable:     "the peer or the side channel to it does not answer",
	NoCompletion:    "work was posted and nothing came back",
	PayloadMismatch: "the receiver does not have the bytes that were sent",
	Unproven:        "the end that received did not show that it has what was sent",
	SymbolMissing:   "the library has no such function: what needs it is unknown, which says nothing about the machine; look for a newer library, or at what other probes show",
	LibraryMissing:  "there is no verbs library",
	ProviderError:   "the provider reported another failure; its number is in the row",
}

var outcomeTexts = []Term{
	{Name: "completed", Meaning: "the child sent its last message"},
	{Name: "crashed", Meaning: "the child ended without it, and not by our hand"},
	{Name: "timed_out", Meaning: "the child was killed: at its deadline, or, where the reason is interrupted, because the run ended"},
	{Name: "stuck", Meaning: "the child did not die of SIGKILL"},
	{Name: "left", Meaning: "the child sat in a provider call of a Thunderbolt device and was left running, since killing it there leaks what it holds"},
}

// Terms lists every level, reason, outcome, evidence id and capability with its
// meaning.
func Terms() []Term {
	var all []Term
	for _, t := range levelTexts {
		t.Kind = "level"
		all = append(all, t)
	}
	for _, r := range Reasons {
		all = append(all, Term{Name: string(r), Kind: "reason", Meaning: reasonTexts[r]})
	}
	for _, t := range outcomeTexts {
		// "stuck" is a reason too; that meaning covers both.
		if !slices.ContainsFunc(all, func(o Term) bool { return o.Name == t.Name }) {
			t.Kind = "outcome"
			all = append(all, t)
		}
	}
	for _, e := range EvidenceIDs {
		all = append(all, Term{Name: e.ID, Kind: "evidence", Class: e.Class.String(), Meaning: e.Seen})
	}
	for _, c := range capabilityIDs {
		all = append(all, Term{Name: c.key, Kind: "capability", Meaning: capabilityMeaning(c.ids)})
	}
	return all
}

// capabilityMeaning says which evidence is behind a capability.
func capabilityMeaning(ids []string) string {
	s := "what the newest evidence says of " + strings.Join(ids, " or ")
	if len(ids) > 1 {
		s += ", the best level of them"
	}
	for _, id := range ids {
		s += "; " + id + ": " + evidence(id).Seen
	}
	return s
}

// ExplainTerm is the meaning of a word; false when it is none of Terms.
func ExplainTerm(name string) (Term, bool) {
	all := Terms()
	i := slices.IndexFunc(all, func(t Term) bool { return t.Name == name })
	if i < 0 {
		return Term{}, false
	}
	return all[i], true
}
