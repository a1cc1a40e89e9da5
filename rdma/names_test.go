package rdma

import (
	"reflect"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{PortStateName(IBV_PORT_ACTIVE), "active"},
		{PortStateName(IBV_PORT_ACTIVE_DEFER), "active_defer"},
		{PortStateName(IBV_PORT_NOP), "nop"},
		{PortStateName(77), "unknown(77)"},
		{PortStateName(-3), "unknown(-3)"},
		{PhysStateName(5), "link_up"},
		{PhysStateName(0), "unknown(0)"},
		{LinkLayerName(IBV_LINK_LAYER_THUNDERBOLT), "thunderbolt"},
		{LinkLayerName(255), "unknown(255)"},
		{TransportName(IBV_TRANSPORT_IB), "infiniband"},
		{TransportName(IBV_TRANSPORT_UNKNOWN), "unknown"},
		{TransportName(IBV_TRANSPORT_THUNDERBOLT), "thunderbolt"},
		{TransportName(5), "unknown(5)"},
		{NodeTypeName(IBV_NODE_RNIC), "rnic"},
		{NodeTypeName(0), "unknown(0)"},
		{AtomicCapName(0), "none"},
		{AtomicCapName(3), "unknown(3)"},
		{GIDTypeName(IBV_GID_TYPE_ROCE_V2), "roce_v2"},
		{GIDTypeName(1 << 31), "unknown(2147483648)"},
		{QPTypeName(IBV_QPT_UC), "UC"},
		{QPTypeName(1), "unknown(1)"},
		{QPStateName(IBV_QPS_RTR), "RTR"},
		{QPStateName(7), "unknown(7)"},
		{WCStatusName(IBV_WC_LOC_PROT_ERR), "LOC_PROT_ERR"},
		{WCStatusName(-1), "unknown(-1)"},
		{WCOpcodeName(IBV_WC_RECV), "RECV"},
		{WCOpcodeName(127), "unknown(127)"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestMTU(t *testing.T) {
	for mtu := int32(1); mtu <= 5; mtu++ {
		size := 128 << mtu
		if MTUBytes(mtu) != size || MTUEnum(size) != mtu {
			t.Errorf("mtu %d: %d bytes, %d bytes are %d", mtu, MTUBytes(mtu), size, MTUEnum(size))
		}
	}
	if MTUBytes(0) != 0 || MTUBytes(6) != 0 || MTUBytes(-1) != 0 || MTUEnum(1500) != 0 || MTUEnum(0) != 0 {
		t.Error("an unknown MTU has a value")
	}
}

func TestLinkSpeed(t *testing.T) {
	for _, tt := range []struct {
		width, speed uint8
		want         float64
	}{
		{4, 4, 80}, // 8X, 10.0: a Thunderbolt 5 link in TN3205's example
		{1, 1, 2.5}, {2, 32, 100}, {16, 64, 100}, {0, 4, 0}, {4, 0, 0}, {3, 4, 0}, {4, 255, 0},
	} {
		if got := LinkSpeedGbps(tt.width, tt.speed); got != tt.want {
			t.Errorf("width %d speed %d: %v Gb/s, want %v", tt.width, tt.speed, got, tt.want)
		}
	}
}

func TestQPAttrMaskNames(t *testing.T) {
	for _, tt := range []struct {
		mask int
		want string
	}{
		{0, ""},
		{0x39, "IBV_QP_STATE|IBV_QP_ACCESS_FLAGS|IBV_QP_PKEY_INDEX|IBV_QP_PORT"},
		{0x101181, "IBV_QP_STATE|IBV_QP_AV|IBV_QP_PATH_MTU|IBV_QP_RQ_PSN|IBV_QP_DEST_QPN"},
		{0x10001, "IBV_QP_STATE|IBV_QP_SQ_PSN"},
		{IBV_QP_CAP | 1<<23, "IBV_QP_CAP|unknown(0x800000)"},
	} {
		if got := strings.Join(QPAttrMaskNames(tt.mask), "|"); got != tt.want {
			t.Errorf("%#x: %s, want %s", tt.mask, got, tt.want)
		}
	}
	if names := QPAttrMaskNames(-1); len(names) != len(qpAttrBits)+1 {
		t.Errorf("all bits: %v", names)
	}
}

func TestCapabilities(t *testing.T) {
	want := Capabilities{
		CapabilityConfirmed, CapabilityConfirmed, CapabilityRejected, CapabilityUnknown, CapabilityUnknown,
		CapabilityObservedZero,
	}
	if got := AppleThunderboltCapabilities(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestClassifyCompletionStatus(t *testing.T) {
	protection := map[int32]bool{4: true, 8: true, 10: true}
	for status := int32(-2); status < 30; status++ {
		want := CompletionFailure
		switch {
		case status == 0:
			want = CompletionSuccess
		case protection[status]:
			want = CompletionProtection
		}
		if got := ClassifyCompletionStatus(status); got != want {
			t.Errorf("status %d: %s, want %s", status, got, want)
		}
	}
}
