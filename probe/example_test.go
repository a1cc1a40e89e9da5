//go:build (linux || darwin) && (amd64 || arm64)

package probe_test

import (
	"context"
	"fmt"
	"log"

	"rdmaprobe/fixtures"
	"rdmaprobe/probe"
)

// The test binary runs itself as the child of a probe, so it calls Main before
// anything else. A program does so in the first line of its main function.
func init() { probe.Main() }

// Is it confirmed that this machine can create an RC queue pair? The machine is
// a simulated one; without Provider it is the real one.
func ExampleRun() {
	profile, ok := fixtures.Profile("mac-mini-m4pro")
	if !ok {
		log.Fatal("no such profile")
	}
	doc, err := probe.Run(context.Background(), probe.Options{
		Provider: probe.ProviderOptions{Name: "mac-mini-m4pro", Profile: profile},
		Store:    "none",
		Devices:  []string{"rdma_en2"},
		More:     []string{"rc"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range doc.Observations {
		if o.ID == "qp.rc.create" {
			fmt.Println(o.Device, o.ID, o.Level, o.Call, o.Errno.Number, o.Errno.Name)
		}
	}
	fmt.Println("queue_pair_rc:", doc.Devices[0].Capabilities.QueuePairRC.State)
	// Output:
	// rdma_en2 qp.rc.create rejected ibv_create_qp 102 EOPNOTSUPP
	// queue_pair_rc: rejected
}
