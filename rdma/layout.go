package rdma

import (
	"fmt"
	"strings"

	"rdmaprobe/rdma/internal/abi"
)

// layoutRow is one struct, or one field of the struct above it. golden is what
// Apple's SDK header and rdma-core's say on LP64. Behind a pthread_mutex_t,
// whose size is the only difference between systems, it counts without the mutex.
type layoutRow struct {
	c      string
	golden uintptr
	behind bool // a mutex lies before it
	actual uintptr
}

// expected is the golden number on a system with the given mutex size.
func (r layoutRow) expected(mutex uintptr) uintptr {
	if r.behind {
		return r.golden + mutex
	}
	return r.golden
}

// isStruct tells a struct's row from a field's.
func (r layoutRow) isStruct() bool { return strings.Contains(r.c, " ") }

// Layout is a struct, or one field of it, as this package mirrors it.
type Layout struct {
	Struct string  // "struct ibv_qp"
	Field  string  // "qp_num"; "" is the struct itself
	Want   uintptr // offset in bytes as infiniband/verbs.h has it on this system, of a struct its size
	Have   uintptr // the same of the Go type
}

// Layouts are all of them. Where Want and Have differ the build is broken: what
// it would read from a provider is not what the provider wrote.
func Layouts() []Layout {
	all := make([]Layout, 0, len(layout))
	in := ""
	for _, r := range layout {
		l := Layout{Field: r.c, Want: r.expected(abi.MutexSize), Have: r.actual}
		if r.isStruct() {
			in, l.Field = r.c, ""
		}
		l.Struct = in
		all = append(all, l)
	}
	return all
}

// claim is a C expression and the number it must have.
type claim struct {
	expr string
	want int64
}

// layoutClaims are the layouts as claims about a header.
func layoutClaims() []claim {
	var claims []claim
	for _, l := range Layouts() {
		expr := fmt.Sprintf("offsetof(%s, %s)", l.Struct, l.Field)
		if l.Field == "" {
			expr = fmt.Sprintf("sizeof(%s)", l.Struct)
		}
		if l.Struct == "struct ibv_port_attr" && l.Field == "" { // newer headers append active_speed_ex, for which roomFor leaves space
			expr = "sizeof(struct ibv_port_attr) == 56 ? 52 : " + expr
		}
		claims = append(claims, claim{expr, int64(l.Have)})
	}
	return claims
}

// claimsSource is a C file that compiles when every claim holds. Nothing is to
// be run, so that the header of a foreign architecture can be asked too.
func claimsSource(claims []claim) string {
	var text strings.Builder
	text.WriteString("#include <stddef.h>\n#include <infiniband/verbs.h>\n")
	for _, c := range claims {
		fmt.Fprintf(&text, "_Static_assert((long long)(%s) == %d, \"%s is not %d\");\n", c.expr, c.want, c.expr, c.want)
	}
	return text.String()
}

// HeaderChecks is a C file that compiles (-std=gnu11) where infiniband/verbs.h has
// the layout of this package's types. A compiler's complaint names the field.
func HeaderChecks() string { return claimsSource(layoutClaims()) }
