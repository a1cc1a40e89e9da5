package rdma

import (
	"errors"
	"testing"
)

// The reference's errors have these fields and no others, so that a program may
// convert, compare and write them.
type (
	referenceProviderError struct {
		Operation   string
		Device      string
		Context     RDMAContext
		ContextOpen bool
		Failure     FailureClass
		Input       string
		Result      string
		Return      int64
		ReturnSet   bool
		Errno       int
		ErrnoSet    bool
		Cause       error
	}
	referenceModifyQPError struct {
		Transition string
		Device     string
		QPN        uint32
		Mask       int
		Attr       IbvQPAttr
		Return     int
		Cause      error
	}
)

var (
	_ = ProviderError(referenceProviderError{})
	_ = ModifyQPError(referenceModifyQPError{})
	_ = ProviderError{"", "", 0, false, "", "", "", 0, false, 0, false, nil}
	_ = ModifyQPError{"", "", 0, 0, IbvQPAttr{}, 0, nil}
	_ = IbvQPCap{1, 2, 3, 4, 5}
	_ = IbvQPInitAttr{0, 0, 0, 0, IbvQPCap{}, IBV_QPT_UC, 1}
	_ = IbvSGE{0, 1, 2}
	_ = ProviderError{} == ProviderError{}
	_ = ModifyQPError{} == ModifyQPError{}
)

// An error is the literal that the reference's is, from a Mac's library with Apple's
// numbers; from another the cause says whose number it is.
func TestErrorsCompareAsLiterals(t *testing.T) {
	got := outcome{lib: &Library{platform: PlatformDarwin}, verb: verbAllocPD, device: "rdma_en3", context: 0x5000}.
		failure(FailureNilProviderResult, 0, 102)
	want := ProviderError{
		Operation: "ibv_alloc_pd", Device: "rdma_en3", Context: 0x5000, ContextOpen: true, Failure: FailureNilProviderResult,
		Result: "protection domain", ReturnSet: true, Errno: 102, ErrnoSet: true, Cause: ErrNilProviderResult,
	}
	if *got != want {
		t.Errorf("%#v is not %#v", *got, want)
	}
	if e := nilInput(verbAllocPD, 0, "context handle"); *e != (ProviderError{Operation: "ibv_alloc_pd", Failure: FailureNilInput, Input: "context handle", Cause: ErrNilInput}) {
		t.Errorf("%#v", *e)
	}
}

// Whose number an error has does not change when another library is installed, and
// survives a copy.
func TestErrorsKeepTheirPlatform(t *testing.T) {
	for platform, want := range map[Platform]string{
		PlatformDarwin: "ibv_modify_qp: provider returned 102: errno 102 (EOPNOTSUPP)",
		PlatformLinux:  "ibv_modify_qp: provider returned 102: errno 102 (ENETRESET)",
	} {
		e := *outcome{lib: &Library{platform: platform}, verb: verbModifyQP}.failure(FailureProviderStatus, 102, 102)
		for _, other := range []Platform{PlatformLinux, PlatformDarwin} {
			restore := Use(NewLibrary(LibraryConfig{Platform: other}))
			if got := e.Error(); got != want {
				t.Errorf("%s, beside %s: %q, want %q", platform, other, got, want)
			}
			restore()
		}
		if e.Unwrap() != ErrProviderStatus || !errors.Is(e.Cause, ErrProviderStatus) || e.Cause.Error() != ErrProviderStatus.Error() {
			t.Errorf("%s: cause %#v, which unwraps to %v", platform, e.Cause, e.Unwrap())
		}
	}
	byHand := &ProviderError{Failure: FailureProviderStatus, Errno: 102, ErrnoSet: true}
	restore := Use(NewLibrary(LibraryConfig{Platform: PlatformLinux}))
	if got := byHand.Error(); got != "rdma: provider returned an error: errno 102 (ENETRESET)" || byHand.Unwrap() != ErrProviderStatus {
		t.Errorf("%q", got)
	}
	restore()
}

// Where nothing was called nothing was returned.
func TestModifyQPErrorOfNothingCalled(t *testing.T) {
	rc, err := IbvModifyQpAttr(0, nil, IBV_QP_STATE)
	var e *ModifyQPError
	if !errors.As(NewModifyQPError(0, nil, IBV_QP_STATE, rc, err), &e) || rc != 0 || e.Return != 0 {
		t.Errorf("%d, %#v", rc, e)
	}
	if !errors.As(NewModifyQPError(0, nil, IBV_QP_STATE, -1, err), &e) || e.Return != 0 || !errors.Is(e, ErrNilInput) {
		t.Errorf("%#v", e)
	}
	if err := IbvModifyQpToErr(0); !errors.As(err, &e) || e.Return != 0 || !errors.Is(err, ErrNilInput) {
		t.Errorf("to ERR: %#v", err)
	}
}
