package hostfacts

import (
	"context"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// Native is the machine that this process runs on.
func Native() *System {
	env := os.Environ()
	progEnv := programEnv(env)
	return &System{
		OS: MacOS, Root: "/", Env: env, EUID: os.Geteuid(), Machine: unameMachine(),
		Run: func(ctx context.Context, name string, args ...string) ([]byte, error) {
			return program(ctx, progEnv, name, args...)
		},
		Sysctl:     func(name string) ([]byte, error) { return unix.SysctlRaw(name) },
		Access:     func(path string) error { return unix.Access(path, unix.R_OK|unix.W_OK) },
		Memlock:    memlock,
		Interfaces: netInterfaces,
	}
}

func netInterfaces() ([]NetInterface, error) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var list []NetInterface
	for _, i := range ifs {
		n := NetInterface{Name: i.Name, Up: macUp(i.Flags)}
		addrs, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				n.Prefixes = append(n.Prefixes, p)
			}
		}
		list = append(list, n)
	}
	return list, nil
}
