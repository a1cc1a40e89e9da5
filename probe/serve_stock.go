package probe

import (
	"errors"
	"fmt"
	"strings"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/peer"
)

// stockClient answers one of rdma-core's tools. Its exchange says nothing of
// devices, sizes or counts: all come from this end's options.
func (s *server) stockClient(c *peer.Conn) {
	ses := &serveSession{s: s, token: peer.NewToken(), conn: c, chosen: true}
	if !s.admit(ses) {
		c.Close() // one at a time, and the exchange has no word for that
		return
	}
	defer s.leave(ses)
	from := c.RemoteAddr()
	outcome, err := s.answerStock(c)
	s.forget()
	if err != nil {
		c.Close()
		s.complain("session with %v: %v", from, err)
		return
	}
	s.say("session with %v is over: %s", from, outcome)
	if s.o.Once {
		s.cancel(errServed)
	}
}

// answerStock is the whole session. One that never came to messages is an error:
// anybody can connect.
func (s *server) answerStock(c *peer.Conn) (string, error) {
	devices := s.offered()
	if len(devices) > 1 {
		return "", fmt.Errorf("%d devices are here, and the tool says nothing of them: name one with -d", len(devices))
	}
	dr, err := s.hold(s.ctx, devices[0])
	if err != nil {
		return "", err
	}
	defer s.release(dr)
	row, _ := rowOf("serve.pingpong." + s.o.Types[0])
	t := peer.Task{
		Probe: taskPingpong, Type: s.o.Types[0], Sizes: s.o.Sizes, Iterations: s.o.Iterations,
		Timeout: s.opts.Timeout, Loss: s.opts.Timeout / 20,
	}
	dr.task = &openTask{how: remoteStock, server: &t}
	if dr.tb {
		dr.task.proof = stockPath(dr.netdev(), peer.AddrOf(c.LocalAddr()), peer.AddrOf(c.RemoteAddr()))
	}
	defer func() { dr.task = nil }()
	switch closed := dr.closedFor(row); {
	case dr.profile != nil:
		return "", fmt.Errorf("this end is simulated: nothing leads from here to another host")
	case dr.tb && dr.task.proof["link_local"] != true:
		return "", fmt.Errorf("on Thunderbolt the tool has to connect to the link-local address of the port: that proves the path")
	case closed != nil:
		return "", fmt.Errorf("%s", closed.text())
	}
	if why, data := dr.precondition(row); why != "" {
		dr.refuse(row, Precondition, why, data)
		return "", fmt.Errorf("this end %s", why)
	}
	if dr.task.file, dr.task.early, err = c.Detach(); err != nil {
		return "", err
	}
	dr.newest = nil
	if err := dr.one(row); err != nil {
		return "", err
	}
	return dr.stockOutcome()
}

// stockOutcome is how the newest child's session with a stock tool went.
func (dr *deviceRun) stockOutcome() (string, error) {
	if dr.newest != nil && dr.outcome != guard.Completed {
		return string(dr.outcome), nil
	}
	for _, o := range dr.newest {
		switch _, began := o.Data["count"]; {
		case !strings.HasPrefix(o.ID, "pingpong."):
		case !began:
			return "", fmt.Errorf("no message was exchanged: %s", o.Detail)
		default:
			return string(o.Level), nil
		}
	}
	return "", errors.New("nothing was seen")
}
