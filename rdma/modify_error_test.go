//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"errors"
	"strings"
	"testing"
)

func TestModifyQPError(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	attr := IbvQPAttr{QPState: IBV_QPS_RTR, PathMTU: IBV_MTU_4096, DestQPNum: 9}
	attr.AHAttr.IsGlobal, attr.AHAttr.GRH.SGIDIndex = 1, 2
	mask := IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
	f.script("ibv_modify_qp", 110, 0)
	rc, cause := IbvModifyQpAttr(o.qp, &attr, mask)
	err := NewModifyQPError(o.qp, &attr, mask, rc, cause)
	var m *ModifyQPError
	var p *ProviderError
	if !errors.As(err, &m) || !errors.As(err, &p) || !errors.Is(err, ErrProviderStatus) {
		t.Fatalf("%v is not a *ModifyQPError of a *ProviderError", err)
	}
	if m.Transition != "INIT->RTR" || m.Device != "fake_0" || m.QPN != 0x17 || m.Mask != mask || m.Return != 110 || m.Attr.DestQPNum != 9 {
		t.Errorf("error %+v", m)
	}
	for _, part := range []string{
		"ibv_modify_qp INIT->RTR on fake_0, qp 23: provider returned 110: " + ErrnoText(110),
		"mask 0x101181 IBV_QP_STATE|IBV_QP_AV", "path_mtu=4096", "dest_qp_num=9", "sgid_index=2", "rq_psn=0",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "sq_psn") {
		t.Errorf("%q shows what the mask leaves out", err)
	}
	f.script("ibv_modify_qp", -22, 0)
	if err := IbvModifyQpToErr(o.qp); !errors.As(err, &m) || m.Transition != "->ERR" || m.Return != -22 {
		t.Errorf("to ERR: %v", err)
	}
}
