package sim

import (
	"errors"
	"slices"
	"strings"
)

// checkCalls resolves the rules of one device.
func (p *Profile) checkCalls(n *node, calls map[string][]rule) error {
	var wrong error
	for _, m := range n.fields() {
		v, ok := verbOf(m.key)
		rules := calls[m.key]
		switch {
		case !ok:
			wrong = errors.Join(wrong, &ParseError{Line: m.line, Key: m.node.path, Text: "unknown verb; allowed: " + strings.Join(verbNames(), ", ")})
			continue
		case len(rules) > maxRules:
			wrong = errors.Join(wrong, m.node.errorf("%d rules, at most %d are allowed", len(rules), maxRules))
			continue
		}
		for i := range rules {
			wrong = errors.Join(wrong, p.checkRule(m.node.at(i), v, &rules[i]))
		}
	}
	return wrong
}

func (p *Profile) checkRule(n *node, v verb, r *rule) error {
	if err := checkWhen(n.at("when"), &r.When); err != nil {
		return err
	}
	if err := checkOutput(n, r); err != nil {
		return err
	}
	if err := checkPlace(n, v, r); err != nil {
		return err
	}
	if r.Errno != nil {
		number, err := p.errno(n.at("errno"), *r.Errno)
		if err != nil {
			return err
		}
		r.errno = int32(number)
	}
	for _, m := range n.member("set").fields() {
		value, err := verbRows[v].set.value(m)
		if err != nil {
			return err
		}
		r.set = append(r.set, value)
	}
	return nil
}

func checkWhen(n *node, w *when) error {
	switch {
	case w.PD != nil && *w.PD != "null":
		return n.at("pd").errorf("unknown value; allowed: null, as a text")
	case w.IsGlobal != nil && *w.IsGlobal != 0 && *w.IsGlobal != 1:
		return n.at("is_global").errorf("must be 0 or 1")
	}
	counts := map[string]*int64{"after": w.After, "size_over": w.SizeOver, "outstanding_over": w.OutstandingOver, "max_inline_data": w.MaxInlineData}
	for _, m := range n.fields() { // in the order of the file, so that the first is always the same
		if v := counts[m.key]; v != nil && *v < 0 {
			return m.node.errorf("must not be negative")
		}
	}
	return nil
}

func checkOutput(n *node, r *rule) error {
	repeat := 1
	if r.Repeat != nil {
		repeat = *r.Repeat
	}
	if repeat < 1 || repeat > maxRepeat {
		return n.at("repeat").errorf("must be from 1 to %d", maxRepeat)
	}
	texts := map[string]string{"stdout": r.Stdout, "fd3": r.FD3, "stderr": r.Stderr}
	every := map[string]*int{"lose_every": r.LoseEvery, "repeat_every": r.RepeatEvery, "wrong_every": r.WrongEvery}
	for _, m := range n.fields() {
		if size := len(texts[m.key]); size > maxText || size*repeat > maxOutput {
			return m.node.errorf("too long: a text has at most %d bytes, all repeats together %d", maxText, maxOutput)
		}
		if v := every[m.key]; v != nil && *v < 1 {
			return m.node.errorf("must be 1 or more")
		}
	}
	return nil
}

// dataVerbs are those whose rules can act on messages.
var dataVerbs = []verb{verbPollCQ, verbPostSend, verbPostRecv}

// checkPlace refuses an effect where its verb could never show it.
func checkPlace(n *node, v verb, r *rule) error {
	fails := verbRows[v].fails
	for _, effect := range []struct {
		key  string
		here bool
		only string
	}{
		{"errno", r.Errno == nil || fails != failsNever, "verbs that can fail"},
		{"return", r.Return == nil || fails != failsNever, "verbs that can fail"},
		{"set", len(r.Set) == 0 || len(verbRows[v].set) > 0, "queries, ibv_get_device_list, ibv_create_cq and ibv_create_qp"},
		{"rkey", r.RKey == nil || v == verbRegMR, "ibv_reg_mr"},
		{"lkey", r.LKey == nil || v == verbRegMR, "ibv_reg_mr"},
		{"wc", r.WC == nil || slices.Contains(dataVerbs, v), "ibv_poll_cq and the post verbs"},
		{"wc_status", r.WCStatus == nil || slices.Contains(dataVerbs, v), "ibv_poll_cq and the post verbs"},
		{"deliver", r.Deliver == nil || slices.Contains(dataVerbs, v), "ibv_poll_cq and the post verbs"},
		{"lose_every", r.LoseEvery == nil || slices.Contains(dataVerbs, v), "ibv_poll_cq and the post verbs"},
		{"repeat_every", r.RepeatEvery == nil || slices.Contains(dataVerbs, v), "ibv_poll_cq and the post verbs"},
		{"wrong_every", r.WrongEvery == nil || slices.Contains(dataVerbs, v), "ibv_poll_cq and the post verbs"},
	} {
		if !effect.here {
			return n.at(effect.key).errorf("has no effect at %s; allowed at %s", verbRows[v].name, effect.only)
		}
	}
	if r.Return != nil && *r.Return != 0 && fails == failsNull {
		return n.at("return").errorf("%s returns a pointer: only 0, for NULL, is allowed", verbRows[v].name)
	}
	keys := map[string]*number{"rkey": r.RKey, "lkey": r.LKey}
	for _, m := range n.fields() {
		if k := keys[m.key]; k != nil && !k.fits(4) {
			return m.node.errorf("does not fit into 32 bits")
		}
	}
	return nil
}
