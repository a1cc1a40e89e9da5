package hostfacts

import (
	"context"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Native is the machine that this process runs on.
func Native() *System {
	env := os.Environ()
	progEnv := programEnv(env)
	return &System{
		OS: Linux, Root: "/", Env: env, EUID: os.Geteuid(), Machine: unameMachine(),
		Run: func(ctx context.Context, name string, args ...string) ([]byte, error) {
			return program(ctx, progEnv, name, args...)
		},
		Access: func(path string) error {
			return unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK|unix.W_OK, unix.AT_EACCESS)
		},
		Memlock:    memlock,
		Interfaces: netlinkInterfaces,
	}
}

// netlinkInterfaces dumps links and addresses once each. net.Interface.Addrs
// dumps all addresses for every interface, which a host of many containers feels.
func netlinkInterfaces() ([]NetInterface, error) {
	links, err := netlinkDump(syscall.RTM_GETLINK)
	if err != nil {
		return nil, os.NewSyscallError("netlink getlink", err)
	}
	addrs, err := netlinkDump(syscall.RTM_GETADDR)
	if err != nil {
		return nil, os.NewSyscallError("netlink getaddr", err)
	}
	return joinNetlink(links, addrs), nil
}

func netlinkDump(request int) ([]syscall.NetlinkMessage, error) {
	rib, err := syscall.NetlinkRIB(request, syscall.AF_UNSPEC)
	if err != nil {
		return nil, err
	}
	return syscall.ParseNetlinkMessage(rib)
}

func joinNetlink(links, addrs []syscall.NetlinkMessage) []NetInterface {
	var list []NetInterface
	at := map[int32]int{}
	for _, m := range links {
		if m.Header.Type != syscall.RTM_NEWLINK || len(m.Data) < unix.SizeofIfInfomsg {
			continue
		}
		// struct ifinfomsg: index at 4, flags at 8.
		index, flags := int32(native32(m.Data[4:])), native32(m.Data[8:])
		n := NetInterface{Up: ptr(flags&unix.IFF_UP != 0 && flags&unix.IFF_RUNNING != 0)}
		for _, a := range routeAttrs(&m) {
			if a.Attr.Type == unix.IFLA_IFNAME {
				n.Name = unix.ByteSliceToString(a.Value)
			}
		}
		if n.Name != "" {
			at[index] = len(list)
			list = append(list, n)
		}
	}
	for _, m := range addrs {
		if m.Header.Type != syscall.RTM_NEWADDR || len(m.Data) < unix.SizeofIfAddrmsg {
			continue
		}
		// struct ifaddrmsg: prefix length at 1, index at 4.
		i, ok := at[int32(native32(m.Data[4:]))]
		if !ok {
			continue
		}
		if p, ok := netlinkPrefix(&m); ok {
			list[i].Prefixes = append(list[i].Prefixes, p)
		}
	}
	return list
}

// netlinkPrefix prefers IFA_LOCAL: on a point-to-point link IFA_ADDRESS is the
// other end.
func netlinkPrefix(m *syscall.NetlinkMessage) (netip.Prefix, bool) {
	var local, address []byte
	for _, a := range routeAttrs(m) {
		switch a.Attr.Type {
		case unix.IFA_LOCAL:
			local = a.Value
		case unix.IFA_ADDRESS:
			address = a.Value
		}
	}
	if local == nil {
		local = address
	}
	ip, ok := netip.AddrFromSlice(local)
	if !ok || int(m.Data[1]) > ip.BitLen() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(ip, int(m.Data[1])), true
}

func routeAttrs(m *syscall.NetlinkMessage) []syscall.NetlinkRouteAttr {
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return nil
	}
	return attrs
}
