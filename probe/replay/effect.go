package replay

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// effect is what a rule has to do for a row that did not simply succeed; nil
// where nothing special happened in a provider's call.
func (v *deriving) effect(o *probe.Observation) (rule, error) {
	switch {
	case o.Level != rdma.CapabilityUnknown && o.Level != rdma.CapabilityRejected:
		return nil, nil
	case o.Child != nil && o.Child.Outcome != guard.Completed:
		if o.Reason == probe.Crash || o.Reason == probe.Timeout || o.Reason == probe.Stuck {
			return faultOf(o)
		}
		return nil, nil // an earlier row of a child that ended later
	case o.Reason == probe.SymbolMissing || o.Reason == probe.LibraryMissing:
		return nil, nil
	case o.Return == nil:
		return nil, nil
	}
	return v.failure(rowPath(o), o.Call, o.Return, o.Errno)
}

// faultOf is how the child ended in the row.
func faultOf(o *probe.Observation) (rule, error) {
	if o.Call == "" {
		return nil, cannot(rowPath(o), "the child ended outside of a provider's call: %s", o.Detail)
	}
	exit := o.Child.Exit
	switch {
	case o.Child.Outcome == guard.Stuck:
		return rule{"fault": "stuck"}, nil
	case o.Reason != probe.Crash:
		return rule{"fault": "hang"}, nil
	case strings.Contains(exit, "abort"):
		return rule{"fault": "abort"}, nil
	case exit == "exit status 3":
		return rule{"fault": "exit"}, nil
	}
	return rule{"fault": "crash"}, nil
}

// minusOne are the verbs that fail with -1 and errno; all others that return a
// number return errno itself.
var minusOne = []string{"ibv_query_gid", "ibv_close_device", "ibv_get_cq_event"}

// failure is a call that returned, and said that it failed. A verb that fails as
// its kind does is told by errno's name alone; any other return is taken as it is,
// with errno beside it where the number does not say it already.
func (v *deriving) failure(where, verb string, ret *probe.Return, errno *probe.Errno) (rule, error) {
	named := ""
	if errno != nil {
		if n, ok := rdma.ErrnoNumberOn(v.platform(), errno.Name); ok && n == errno.Number {
			named = errno.Name
		}
	}
	usual := int64(-1)
	if errno != nil && !slices.Contains(minusOne, verb) {
		usual = int64(errno.Number)
	}
	switch {
	case ret.Pointer && (errno == nil || named != ""), named != "" && ret.Number == usual:
		return rule{"errno": named}, nil
	case !ret.Pointer && (errno == nil || ret.Number != -1 && max(ret.Number, -ret.Number) == int64(errno.Number)):
		return rule{"return": ret.Number}, nil
	case !ret.Pointer && named != "":
		return rule{"return": ret.Number, "errno": named}, nil
	}
	return nil, cannot(where, "errno %d has no name on %s, and a profile has names only", errno.Number, v.platform())
}

// errnoText is how our own texts tell of an error: "errno 22 (EINVAL)".
var (
	errnoText  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`errno (\d+)(?: \((E[A-Z0-9]+)\))?`) })
	returnText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`provider returned (-?\d+)`) })
)

// told is the failure of a call that has no row of its own and is only told of in
// the text of another.
func (v *deriving) told(where, verb, text string) (rule, error) {
	ret := &probe.Return{}
	var errno *probe.Errno
	if m := errnoText().FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		errno = &probe.Errno{Number: n, Name: m[2], Platform: v.platform()}
		ret.Number = int64(n)
	}
	if m := returnText().FindStringSubmatch(text); m != nil {
		ret.Number, _ = strconv.ParseInt(m[1], 10, 64)
	}
	if errno == nil && ret.Number == 0 {
		return nil, cannot(where, "its failure is not told in numbers: %s", text)
	}
	return v.failure(where, verb, ret, errno)
}

// number is a JSON number of a row.
func number(x any) (int64, bool) {
	f, ok := x.(float64)
	return int64(f), ok
}
