//go:build !((linux || darwin) && (amd64 || arm64))

package rdma

// canCall says that this system cannot call C: no call gets as far as rawCall.
const canCall = false

func (l *Library) rawCall(uintptr, ...uintptr) (uintptr, int) { return 0, 0 }

func (l *Library) rawHot(_, _, _, _ uintptr) int32 { return -1 }

func (l *Library) rawTurn(*turnBlock) {}
