package replay

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// answer is what a call was seen to do, and where.
type answer struct {
	effect string // as JSON; "null" is success
	where  string
}

// rule adds what a row tells of a provider's call to its device.
func (v *deriving) rule(o *probe.Observation) error {
	d := v.deviceOf(o.Device)
	if d == nil {
		return nil
	}
	switch {
	case strings.HasPrefix(o.ID, "mr.register"):
		return v.registration(d, o)
	case o.ID == "port.query" && o.Data["query_device_error"] != nil:
		text, _ := o.Data["query_device_error"].(string)
		effect, err := v.told(rowPath(o), "ibv_query_device", text)
		if err != nil {
			return err
		}
		if err := v.add(d, o, "ibv_query_device", nil, effect); err != nil {
			return err
		}
	case o.Call == "connect":
		v.channel(o)
		return nil
	}
	if done, err := v.onMessages(d, o); done || err != nil {
		return err
	}
	effect, err := v.effect(o)
	if err != nil {
		return err
	}
	if effect != nil {
		return v.add(d, o, o.Call, conditionOf(o, o.Call), effect)
	}
	return v.success(d, o)
}

func (v *deriving) deviceOf(name string) *device {
	i := slices.IndexFunc(v.p.Devices, func(d *device) bool { return d.Name == name })
	if i < 0 || name == "" {
		return nil
	}
	return v.p.Devices[i]
}

// stages are the ids whose one call is the same in every child, so that a success
// in one and a failure in another cannot both be played.
var stages = []string{"dev.open", "pd.alloc", "cq.create", "create", "init", "rtr", "rts", "cq.channel"}

// success notes that a stage's call succeeded, and what it granted.
func (v *deriving) success(d *device, o *probe.Observation) error {
	step := o.ID
	if strings.HasPrefix(step, "qp.") {
		step = step[strings.LastIndexByte(step, '.')+1:]
	}
	if o.Level != rdma.CapabilityConfirmed || !slices.Contains(stages, step) {
		return nil
	}
	var effect rule
	if step == "create" {
		if granted := differs(o.Data["granted"], o.Params["requested"]); granted != nil {
			effect = rule{"set": granted}
		}
		if err := v.queried(d, o); err != nil {
			return err
		}
	}
	return v.add(d, o, o.Call, conditionOf(o, o.Call), effect)
}

// queried is what ibv_query_qp said after a creation.
func (v *deriving) queried(d *device, o *probe.Observation) error {
	const verb = "ibv_query_qp"
	if text, failed := o.Data["query_error"].(string); failed {
		effect, err := v.told(rowPath(o), verb, text)
		if err != nil {
			return err
		}
		return v.add(d, o, verb, conditionOf(o, verb), effect)
	}
	if caps := differs(o.Data["queried"], o.Data["granted"]); caps != nil {
		return v.add(d, o, verb, conditionOf(o, verb), rule{"set": caps})
	}
	return nil
}

// differs are the members of an object that another has otherwise.
func differs(got, from any) map[string]any {
	have, _ := got.(map[string]any)
	base, _ := from.(map[string]any)
	out := maps.Clone(have)
	maps.DeleteFunc(out, func(k string, x any) bool { return base[k] == x })
	if len(out) == 0 {
		return nil
	}
	return out
}

// conditionOf is what a rule for a call can ask, so that it is about this row's
// kind of queue pair and step only.
func conditionOf(o *probe.Observation, verb string) map[string]any {
	when := map[string]any{}
	switch verb {
	case "ibv_create_qp", "ibv_modify_qp", "ibv_query_qp", "ibv_destroy_qp", "ibv_poll_cq", "ibv_post_send", "ibv_post_recv":
		if t := typeOf(o); t != "" {
			when["qp_type"] = t
		}
	}
	if verb == "ibv_post_send" {
		when["opcode"] = "SEND"
		if o.ID == "op.rdma_write" {
			when["opcode"] = "RDMA_WRITE"
		}
	}
	if verb == "ibv_modify_qp" && strings.HasPrefix(o.ID, "qp.") {
		when["to"] = strings.ToUpper(o.ID[strings.LastIndexByte(o.ID, '.')+1:])
	}
	return when
}

// typeOf is the type of the queue pair that a row is about, "" where none is.
func typeOf(o *probe.Observation) string {
	if strings.HasPrefix(o.ID, "cq.") {
		return "UC" // of the one queue pair that the probe of events makes
	}
	for _, word := range slices.Concat(strings.Split(o.ID, "."), strings.Split(o.Probe, ".")) {
		if word == "uc" || word == "rc" || word == "ud" {
			return strings.ToUpper(word)
		}
	}
	return ""
}

// add notes how a call was answered. A rule knows nothing of the child that it is
// asked in, so that two answers to one call cannot be played.
func (v *deriving) add(d *device, o *probe.Observation, verb string, when map[string]any, effect rule) error {
	call, err := json.Marshal([]any{d.Name, verb, when})
	if err != nil {
		return err
	}
	said, err := json.Marshal(effect)
	if err != nil {
		return err
	}
	if old, there := v.seen[string(call)]; there {
		if old.effect != string(said) {
			return cannot(rowPath(o), "%s answered differently here and in %s, which a profile cannot say", verb, old.where)
		}
		return nil
	}
	v.seen[string(call)] = answer{string(said), rowPath(o)}
	if effect == nil {
		return nil
	}
	r := maps.Clone(effect)
	if len(when) > 0 {
		r["when"] = when
	}
	d.put(verb, r)
	return nil
}

// put adds a rule after those that are there.
func (d *device) put(verb string, r rule) {
	if d.Calls == nil {
		d.Calls = map[string][]rule{}
	}
	d.Calls[verb] = append(d.Calls[verb], r)
}

// registration is the first or, on Thunderbolt, the second region of a probe. A
// rule cannot ask for the access, so the second is told by its place.
func (v *deriving) registration(d *device, o *probe.Observation) error {
	const verb = "ibv_reg_mr"
	effect, err := v.effect(o)
	if err != nil {
		return err
	}
	if o.Level == rdma.CapabilityConfirmed {
		effect = rule{}
		for _, key := range []string{"lkey", "rkey"} {
			if n, ok := number(o.Data[key]); ok {
				effect[key] = n
			}
		}
	}
	switch {
	case effect == nil:
		return nil
	case o.Call != verb: // it ended in another call
		return v.add(d, o, o.Call, conditionOf(o, o.Call), effect)
	case o.ID == "mr.register":
		return v.add(d, o, verb, nil, effect)
	case len(d.Calls[verb]) == 1 && maps.Equal(d.Calls[verb][0], effect):
		return nil
	}
	effect["when"] = map[string]any{"after": 1}
	first := d.Calls[verb]
	delete(d.Calls, verb)
	for _, r := range append([]rule{effect}, first...) {
		d.put(verb, r)
	}
	return nil
}
