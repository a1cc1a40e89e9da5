package peer

import (
	"net"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// BindTo keeps a socket on one interface: choosing its source address alone does
// not choose the way out.
func BindTo(iface string) func(network, address string, c syscall.RawConn) error {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return nil
	}
	return func(network, _ string, c syscall.RawConn) error {
		level, option := unix.IPPROTO_IP, unix.IP_BOUND_IF
		if strings.HasSuffix(network, "6") {
			level, option = unix.IPPROTO_IPV6, unix.IPV6_BOUND_IF
		}
		var serr error
		if err := c.Control(func(fd uintptr) { serr = unix.SetsockoptInt(int(fd), level, option, i.Index) }); err != nil {
			return err
		}
		return serr
	}
}
