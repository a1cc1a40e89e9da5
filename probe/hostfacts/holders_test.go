package hostfacts

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Holders asks one program for every class, on macOS only, and says which question
// got no answer.
func TestHolders(t *testing.T) {
	asked := 0
	s := &System{OS: MacOS, Run: func(context.Context, string, ...string) ([]byte, error) {
		asked++
		return nil, errors.New("no such program")
	}}
	if p, missing := Holders(t.Context(), s); p != nil || len(missing) != len(holderClasses) || missing[0].Fact != "rdma_processes" || asked != len(holderClasses) {
		t.Errorf("%v, %v after %d calls", p, missing, asked)
	}
	s.Run = func(context.Context, string, ...string) ([]byte, error) { return []byte("\n"), nil }
	if p, missing := Holders(t.Context(), s); len(p) != 0 || len(missing) != 0 {
		t.Errorf("nobody holds one: %v, %v", p, missing)
	}
	s.OS = "linux"
	if p, missing := Holders(t.Context(), s); p != nil || missing != nil {
		t.Errorf("linux: %v, %v", p, missing)
	}
}

// A client counts once, whoever finds it. Whom only the last question finds holds
// something that no other has a name for: perhaps a device of ours.
func TestHoldersOfOtherProviders(t *testing.T) {
	client := func(id, creator string) string {
		return "+-o IORDMAFamilyUC  <class IORDMAFamilyUC, id 0x" + id + ", active>\n  {\n    \"IOUserClientCreator\" = \"" + creator + "\"\n  }\n"
	}
	device := func(name, class, clients string) string {
		return "+-o " + name + "  <class " + class + ", id 0x1, active>\n" + strings.ReplaceAll("\n"+clients, "\n", "\n  ")
	}
	apple := device("rdma_en3", "AppleThunderboltRDMAInterface", client("a", "pid 1, one")+client("b", "pid 2, two"))
	other := device("rdma_mcrdma0", "ExampleInterface", client("c", "pid 2, two")+client("d", "pid 3, three"))
	unknown := client("a", "pid 1, one") + client("c", "pid 2, two") + client("e", "pid 4, four") + client("f", "pid 3, three")
	got, err := holdersIn(apple, other, unknown)
	want := []Process{
		{PID: 1, Command: "one", Devices: []string{"rdma_en3"}},
		{PID: 2, Command: "two", Devices: []string{"rdma_en3", "rdma_mcrdma0"}},
		{PID: 3, Command: "three"},
		{PID: 4, Command: "four"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}
