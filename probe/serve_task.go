package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/peer"
)

// tasks answers what the client asks for until it says bye.
func (ses *serveSession) tasks(dr *deviceRun) error {
	for {
		m, err := ses.conn.Receive(idleLimit)
		if err != nil {
			return err
		}
		if m.Type == peer.TypeBye {
			return nil
		}
		t, err := peer.Body[peer.Task](m, peer.TypeTask)
		if err != nil {
			return err
		}
		if err := ses.one(dr, t); err != nil {
			return err
		}
	}
}

// one is one task: may it be done, then the connection for its children, then
// this end's child. Its refusal is an answer and ends nothing.
func (ses *serveSession) one(dr *deviceRun, t peer.Task) error {
	s := ses.s
	row, ok := rowOf("serve." + t.Probe + "." + t.Type)
	if !ok {
		return &peer.Failure{Code: peer.CodeInvalid, Text: fmt.Sprintf("no probe %s over %s", t.Probe, t.Type)}
	}
	t.Timeout = min(t.Timeout, s.opts.Timeout)
	t.Loss = min(t.Loss, t.Timeout)
	dr.task = &openTask{how: remoteOwn, server: &t, proof: ses.proof(dr)}
	defer func() { dr.task = nil }()
	if f := ses.refusal(dr, row, t); f != nil {
		s.say("refused %s of %v: %s", row.word, ses.conn.RemoteAddr(), f.Text)
		ses.conn.Fail(f.Code, f.Text)
		return nil
	}
	door, token := &taskDoor{make(chan *peer.Conn), make(chan struct{})}, peer.NewToken()
	s.mu.Lock()
	s.tasks[token] = door
	s.mu.Unlock()
	defer func() {
		close(door.gone)
		s.mu.Lock()
		delete(s.tasks, token)
		s.mu.Unlock()
	}()
	if err := ses.conn.Send(peer.TypeReady, peer.Ready{Token: token, Timeout: t.Timeout}, peer.StepLimit); err != nil {
		return err
	}
	limit := time.NewTimer(peer.StepLimit)
	defer limit.Stop()
	select {
	case c := <-door.conn:
		if c == nil {
			return errors.New("the client's second connection broke")
		}
		return ses.child(dr, row, c)
	case <-limit.C:
		return errors.New("the client did not make its second connection")
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// refusal is why a task is not done, nil when it is.
func (ses *serveSession) refusal(dr *deviceRun, row *tableRow, t peer.Task) *peer.Failure {
	switch {
	case dr.profile != nil:
		return &peer.Failure{Code: peer.CodeNotReady, Text: "this end is simulated: nothing leads from here to another host"}
	case t.Probe == taskWrite && !ses.s.o.Write:
		return &peer.Failure{Code: peer.CodeConsent, Text: "this end lets nobody write into its memory: serve --write does"}
	case dr.tb && ses.proof(dr)["proven"] != true:
		return &peer.Failure{Code: peer.CodePath, Text: "the path between the two ports is not proven"}
	}
	if c := dr.closedFor(row); c != nil {
		dr.refuse(row, Guarded, c.text(), c.data())
		return &peer.Failure{Code: peer.CodeNotReady, Text: c.text()}
	}
	if why, data := dr.precondition(row); why != "" {
		dr.refuse(row, Precondition, why, data)
		return &peer.Failure{Code: peer.CodeNotReady, Text: "this end " + why}
	}
	return nil
}

// child runs this end's child on the connection, as long as the client stays.
func (ses *serveSession) child(dr *deviceRun, row *tableRow, c *peer.Conn) error {
	s := ses.s
	file, early, err := c.Detach()
	if err != nil {
		c.Close()
		return err
	}
	defer file.Close() // where no child took it over
	dr.task.file, dr.task.early = file, early
	watched, stop := ses.conn.Watch(s.ctx, dr.task.server.Timeout+s.bound())
	dr.ctx = watched
	if dr.tb {
		s.careful.Lock()
		defer s.careful.Unlock()
	}
	dr.outcome, dr.endDetail = guard.Completed, ""
	err = dr.one(row)
	stop()
	dr.ctx = s.ctx
	if err != nil {
		return err
	}
	done := peer.Done{Outcome: string(dr.outcome), Detail: peer.Text(dr.endDetail)}
	s.say("%s on %s for %v: %s", row.word, dr.name, ses.conn.RemoteAddr(), done.Outcome)
	return ses.conn.Send(peer.TypeDone, done, peer.StepLimit)
}
