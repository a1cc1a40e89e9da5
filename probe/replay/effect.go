package replay

import (
	"regexp"
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
	return v.failure(rowPath(o), o.Return, o.Errno)
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

// failure is a call that returned, and said that it failed. A verb that returns
// the number says it by errno's name where the two are one; any other return is
// taken as it is.
func (v *deriving) failure(where string, ret *probe.Return, errno *probe.Errno) (rule, error) {
	named := ""
	if errno != nil {
		if n, ok := rdma.ErrnoNumberOn(v.platform(), errno.Name); ok && n == errno.Number {
			named = errno.Name
		}
	}
	switch {
	case ret.Pointer && (errno == nil || named != ""):
		return rule{"errno": named}, nil
	case ret.Pointer:
		return nil, cannot(where, "errno %d has no name on %s, and a profile has names only", errno.Number, v.platform())
	case named != "" && (ret.Number == int64(errno.Number) || ret.Number == -1):
		return rule{"errno": named}, nil
	}
	return rule{"return": ret.Number}, nil
}

// errnoText is how our own texts tell of an error: "errno 22 (EINVAL)".
var (
	errnoText  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`errno (\d+)(?: \((E[A-Z0-9]+)\))?`) })
	returnText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`provider returned (-?\d+)`) })
)

// told is the failure of a call that has no row of its own and is only told of in
// the text of another.
func (v *deriving) told(where, text string) (rule, error) {
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
	return v.failure(where, ret, errno)
}

// number is a JSON number of a row.
func number(x any) (int64, bool) {
	f, ok := x.(float64)
	return int64(f), ok
}
