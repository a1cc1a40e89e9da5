package probe

import (
	"strings"
	"testing"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// modify makes a transition to INIT that the provider refused.
func (s scene) modify(device, id string, errno int) {
	o := s.fail(device, id, Invalid, errno)
	o.Call, o.Return = "ibv_modify_qp", &Return{Number: int64(errno)}
}

// noMemory makes every registration of a page fail.
func (s scene) noMemory(device string, errno int) {
	s.null(device, "mr.register", "ibv_reg_mr", errno).Params = map[string]any{"length": 4096}
	s.fail(device, "mr.register.local", Precondition, 0)
	s.fail(device, "mr.rkey", Precondition, 0)
}

// noQueuePair makes the creation of types fail.
func (s scene) noQueuePair(device string, errno int, types ...qpType) {
	for _, t := range types {
		s.null(device, t.id("create"), "ibv_create_qp", errno)
		s.fail(device, t.id("init"), Precondition, 0)
	}
}

// untried makes the rows of a type those of one that nobody asked for.
func (s scene) untried(device string, t qpType) {
	s.fail(device, t.id("create"), NotTried, 0)
	s.fail(device, t.id("init"), NotTried, 0)
}

var createCases = []findingCase{
	{"object_create_failed", "no completion queue", linuxScene, func(s scene) {
		s.null("mlx5_0", "cq.create", "ibv_create_cq", 12)
	}, is("object_create_failed", "error", "mlx5_0")},
	{"object_create_failed", "the limit explains it", linuxScene, func(s scene) {
		s.host().MemlockKiB = ptrTo(int64(64))
		s.null("mlx5_0", "cq.create", "ibv_create_cq", 12)
	}, is("memlock_too_low", "error", "host")},
	{"object_create_failed", "no region", linuxScene, func(s scene) { s.noMemory("mlx5_0", 14) }, is("object_create_failed", "error", "mlx5_0")},
	{"object_create_failed", "a page, and no limit", linuxScene, func(s scene) { s.noMemory("mlx5_0", 12) }, is("mr_register_enomem", "error", "mlx5_0")},
	{"object_create_failed", "NULL without errno, and nobody else", macScene, func(s scene) { s.noMemory("rdma_en3", 0) }, is("object_create_failed", "error", "rdma_en3")},
	{"object_create_failed", "others hold them", macScene, func(s scene) { s.hold(0, 100); s.noMemory("rdma_en3", 0) }, is("mr_pool_exhausted", "error", "rdma_en3")},
	{"object_create_failed", "local access is enough", macScene, func(s scene) {
		s.noMemory("rdma_en3", 22)
		s.confirm("rdma_en3", "mr.register.local")
	}, nil},
	{"object_create_failed", "a large region alone", linuxScene, func(s scene) {
		s.noMemory("mlx5_0", 12)
		s.row("mlx5_0", "mr.register").Params = map[string]any{"length": 1 << 30}
	}, nil},
	{"object_create_failed", "no UC, and RC is rejected", macScene, func(s scene) { s.noQueuePair("rdma_en3", 16, qpUC) }, is("object_create_failed", "error", "rdma_en3")},
	{"object_create_failed", "neither UC nor RC", linuxScene, func(s scene) { s.noQueuePair("mlx5_0", 22, qpUC, qpRC) }, is("object_create_failed", "error", "mlx5_0")},
	{"object_create_failed", "UC fails, and RC was not tried", linuxScene, func(s scene) {
		s.noQueuePair("mlx5_0", 16, qpUC)
		s.untried("mlx5_0", qpRC)
	}, is("object_create_failed", "error", "mlx5_0")},
	{"object_create_failed", "a driver without UC, and RC was not tried", linuxScene, func(s scene) {
		s.noQueuePair("mlx5_0", 22, qpUC)
		s.untried("mlx5_0", qpRC)
	}, nil},
	{"object_create_failed", "Thunderbolt has no other type", macScene, func(s scene) {
		s.noQueuePair("rdma_en3", 22, qpUC)
		s.untried("rdma_en3", qpRC)
	}, is("object_create_failed", "error", "rdma_en3")},
	{"object_create_failed", "RC is enough", linuxScene, func(s scene) { s.noQueuePair("mlx5_0", 22, qpUC, qpUD) }, nil},
	{"object_create_failed", "both are rejected", linuxScene, func(s scene) {
		s.noQueuePair("mlx5_0", 95, qpUC, qpRC)
		s.row("mlx5_0", "qp.uc.create").Level, s.row("mlx5_0", "qp.rc.create").Level = rdma.CapabilityRejected, rdma.CapabilityRejected
	}, nil},
	{"object_create_failed", "INIT is refused", macScene, func(s scene) { s.modify("rdma_en3", "qp.uc.init", 22) }, is("object_create_failed", "error", "rdma_en3")},
	{"object_create_failed", "the child crashed in it", macScene, func(s scene) { s.ended("rdma_en3", "qp.uc.create", "ibv_create_qp", "crashed") }, is("provider_crashed", "error", "rdma_en3")},
	{"object_create_failed", "the library lacks the function", linuxScene, func(s scene) { s.fail("mlx5_0", "cq.create", SymbolMissing, 0).Call = "ibv_create_cq" }, nil},
	{"object_create_failed", "Thunderbolt 4", macScene, func(s scene) { s.thunderbolt4(); s.noQueuePair("rdma_en3", 16, qpUC) }, is("thunderbolt_generation_unsupported", "error", "host")},
	{"object_create_failed", "one of two devices", linuxScene, func(s scene) { s.second(); s.null("mlx5_1", "cq.create", "ibv_create_cq", 28) }, is("object_create_failed", "error", "mlx5_1")},
	{"teardown_failed", "a domain stays", linuxScene, func(s scene) {
		o := s.fail("mlx5_0", teardownID, ProviderError, 16)
		o.Call, o.Return = "ibv_dealloc_pd", &Return{Number: 16}
	}, is("teardown_failed", "warning", "mlx5_0")},
	{"teardown_failed", "it crashed", linuxScene, func(s scene) { s.ended("mlx5_0", teardownID, "ibv_dealloc_pd", "crashed") }, is("provider_crashed", "error", "mlx5_0")},
	{"teardown_failed", "not tried", linuxScene, func(s scene) { s.fail("mlx5_0", teardownID, NotTried, 0) }, nil},
	{"port_query_failed", "the attributes alone", linuxScene, func(s scene) {
		s.dev("mlx5_0").Attr = nil
		s.row("mlx5_0", "port.query").Data = map[string]any{"query_device_error": "ibv_query_device on mlx5_0: errno 5 (EIO)"}
	}, is("port_query_failed", "warning", "mlx5_0")},
	{"port_query_failed", "the attributes and the port", linuxScene, func(s scene) {
		s.unread("mlx5_0", "port.query", "ibv_query_port", ProviderError, 5).Data = map[string]any{"query_device_error": "ibv_query_device on mlx5_0: errno 5 (EIO)"}
		s.fail("mlx5_0", "port.state", Precondition, 0)
	}, is("port_query_failed", "error", "mlx5_0")},
}

// What could not be made is named with its call, its kind and its errno, and the
// remedy is one for that errno and system.
func TestCreateFailuresNameCallAndErrno(t *testing.T) {
	for _, c := range []struct {
		name      string
		scene     func() scene
		fail      func(scene)
		says, not []string
	}{
		{"no queue pair, nobody known", macScene, func(s scene) { s.noQueuePair("rdma_en3", 16, qpUC) },
			[]string{"ibv_create_qp (UC) failed with errno 16 (EBUSY)", "gently", "log show", "Do not retry"}, []string{"dmesg", "ulimit"}},
		{"INIT", linuxScene, func(s scene) { s.modify("mlx5_0", "qp.uc.init", 22); s.modify("mlx5_0", "qp.rc.init", 22) },
			[]string{"ibv_modify_qp (UC to INIT)", "(RC to INIT)", "dmesg", "one release"}, []string{"log show", "ulimit", "cable"}},
		{"no memory, and the limit is not known", linuxScene, func(s scene) { s.host().MemlockKiB = nil; s.noMemory("mlx5_0", 12) },
			[]string{"ibv_reg_mr failed with errno 12 (ENOMEM)", "no memory can be registered", "ulimit -l"}, nil},
		{"no memory, and no limit", linuxScene, func(s scene) { s.null("mlx5_0", "cq.create", "ibv_create_cq", 12) },
			[]string{"ibv_create_cq", "dmesg"}, []string{"ulimit"}},
		{"one rejected, one failed", linuxScene, func(s scene) {
			s.noQueuePair("mlx5_0", 16, qpUC, qpRC)
			s.row("mlx5_0", "qp.uc.create").Level = rdma.CapabilityRejected
		}, []string{"(RC)"}, []string{"(UC)"}},
	} {
		s := c.scene()
		c.fail(s)
		text := textOf(s, "object_create_failed")
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q does not say %q", c.name, text, want)
			}
		}
		for _, bad := range c.not {
			if text == "" || strings.Contains(text, bad) {
				t.Errorf("%s: %q says %q", c.name, text, bad)
			}
		}
	}
	s := linuxScene()
	s.host().RDMAProcesses = []hostfacts.Process{{PID: 4242, QPs: ptrTo(0)}}
	s.noQueuePair("mlx5_0", 16, qpUC, qpRC)
	if got := raised(s, ""); len(got) != 1 || got[0] != "object_create_failed error mlx5_0" {
		t.Errorf("a process without queue pairs is no holder: %v", got)
	}
}
