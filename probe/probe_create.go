package probe

import "rdmaprobe/rdma"

// probeMR registers one region for remote access and looks at its rkey. On
// Thunderbolt it then registers a second one with local write only, since
// reports differ on which of the two the provider takes. Never two at a time.
func probeMR(s *session) {
	ids := []string{"mr.register", "mr.rkey"}
	if s.thunderbolt() {
		ids = append(ids, "mr.register.local")
	}
	if !s.openDevice() {
		s.skip(Precondition, "the device could not be opened", 0, append([]string{"pd.alloc"}, ids...)...)
		return
	}
	s.own()
	defer s.teardown()
	pd := s.allocPD()
	if pd == 0 {
		s.skip(Precondition, "there is no protection domain", 0, ids...)
		return
	}
	mr, _ := s.registerMR("mr.register", pd, s.req.MRSize, fullAccess)
	if mr == 0 {
		s.skip(Precondition, "no region was registered", 0, "mr.rkey")
	} else {
		s.begin("mr.rkey", 0, nil).counted("ibv_reg_mr", uint64(rdma.Ibv_mr_rkey(mr)))
	}
	if s.thunderbolt() {
		s.registerLocal(pd, mr != 0)
	}
}

// registerLocal is the second region of probeMR. A region refused because the
// provider has none left is not asked for again.
func (s *session) registerLocal(pd rdma.RDMAPD, first bool) {
	const id = "mr.register.local"
	if first {
		r := s.begin(teardownID, 0, nil)
		if err := s.pop(); err != nil {
			s.skip(Precondition, "the first region could not be released: "+err.Error(), 0, id)
			s.broken(r, "ibv_dereg_mr", err)
			return
		}
	} else if !s.refused {
		s.skip(Precondition, "the first registration failed for another reason than its access flags", 0, id)
		return
	}
	s.registerMR(id, pd, s.req.MRSize, rdma.IBV_ACCESS_LOCAL_WRITE)
}

// probeQP creates a queue pair of a type and takes it to INIT.
func probeQP(t qpType) func(*session) {
	return func(s *session) {
		qp, _, _ := s.makeQP(t)
		defer s.teardown()
		if qp != 0 {
			s.initQP(t, qp, s.req.Port, s.access())
		}
	}
}

// makeQP opens the device and creates what a queue pair of type t needs, and the
// queue pair. Rows of what could not be tried are sent; 0 means that it failed.
func (s *session) makeQP(t qpType) (rdma.RDMAQP, rdma.RDMACQ, rdma.RDMAPD) {
	none := func(why string, ids ...string) (rdma.RDMAQP, rdma.RDMACQ, rdma.RDMAPD) {
		s.skip(Precondition, why, s.req.Port, append(ids, t.steps("create", "init")...)...)
		return 0, 0, 0
	}
	if !s.openDevice() {
		return none("the device could not be opened", "pd.alloc", "cq.create")
	}
	s.own()
	pd := s.allocPD()
	if pd == 0 {
		return none("there is no protection domain", "cq.create")
	}
	cq := s.createCQ(0)
	if cq == 0 {
		return none("there is no completion queue")
	}
	if !s.usable(t.id("create")) {
		return none("creating this queue pair failed earlier in this run")
	}
	qp := s.createQP(t, pd, cq)
	if qp == 0 {
		s.skip(Precondition, "there is no queue pair", s.req.Port, t.id("init"))
	}
	return qp, cq, pd
}

// access is what a connected queue pair allows its peer. Apple's technote asks
// for none (TN3205); elsewhere remote access is what a write needs.
func (s *session) access() int32 {
	if s.thunderbolt() || s.sealed() {
		return 0
	}
	return fullAccess
}

// thunderbolt tells whether the session's device is one of Apple's.
func (s *session) thunderbolt() bool { return s.req.Thunderbolt }
