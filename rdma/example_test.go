package rdma_test

import (
	"errors"
	"fmt"
	"log"

	"rdmaprobe/rdma"
)

// List the devices of the machine and the state of their first ports.
func ExampleOpenDeviceList() {
	list, err := rdma.OpenDeviceList()
	if errors.Is(err, rdma.ErrSymbolUnavailable) {
		fmt.Println("no verbs library:", err)
		return
	} else if err != nil {
		log.Fatal(err)
	}
	defer list.Close()
	for _, device := range list.Devices() {
		context, err := device.Open()
		if err != nil {
			log.Print(err)
			continue
		}
		var port rdma.IbvPortAttr
		if _, err := rdma.IbvQueryPortAttr(context, 1, &port); err != nil {
			log.Print(err)
		} else {
			fmt.Println(device.Name, rdma.PortStateName(port.State), rdma.LinkLayerName(port.LinkLayer))
		}
		if _, err := rdma.IbvCloseDevice(context); err != nil {
			log.Print(err)
		}
	}
}

// Numbers are read with the library's platform in mind.
func ExampleErrnoTextOn() {
	fmt.Println(rdma.ErrnoTextOn(rdma.PlatformDarwin, 102))
	fmt.Println(rdma.ErrnoTextOn(rdma.PlatformLinux, 102))
	// Output:
	// errno 102 (EOPNOTSUPP)
	// errno 102 (ENETRESET)
}

// A poller that was not made, since the queue is gone or the provider has no
// ibv_poll_cq, calls nothing: every poll of it is -1.
func ExampleIbvCQPoller() {
	var poller rdma.IbvCQPoller // of NewIbvCQPoller, as a rule
	fmt.Println(poller.Poll(1, new(rdma.IbvWC)))
	// Output: -1
}
