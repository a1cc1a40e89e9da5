package report

import "rdmaprobe/probe"

// latency is the summary of one ping-pong, from its row's data.
type latency struct {
	row       *probe.Observation
	quantiles []quantile
}

// quantile is one round-trip time.
type quantile struct {
	label string // 0, 0.5, ... 1
	name  string // min, p50, ... max
	ns    int
}

// quantileKeys are the names of round-trip times in a ping-pong's data.
var quantileKeys = []struct{ key, label, name string }{
	{"min_ns", "0", "min"}, {"p50_ns", "0.5", "p50"}, {"p90_ns", "0.9", "p90"},
	{"p99_ns", "0.99", "p99"}, {"p999_ns", "0.999", "p99.9"}, {"max_ns", "1", "max"},
}

// latencies are the ping-pongs of a document that have times, those of other OS
// builds left out: a metric has no place for them.
func latencies(d *probe.Document) []latency {
	var all []latency
	for i := range d.Observations {
		o := &d.Observations[i]
		if o.ID != "pingpong.uc" && o.ID != "pingpong.rc" || o.OSBuild != "" {
			continue
		}
		l := latency{row: o}
		for _, k := range quantileKeys {
			if ns, ok := whole64(o.Data[k.key]); ok && ns > 0 {
				l.quantiles = append(l.quantiles, quantile{k.label, k.name, ns})
			}
		}
		if len(l.quantiles) > 0 {
			all = append(all, l)
		}
	}
	return all
}
