package report

import (
	"fmt"
	"strconv"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// pingpongs prints, under the matrix, a line for each ping-pong that came
// through or lost something. wide has the rows themselves.
func (t *printer) pingpongs() {
	if t.wide {
		return
	}
	first := true
	for i := range t.d.Observations {
		text := pingpongText(t.d, &t.d.Observations[i])
		if text == "" {
			continue
		}
		if first {
			t.section()
			first = false
		}
		t.prose("", text)
	}
}

// pingpongText is one ping-pong in a line: "" when it says nothing in numbers.
func pingpongText(d *probe.Document, o *probe.Observation) string {
	kind, ok := strings.CutPrefix(o.ID, "pingpong.")
	count, counted := whole64(o.Data["count"])
	verified, checked := whole64(o.Data["verified"])
	lost, _ := whole64(o.Data["lost"])
	if !ok || !counted || !checked || o.Level != rdma.CapabilityConfirmed && lost <= 0 {
		return ""
	}
	words := []string{cleanName(o.Device)}
	if manyHosts(d) {
		words = []string{cleanName(o.Host), cleanName(o.Device)}
	}
	if o.Port != 0 {
		words = append(words, fmt.Sprintf("port %d", o.Port))
	}
	words = append(words, strings.ToUpper(cleanName(kind)))
	if size, ok := whole64(o.Data["size"]); ok {
		words = append(words, fmt.Sprintf("%d B", size))
	}
	if o.OSBuild != "" {
		words = append(words, "under build", cleanName(o.OSBuild))
	}
	text := fmt.Sprintf("%s: %d of %d verified", strings.Join(words, " "), verified, count)
	if lost > 0 {
		text += fmt.Sprintf(", %d lost", lost)
	}
	if times := roundTrip(o); times != "" {
		text += ", round trip " + times
	}
	if rate, fast := o.Data["rate_bits_per_s"]; fast && o.Data["above_link_speed"] != nil {
		if n, ok := whole64(rate); ok {
			text += fmt.Sprintf("; warning: %.3g Gb/s is above the link's speed", float64(n)/1e9)
		}
	}
	return text
}

// roundTrip is the median and the 99th percentile of a ping-pong, as far as it
// has them: only the end that sends first measures.
func roundTrip(o *probe.Observation) string {
	var times []string
	for _, name := range []string{"p50", "p99"} {
		if ns, ok := whole64(o.Data[name+"_ns"]); ok && ns > 0 {
			times = append(times, name+" "+brief(ns))
		}
	}
	return strings.Join(times, " ")
}

// brief is a time in three digits, and no fraction of a nanosecond: 12.3 µs.
func brief(ns int) string {
	v, unit := float64(ns), "ns"
	for _, next := range []string{"µs", "ms", "s"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	digits := 0
	switch {
	case unit == "ns":
	case v < 10:
		digits = 2
	case v < 100:
		digits = 1
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " " + unit
}
