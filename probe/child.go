package probe

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/selftest"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// orphanLimit is how long a simulated child stays in a call after its parent
// has gone. A native one stays until the call returns, or until its parent would
// have killed it.
const orphanLimit = 10 * time.Second

// childMain runs one request and returns the exit status. That it could not do its
// own part the parent judges by the missing last message; the text is for people.
func childMain() int {
	c, err := guard.Enter()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rdmaprobe child:", err)
		return ExitOwn
	}
	var req request
	if err := json.Unmarshal(c.Request(), &req); err != nil {
		fmt.Fprintln(os.Stderr, "rdmaprobe child: request:", err)
		return ExitOwn
	}
	s := &session{child: c, req: &req, probe: req.Task, device: req.Device, failed: map[string]bool{}}
	for _, id := range req.Failed {
		s.failed[id] = true
	}
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "rdmaprobe child:", err)
		return ExitOwn
	}
	if err := c.Done(nil); err != nil {
		return ExitOwn
	}
	return 0
}

// run does the task.
func (s *session) run() error {
	if selftest.IsTask(s.req.Task) {
		return selftest.Child(s.child, selftest.Request{Task: s.req.Task, Library: s.req.Library})
	}
	load, err := s.loader()
	if err != nil {
		return err
	}
	switch s.req.Task {
	case taskList, taskDevices:
		s.probe, s.device = "", ""
		l, devices := s.list(load)
		if l == nil {
			return nil
		}
		if s.req.Task == taskDevices {
			asked := s.askWhich(len(devices))
			s.probe = taskDevices
			s.streamDevices(devices, asked)
			s.probe, s.device, s.now = "", "", nil
		}
		return free(l)
	}
	row, ok := rowOf(s.req.Task)
	if !ok {
		return fmt.Errorf("unknown task %q", s.req.Task)
	}
	return s.probeOne(row, load)
}

// probeOne finds the device again and runs one row of the table on it.
func (s *session) probeOne(row *tableRow, load func() (*rdma.Library, error)) error {
	s.begin("dev.open", 0, nil)
	s.announce(loading)
	lib, err := load()
	if err != nil {
		s.skip(LibraryMissing, err.Error(), s.req.Port, row.ids(s.req)...)
		return nil
	}
	s.use(lib)
	s.begin("dev.open", 0, nil)
	l, err := rdma.OpenDeviceList()
	if err != nil {
		s.begin("dev.open", 0, nil).fail("ibv_get_device_list", err)
		return nil
	}
	devices, _ := named(l.Devices())
	if s.dev, s.lost = s.find(devices, s.req.Device); s.lost != nil {
		s.skip(Precondition, s.lost.Error(), s.req.Port, append([]string{"dev.open"}, row.ids(s.req)...)...)
	} else {
		row.run(s)
	}
	return free(l)
}

// free gives a list back. A library that has no function for it keeps it: that is
// told of by lib.symbols, and the process ends here.
func free(l *rdma.DeviceList) error {
	if err := l.Close(); !errors.Is(err, rdma.ErrSymbolUnavailable) {
		return err
	}
	return nil
}

// use installs the library and lets it tell the parent what it calls.
func (s *session) use(lib *rdma.Library) {
	s.lib = lib
	lib.OnCall(s.announce)
	lib.SetMark(s.child.Mark())
	rdma.Use(lib)
}

// loader gives the way to the provider: the native library, or the simulator
// through the same binding.
func (s *session) loader() (func() (*rdma.Library, error), error) {
	if s.req.Profile == nil {
		return func() (*rdma.Library, error) { return rdma.Open(s.req.Library) }, nil
	}
	profile, err := sim.Parse(s.req.Profile, nil)
	if err != nil {
		return nil, err
	}
	s.child.OrphanLimit(orphanLimit)
	s.playing = profile.Platform()
	return func() (*rdma.Library, error) {
		if l := profile.Library; !l.Loads() {
			return nil, rdma.NewLoadError(s.asked(), cmp.Or(l.LoadError, "no such file"))
		}
		p, err := sim.New(profile, sim.Options{OnFault: s.fault})
		if err != nil {
			return nil, err
		}
		s.sim = p
		return p.Library(), nil
	}, nil
}

// fault prepares for what the simulated provider is about to do.
func (s *session) fault(kind string) {
	if kind == "hang_term" {
		s.child.IgnoreTerm()
	}
	s.say(msgFault, kind)
}
