package probe

import (
	"strconv"
	"strings"

	"rdmaprobe/rdma"
)

// ErrnoExplanation is what an errno number means on one platform, and what is
// known of it in verbs calls there.
type ErrnoExplanation struct {
	Number      int           `json:"number"`
	Name        string        `json:"name"` // "" when the platform has no such number
	Platform    rdma.Platform `json:"platform"`
	Text        string        `json:"text"`
	Unsupported bool          `json:"unsupported"` // it makes a level rejected; no other number does
	Calls       []ErrnoCall   `json:"calls"`
}

// ErrnoCall is an errno as it has been seen of one call.
type ErrnoCall struct {
	Call    string          `json:"call"`
	Meaning string          `json:"meaning"`
	Finding string          `json:"finding,omitempty"` // the code that rdmaprobe raises for it
	On      []rdma.Platform `json:"-"`
}

// errnoPage is what is known of an errno by name.
type errnoPage struct {
	name  string
	text  string
	calls []ErrnoCall
}

var (
	onDarwin = []rdma.Platform{rdma.PlatformDarwin}
	onLinux  = []rdma.Platform{rdma.PlatformLinux}
)

// errnoPages are the errnos that verbs calls are known to end in. Calls without
// platforms are known on both.
var errnoPages = []errnoPage{
	{"EPERM", "operation not permitted", []ErrnoCall{
		{"ibv_open_device", "a container's device rules do not allow the node, even for root", "uverbs_permission_denied", onLinux},
	}},
	{"ENOENT", "no such file or directory", []ErrnoCall{
		{"ibv_open_device", "the device's node in /dev/infiniband is not there", "uverbs_node_missing", onLinux},
	}},
	{"ESRCH", "no such process", []ErrnoCall{
		{"ibv_alloc_pd, ibv_create_cq, ibv_reg_mr, ibv_create_qp", "the port is not ACTIVE", "port_down", onDarwin},
	}},
	{"EIO", "input/output error", nil},
	{"ENXIO", "no such device or address", nil},
	{"ENOMEM", "out of memory, or of something that is counted like memory", []ErrnoCall{
		{"ibv_create_cq, ibv_reg_mr", "the process may not lock that much memory", "memlock_too_low", onLinux},
		{"ibv_reg_mr", "with an unlimited limit and a single page: not a matter of ulimit", "mr_register_enomem", nil},
		{"ibv_reg_mr", "the device's regions are used up by other processes", "mr_pool_exhausted", nil},
		{"ibv_post_recv", "more receives were posted than the queue really takes; the granted depth can be larger than the usable one", "", onDarwin},
	}},
	{"EACCES", "permission denied", []ErrnoCall{
		{"ibv_open_device", "this user may not open the device's node", "uverbs_permission_denied", onLinux},
	}},
	{"EFAULT", "bad address", []ErrnoCall{
		{"ibv_modify_qp to RTR", "seen with valid arguments, when something that is counted per boot was used up; a smaller region went through", "provider_degraded", onDarwin},
		{"ibv_post_recv", "the region was registered after the queue pair's transitions", "", onDarwin},
	}},
	{"EBUSY", "resource busy", []ErrnoCall{
		{"ibv_create_qp", "the device's queue pairs are used up; it stays so until one is released", "qp_pool_exhausted", nil},
		{"ibv_modify_qp to RTR", "the kernel still holds what an earlier program left behind, until a restart", "stale_kernel_resources", onDarwin},
	}},
	{"ENODEV", "no such device", nil},
	{"EINVAL", "invalid argument: something in the request does not fit", []ErrnoCall{
		{"ibv_modify_qp to RTR", "the source GID is missing, not IPv4-mapped, or the index names an empty slot", "gid_no_ipv4_mapped", onDarwin},
		{"ibv_modify_qp to RTR", "no global route (is_global 0) on Ethernet, or a path MTU above the active MTU; on iWARP a plain transition always", "", onLinux},
	}},
	{"ENODATA", "no data available", []ErrnoCall{
		{"ibv_modify_qp to RTR", "the index names an empty GID slot, or protection domains are used up; also seen after hours without traffic, until a restart", "provider_degraded", onDarwin},
	}},
	{"ETIMEDOUT", "the operation timed out", []ErrnoCall{
		{"ibv_modify_qp to RTR", "the peer was not found on the path of the source GID", "rtr_path_timeout", nil},
		{"connect", "the side channel's peer does not answer, or packets leave by another interface", "route_not_via_thunderbolt", nil},
	}},
	{"ECONNREFUSED", "nobody listens there", []ErrnoCall{
		{"connect", "`rdmaprobe serve` does not run on the peer, or on another port", "", nil},
	}},
	{"EHOSTUNREACH", "no route to the host", []ErrnoCall{
		{"connect", "at once, while other programs reach the peer: this program may not use the local network", "control_channel_blocked_local_network", onDarwin},
	}},
	{"ENOSYS", "function not implemented", []ErrnoCall{
		{"ibv_get_device_list", "the kernel has no uverbs: no RDMA module is loaded. For a listing this is unknown, not rejected", "no_rdma_device", onLinux},
	}},
	{"ENOTSUP", "not supported", nil},
	{"EOPNOTSUPP", "operation not supported. The system's own text speaks of a socket; there is none", []ErrnoCall{
		{"ibv_create_qp", "the provider does not have this type of queue pair: Apple's refuses RC and UD in this way, EFA refuses RC and UC", "", nil},
		{"ibv_alloc_pd", "seen on a port that is not ACTIVE", "pd_alloc_failed", onDarwin},
	}},
	{"EPROTONOSUPPORT", "protocol not supported", []ErrnoCall{
		{"ibv_create_qp", "how some providers say that they do not have this type of queue pair", "", onLinux},
	}},
	{"ENETRESET", "the network dropped the connection", nil},
	{"EPFNOSUPPORT", "protocol family not supported", nil},
}

func errnoPageOf(name string) errnoPage {
	for i := range errnoPages {
		if errnoPages[i].name == name {
			return errnoPages[i]
		}
	}
	return errnoPage{}
}

// ExplainErrno says what a number means, on Darwin first and then on Linux:
// the numbers differ, and a text that does not say whose it is proves nothing.
// A negative number counts as its absolute value.
func ExplainErrno(n int) []ErrnoExplanation {
	if n < 0 {
		n = -n
	}
	var out []ErrnoExplanation
	for _, p := range []rdma.Platform{rdma.PlatformDarwin, rdma.PlatformLinux} {
		e := ErrnoExplanation{Number: n, Platform: p, Unsupported: rdma.UnsupportedErrnoOn(p, n), Calls: []ErrnoCall{}}
		name := rdma.ErrnoNameOn(p, n)
		if strings.HasPrefix(name, "E") {
			e.Name = name
		}
		page := errnoPageOf(e.Name)
		e.Text = page.text
		switch {
		case e.Name == "":
			e.Text = "there is no such number"
		case e.Text == "":
			e.Text = "nothing is known of it in verbs calls"
		}
		for _, c := range page.calls {
			if len(c.On) == 0 || c.On[0] == p {
				e.Calls = append(e.Calls, c)
			}
		}
		out = append(out, e)
	}
	return out
}

// ExplainErrnoText says what a number or a name means. A name is told with each
// platform's own number, a number for both platforms. Empty when it is neither.
func ExplainErrnoText(text string) []ErrnoExplanation {
	numbers := ParseErrno(text)
	_, err := strconv.Atoi(text)
	var out []ErrnoExplanation
	for _, n := range numbers {
		if n == 0 {
			continue
		}
		for _, e := range ExplainErrno(n) {
			if own, known := rdma.ErrnoNumberOn(e.Platform, strings.ToUpper(text)); err == nil || known && own == n {
				out = append(out, e)
			}
		}
	}
	return out
}

// ParseErrno reads a number or a name, in either platform's spelling: 102 or
// EOPNOTSUPP. A name that has several numbers gives each of them.
func ParseErrno(text string) []int {
	if n, err := strconv.Atoi(text); err == nil {
		return []int{n}
	}
	var numbers []int
	for _, p := range []rdma.Platform{rdma.PlatformDarwin, rdma.PlatformLinux} {
		if n, ok := rdma.ErrnoNumberOn(p, strings.ToUpper(text)); ok && (len(numbers) == 0 || numbers[0] != n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
