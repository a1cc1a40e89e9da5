package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// dialLimit is how long a control connection may take to come up.
const dialLimit = 5 * time.Second

// dialControl connects to the other host, and tells how that went.
func dialControl(ctx context.Context, target string, port int) (*net.TCPConn, *sideChannel, error) {
	return dialOver(ctx, "", target, port)
}

// dialOver is dialControl by one interface and no other; "" is any.
func dialOver(ctx context.Context, iface, target string, port int) (*net.TCPConn, *sideChannel, error) {
	host, num, err := peer.SplitTarget(target, port)
	if err != nil {
		return nil, nil, err
	}
	address := net.JoinHostPort(host, strconv.Itoa(num))
	f := &ControlFacts{PeerName: host}
	start := time.Now()
	d := net.Dialer{Timeout: dialLimit, Control: peer.BindTo(iface)}
	c, err := d.DialContext(ctx, "tcp", address)
	f.Elapsed = time.Since(start)
	if err != nil {
		f.dialFailed(err, host, num)
		why := err.Error()
		if zone := peer.NoInterface(host); zone != "" {
			why = fmt.Sprintf("there is no interface %s here (%s)", zone, why)
		}
		if iface != "" {
			why = "by " + iface + ": " + why
		}
		return nil, &sideChannel{facts: f, why: why}, nil
	}
	f.ends(peer.AddrOf(c.LocalAddr()), peer.AddrOf(c.RemoteAddr()))
	return c.(*net.TCPConn), &sideChannel{facts: f}, nil
}

// ends fills in where a connection goes.
func (f *ControlFacts) ends(local, remote netip.Addr) {
	f.Peer, f.Local, f.Interface = remote.Unmap().WithZone("").String(), local.Unmap().WithZone("").String(), peer.InterfaceOf(local)
}

// dialFailed fills in what is known of a connection that there is not: the error
// number, and the way that a packet would take.
func (f *ControlFacts) dialFailed(err error, host string, num int) {
	var n syscall.Errno
	if errors.As(err, &n) && n != 0 {
		p := hostPlatform()
		f.Errno = &Errno{Number: int(n), Name: rdma.ErrnoNameOn(p, int(n)), Platform: p}
	}
	var to *net.OpError
	if errors.As(err, &to) && to.Addr != nil {
		if t, ok := to.Addr.(*net.TCPAddr); ok {
			f.Peer = t.AddrPort().Addr().Unmap().WithZone("").String()
			if u, err := net.Dial("udp", t.AddrPort().String()); err == nil { // sends nothing
				f.Local = u.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap().WithZone("").String()
				f.Interface = peer.InterfaceOf(u.LocalAddr().(*net.UDPAddr).AddrPort().Addr())
				u.Close()
			}
		}
	}
	if f.Errno != nil && f.Errno.Name == "EHOSTUNREACH" && runtime.GOOS == "darwin" {
		f.OtherProgramConnects = otherConnects(host, num)
	}
}

// otherConnects tries the same with a program of the system's, which the Local
// Network privacy of macOS does not bind.
func otherConnects(host string, num int) *bool {
	ctx, cancel := context.WithTimeout(context.Background(), dialLimit)
	defer cancel()
	err := exec.CommandContext(ctx, "/usr/bin/nc", "-z", "-G", "2", host, strconv.Itoa(num)).Run()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return nil // it did not run
	}
	yes := err == nil
	return &yes
}

// hostPlatform is whose error numbers this machine's own calls return.
func hostPlatform() rdma.Platform {
	if runtime.GOOS == "darwin" {
		return rdma.PlatformDarwin
	}
	return rdma.PlatformLinux
}

// hello is how this host introduces itself.
func (r *run) hello(role, token string) peer.Hello {
	name, _ := os.Hostname()
	return peer.Hello{
		Version: peer.Version, Role: role, Token: token, Tool: peer.Text(r.doc.Tool.Name + " " + r.doc.Tool.Version),
		OS: r.facts.OS, OSBuild: peer.Text(r.facts.OSBuild), Host: peer.Text(name),
	}
}

// greet opens a session on a new connection.
func (r *run) greet(c *peer.Conn) (peer.Hello, peer.Ports, error) {
	if err := c.Send(peer.TypeHello, r.hello(peer.RoleSession, ""), peer.HelloLimit); err != nil {
		return peer.Hello{}, peer.Ports{}, err
	}
	h, err := peer.Expect[peer.Hello](c, peer.TypeHello, peer.HelloLimit)
	if err != nil {
		return h, peer.Ports{}, err
	}
	ports, err := peer.Expect[peer.Ports](c, peer.TypePorts, peer.StepLimit)
	return h, ports, err
}

// useChannel keeps the facts of the first control connection of a run.
func (r *run) useChannel(s *sideChannel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.channel == nil {
		r.channel = s
	}
}

// addPeer keeps what another end announced.
func (r *run) addPeer(device string, h peer.Hello, p *peer.Port) {
	f := PeerFacts{Device: device, Host: h.Host, OS: h.OS, OSBuild: h.OSBuild}
	if p != nil {
		f.ActiveMTU = p.MTU
		if a, err := netip.ParseAddr(p.GID); err == nil {
			f.GIDs = []GID{{Index: p.GIDIndex, GID: p.GID, Class: gidClass(a), Type: p.GIDType}}
			f.GIDIndex = &p.GIDIndex
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peersSeen = append(r.peersSeen, f)
}

// askPeerHello is doctor's part: does the control port answer, and who is there.
func (r *run) askPeerHello() {
	t, side, err := dialControl(r.ctx, r.opts.Peer, peer.DefaultPort)
	if err != nil {
		r.note(fmt.Sprintf("--peer %s: %v", r.opts.Peer, err)) // checked with the options
		return
	}
	r.useChannel(side)
	if t == nil {
		r.note(fmt.Sprintf("--peer %s: failed: %s", printable(r.opts.Peer), printable(side.why)))
		return
	}
	defer t.Close()
	c := peer.NewConn(t, nil)
	h, ports, err := r.greet(c)
	if err != nil {
		r.note(fmt.Sprintf("the control port of %s takes connections, and no rdmaprobe serve answers there: %v", side.facts.PeerName, err))
		return
	}
	r.note(fmt.Sprintf("--peer %s: checked: rdmaprobe serve answers there", printable(r.opts.Peer)))
	if len(ports.Ports) == 0 {
		r.addPeer("", h, nil)
	}
	for i := range ports.Ports {
		r.addPeer("", h, &ports.Ports[i])
	}
	_ = c.Send(peer.TypeBye, empty{}, peer.StepLimit) // it sees the end of the connection too
}
