package sim

import "testing"

// TestStepsNeedTheirAttributes takes every step of the kernel's table: with what
// it needs it is allowed, without any one of them or with a stranger it is not.
func TestStepsNeedTheirAttributes(t *testing.T) {
	tried := 0
	for s, types := range steps {
		for qpType, m := range types {
			tried++
			if !stepAllowed(qpType, s.from, s.to, maskState|m.required) || !stepAllowed(qpType, s.from, s.to, maskState|m.required|m.optional) {
				t.Errorf("type %d, %d to %d: refused with what it needs", qpType, s.from, s.to)
			}
			for bit := int32(2); bit <= maskDestQPN; bit <<= 1 {
				if m.required&bit != 0 && stepAllowed(qpType, s.from, s.to, maskState|m.required&^bit) {
					t.Errorf("type %d, %d to %d: allowed without %#x", qpType, s.from, s.to, bit)
				}
				if (m.required|m.optional)&bit == 0 && stepAllowed(qpType, s.from, s.to, maskState|m.required|bit) {
					t.Errorf("type %d, %d to %d: allowed with %#x", qpType, s.from, s.to, bit)
				}
			}
		}
	}
	if tried < 20 {
		t.Fatalf("only %d steps", tried)
	}
}

// TestOrderOfStates allows only the steps that exist.
func TestOrderOfStates(t *testing.T) {
	const all = int32(1<<26 - 1)
	for from := int32(0); from <= qpsErr; from++ {
		for to := int32(0); to <= qpsErr; to++ {
			_, known := steps[step{from, to}]
			always := to == qpsReset || to == qpsErr
			if got := stepAllowed(qptUC, from, to, maskState); got && !known && !always {
				t.Errorf("%d to %d is allowed", from, to)
			} else if always && !got {
				t.Errorf("%d to %d is refused", from, to)
			}
			if stepAllowed(qptUC, from, to, all) {
				t.Errorf("%d to %d takes every attribute", from, to)
			}
		}
	}
}

// TestDocumentedMasks holds the masks of TN3205 and of ibv_rc_pingpong against
// the table.
func TestDocumentedMasks(t *testing.T) {
	for _, tc := range []struct {
		name             string
		qpType, from, to int32
		mask             int32
		misses           bool
	}{
		{"UC INIT", qptUC, qpsReset, qpsInit, 0x1 | 0x10 | 0x20 | 0x8, false},
		{"UC RTR", qptUC, qpsInit, qpsRTR, 0x1 | 0x80 | 0x100 | 0x100000 | 0x1000, false},
		{"UC RTS", qptUC, qpsRTR, qpsRTS, 0x1 | 0x10000, false},
		{"UD INIT", qptUD, qpsReset, qpsInit, 0x1 | 0x10 | 0x20 | 0x40, false},
		{"RC RTR", qptRC, qpsInit, qpsRTR, 0x1 | 0x80 | 0x100 | 0x100000 | 0x1000 | 0x20000 | 0x8000, false},
		{"RC RTR as UC", qptRC, qpsInit, qpsRTR, 0x1 | 0x80 | 0x100 | 0x100000 | 0x1000, true},
		{"RC RTS", qptRC, qpsRTR, qpsRTS, 0x1 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x2000, false},
		{"RC RTS as UC", qptRC, qpsRTR, qpsRTS, 0x1 | 0x10000, true},
		{"UC RTS as RC", qptUC, qpsRTR, qpsRTS, 0x1 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x2000, true},
	} {
		if got := stepAllowed(tc.qpType, tc.from, tc.to, tc.mask); got == tc.misses {
			t.Errorf("%s: allowed is %v", tc.name, got)
		}
	}
}
