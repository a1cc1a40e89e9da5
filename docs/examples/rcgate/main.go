// Command rcgate asks one question of every RDMA device: is it confirmed that a
// reliable-connected queue pair can be created? It exits 0 when a device
// confirms it. With an argument it asks the simulated machine of that profile.
package main

import (
	"context"
	"fmt"
	"os"

	"rdmaprobe/probe"
)

func main() {
	probe.Main() // first of all: a probe's child is this executable, run again
	o := probe.Options{
		Tool:    probe.Tool{Name: "rcgate"},
		Command: os.Args,
		Require: []string{"queue_pair_rc"}, // adds the probe that it needs
		Store:   "none",                    // keeps nothing, and knows nothing of earlier runs
	}
	if len(os.Args) > 1 {
		profile, err := os.ReadFile(os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, "rcgate:", err)
			os.Exit(probe.ExitUsage)
		}
		o.Provider = probe.ProviderOptions{Name: os.Args[1], Profile: profile}
	}
	doc, err := probe.Run(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rcgate:", err)
	}
	for _, d := range doc.Devices {
		if d.Capabilities != nil {
			fmt.Println(d.Name, d.Capabilities.QueuePairRC.State)
		}
	}
	os.Exit(doc.Exit)
}
