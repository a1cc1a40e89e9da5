//go:build unix

package hostfacts

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// seed adds the outputs of a program in all fixtures and fails without any.
func seed(f *testing.F, prefix string) {
	f.Helper()
	n := 0
	for _, file := range fixtures(f, MacOS) {
		for _, e := range archive(f, file) {
			if strings.HasPrefix(e.name, "run/"+prefix) {
				f.Add(e.data)
				n++
			}
		}
	}
	if n == 0 {
		f.Fatalf("no fixture has an output of %q", prefix)
	}
}

// safe fails when any string in v could harm a terminal or grow without bound.
func safe(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			t.Errorf("unsafe text %q", s)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			safe(t, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			safe(t, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			safe(t, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			safe(t, k)
			safe(t, v.MapIndex(k))
		}
	}
}

func checkValue(t *testing.T, v any) {
	t.Helper()
	safe(t, reflect.ValueOf(v))
	if _, err := json.Marshal(v); err != nil {
		t.Error(err)
	}
}

func FuzzProfiler(f *testing.F) {
	seed(f, "system_profiler")
	f.Fuzz(func(t *testing.T, b []byte) {
		tb, err := parseProfiler(b)
		if (tb == nil) != (err != nil) {
			t.Fatalf("%v with error %v", tb, err)
		}
		if tb != nil {
			checkValue(t, tb)
			if len(tb.Links) > maxLinks {
				t.Error(len(tb.Links))
			}
		}
	})
}

func FuzzIfconfig(f *testing.F) {
	seed(f, "ifconfig")
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseIfconfig(b)
		if err == nil && len(c.interfaces) == 0 || err != nil && c.interfaces != nil {
			t.Fatalf("%d interfaces with error %v", len(c.interfaces), err)
		}
		checkValue(t, c.interfaces)
		checkValue(t, c.bridges)
	})
}

func FuzzNetstat(f *testing.F) {
	seed(f, "netstat")
	f.Fuzz(func(t *testing.T, b []byte) {
		routes, err := parseNetstat(b)
		if (routes == nil) != (err != nil) || len(routes) > maxRoutes {
			t.Fatalf("%d routes with error %v", len(routes), err)
		}
		checkValue(t, routes)
	})
}

func FuzzIOReg(f *testing.F) {
	seed(f, "ioreg")
	f.Fuzz(func(t *testing.T, b []byte) {
		procs, err := holdersIn(string(b))
		if (procs == nil) != (err != nil) || len(procs) > maxProcesses {
			t.Fatalf("%d processes with error %v", len(procs), err)
		}
		for _, p := range procs {
			if p.PID <= 0 {
				t.Errorf("pid %d", p.PID)
			}
		}
		checkValue(t, procs)
	})
}

func FuzzLogShow(f *testing.F) {
	seed(f, "log show")
	f.Fuzz(func(t *testing.T, b []byte) {
		kept, err := parseLogShow(b)
		if (kept == nil) != (err != nil) || len(kept) > maxLogLines {
			t.Fatalf("%d lines with error %v", len(kept), err)
		}
		checkValue(t, kept)
	})
}

// FuzzShortOutputs covers the parsers of programs that print a few lines.
func FuzzShortOutputs(f *testing.F) {
	seed(f, "rdma_ctl")
	seed(f, "networksetup")
	seed(f, "ioclasscount")
	seed(f, "ipconfig")
	f.Fuzz(func(t *testing.T, b []byte) {
		if s := parseRDMACtl(b); s != "" && s != "enabled" && s != "disabled" {
			t.Errorf("rdma_ctl %q", s)
		}
		ports, _ := parseHardwarePorts(b)
		checkValue(t, ports)
		checkValue(t, parseClassCount(b))
		parseManual(b)
	})
}

// sysfsFiles are the files whose content FuzzSysfs chooses, one a line.
var sysfsFiles = []string{
	"sys/class/infiniband/dev0/node_guid", "sys/class/infiniband/dev0/node_type", "sys/class/infiniband/dev0/parent",
	"sys/class/infiniband/dev0/ports/1/state", "sys/class/infiniband/dev0/ports/1/phys_state",
	"sys/class/infiniband/dev0/ports/1/rate", "sys/class/infiniband/dev0/ports/1/link_layer",
	"sys/class/infiniband/dev0/ports/1/gids/0", "sys/class/infiniband/dev0/ports/1/gid_attrs/types/0",
	"sys/class/infiniband/dev0/ports/1/gid_attrs/ndevs/0", "sys/class/infiniband_verbs/uverbs0/ibdev",
	"sys/class/infiniband_verbs/uverbs0/abi_version", "proc/modules", "proc/net/route", "proc/net/ipv6_route",
	"etc/libibverbs.d/x.driver", "etc/security/limits.conf", "proc/cpuinfo", "proc/uptime",
	"sys/bus/thunderbolt/devices/0-1/unique_id", "sys/bus/thunderbolt/devices/0-1/rx_speed", "usr/lib/libibverbs.so.1",
}

// FuzzSysfs spreads its input over a tree of files, separated by NUL.
func FuzzSysfs(f *testing.F) {
	n := 0
	for _, file := range fixtures(f, Linux) {
		content := make([]string, len(sysfsFiles))
		for _, e := range archive(f, file) {
			for i, name := range sysfsFiles {
				if path := strings.TrimPrefix(e.name, "root/"); filepath.Base(path) == filepath.Base(name) {
					content[i] = string(e.data)
					n++
				}
			}
		}
		f.Add([]byte(strings.Join(content, "\x00")))
	}
	if n == 0 {
		f.Fatal("no fixture has any of the files")
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		files := map[string]string{}
		for i, text := range strings.SplitN(string(b), "\x00", len(sysfsFiles)) {
			files[sysfsFiles[i]] = text
		}
		s := tree(t, files, "")
		h, missing := Collect(t.Context(), s)
		checkValue(t, h)
		checkValue(t, missing)
		if _, ok := h.Sysfs["dev0"]; !ok || h.Routes != nil && len(h.Routes) > 2*maxRoutes {
			t.Errorf("device lost: %+v", h)
		}
	})
}
