//go:build (darwin || linux) && (amd64 || arm64)

package sim

// request is what a call is about, as far as rules can ask. absent stands for
// what does not apply.
type request struct {
	qpType, to, sgidIndex, pathMTU, isGlobal int32
	inline, size, outstanding                int64
	memory, opcode                           int32
	nullPD                                   bool
}

const absent = -1

func newRequest() request {
	return request{
		qpType: absent, to: absent, sgidIndex: absent, pathMTU: absent, isGlobal: absent,
		inline: absent, size: absent, outstanding: absent, memory: absent, opcode: absent,
	}
}

// fits compares everything but After, which needs a counter.
func (w *when) fits(r request) bool {
	return same(w.QPType, r.qpType) && same(w.To, r.to) && same(w.SGIDIndex, r.sgidIndex) && same(w.PathMTU, r.pathMTU) &&
		same(w.IsGlobal, r.isGlobal) && same(w.Memory, r.memory) && same(w.Opcode, r.opcode) &&
		(w.MaxInlineData == nil || *w.MaxInlineData == r.inline) &&
		(w.PD == nil || r.nullPD) &&
		over(w.SizeOver, r.size) && over(w.OutstandingOver, r.outstanding)
}

func same[T ~int32](want *T, have int32) bool { return want == nil || int32(*want) == have }

func over(limit *int64, have int64) bool { return limit == nil || have > *limit }

// activeRule is a rule with the counters of one provider.
type activeRule struct {
	*rule
	seen     int64 // calls, or work requests, that the keys fit
	messages int64 // completions that the keys fit
	lossy    int64 // messages that lose_every counted
	repeats  int64 // and repeat_every
	wrongs   int64 // and wrong_every
}

// pick finds the first rule that fits any of the requests, and counts.
func pick(rules []*activeRule, counter func(*activeRule) *int64, requests ...request) *activeRule {
	for _, r := range rules {
		fits := false
		for _, q := range requests {
			fits = fits || r.When.fits(q)
		}
		if !fits {
			continue
		}
		n := counter(r)
		*n++
		if r.When.After == nil || *n > *r.When.After {
			return r
		}
	}
	return nil
}

func byCall(r *activeRule) *int64    { return &r.seen }
func byMessage(r *activeRule) *int64 { return &r.messages }
