//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// crowd is the text of a simulated machine of n healthy devices.
func crowd(tb testing.TB, n int) []byte {
	tb.Helper()
	var devices []object
	for i := range n {
		devices = append(devices, object{
			"name": fmt.Sprint("sim", i), "node_guid": fmt.Sprintf("0000:5eff:fe00:53%02x", i), "transport": "infiniband",
			"ports": []object{{
				"num": 1, "state": "active", "link_layer": "ethernet", "max_mtu": 4096, "active_mtu": 1024,
				"gids": []object{{"index": 1, "gid": fmt.Sprint("::ffff:192.0.2.", i+1), "type": "roce_v2"}},
			}},
		})
	}
	raw, err := json.Marshal(object{"profile": 1, "id": "crowd", "host": object{"os": "linux", "name": "crowd"}, "devices": devices})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// BenchmarkProbe is a run of four probes on each of n devices, in children.
func BenchmarkProbe(b *testing.B) {
	for _, n := range []int{1, 6, 64} {
		b.Run(fmt.Sprintf("devices=%d", n), func(b *testing.B) {
			o := Options{Provider: ProviderOptions{Profile: crowd(b, n), Name: "crowd"}, Store: "none", Timeout: 10 * time.Second, Only: []string{"port", "gid", "mr", "uc"}}
			for b.Loop() {
				d, err := Run(b.Context(), o)
				if err != nil || len(d.Devices) != n {
					b.Fatal(len(d.Devices), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(4*n)/1e6, "ms/child")
		})
	}
}
