// Command rdmaprobe tells what the RDMA providers of this machine can really do.
package main

import (
	"os"

	"rdmaprobe/cmd"
	"rdmaprobe/probe"
)

func main() {
	probe.Main()
	os.Exit(cmd.Main())
}
