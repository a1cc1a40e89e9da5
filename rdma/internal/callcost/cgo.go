//go:build bench && cgo && linux

package callcost

/*
#include <stdint.h>

static int quiet3(void *a, uintptr_t b, uintptr_t c) { return 0; }
static uintptr_t quiet(void) { return (uintptr_t)quiet3; }

// As the inline functions of verbs.h do: jump through a table of the object.
static int call3(uintptr_t fn, uintptr_t a, uintptr_t b, uintptr_t c)
{
	return ((int (*)(uintptr_t, uintptr_t, uintptr_t))fn)(a, b, c);
}
#cgo noescape call3
#cgo nocallback call3
*/
import "C"

// quiet is the address of a C function of three arguments that returns 0.
var quiet = uintptr(C.quiet())

// cgoCall calls fn by cgo, with both of its promises made: noescape, nocallback.
func cgoCall(fn, a, b, c uintptr) int {
	return int(C.call3(C.uintptr_t(fn), C.uintptr_t(a), C.uintptr_t(b), C.uintptr_t(c)))
}
