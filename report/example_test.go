package report_test

import (
	"fmt"
	"os"
	"strings"

	"rdmaprobe/report"
)

func ExampleRead() {
	d, err := report.Read(strings.NewReader(`{
		"schema": "rdmaprobe.report", "schema_version": "1.3",
		"provider": {"kind": "native", "library": {"loaded": true}},
		"devices": [{"name": "rdma_en2", "listed": true, "ports": [{"num": 1, "state": "active", "link_layer": "thunderbolt", "active_mtu": 4096}]}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := report.Lookup("table")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := table.Render(os.Stdout, d, report.Options{Command: "devices"}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// DEVICE    PORT  STATE   LINK         GB/S  MTU   NETDEV  ADDRESS
	// rdma_en2  1     active  thunderbolt  -     4096  -       -
}
