package hostfacts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sort"
	"time"
)

// CollectLimit is how long Collect takes at most, whatever the machine does.
const CollectLimit = 8 * time.Second

// part is what one source found: facts to put into the host, and what it could
// not read. A source never touches the host itself, since it may still be
// running when the host has been handed out.
type part struct {
	apply   func(*Host)
	missing []NotRead
}

func (p *part) miss(fact, source, why string) {
	p.missing = append(p.missing, NotRead{Fact: fact, Source: source, Why: clean(why)})
}

func (p *part) fail(fact, source string, err error) { p.miss(fact, source, reason(err)) }

// reason is the error as a person reads it in the list of what was not read.
func reason(err error) string {
	switch {
	case errors.Is(err, errNoRun):
		return err.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist here"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read it"
	case errors.Is(err, errLeft):
		return "it did not answer in time and could not be killed"
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	}
	return err.Error()
}

// source is one place that facts come from. Facts names what is missing when
// the source does not come back in time.
type source struct {
	name  string
	facts []string
	read  func(ctx context.Context, s *System) part
}

// Collect reads everything: what Quick reads, and the slow rest. It returns
// within CollectLimit, or by ctx's deadline when that is earlier; a source that
// is not done by then is listed as not read. The list is sorted by fact.
func Collect(ctx context.Context, s *System) (*Host, []NotRead) {
	ctx, cancel := context.WithTimeout(ctx, CollectLimit)
	defer cancel()
	sources := append([]source{{
		name: "files and system calls", facts: []string{"host"},
		read: func(_ context.Context, s *System) part {
			h, missing := quick(s)
			return part{apply: func(into *Host) { *into = *h }, missing: missing}
		},
	}}, slowSources(s.OS)...)
	return gather(ctx, s, sources)
}

// gather runs the sources side by side and applies their parts in the order of
// the list, so that the result does not depend on who was first.
func gather(ctx context.Context, s *System, sources []source) (*Host, []NotRead) {
	type answer struct {
		index int
		part  part
	}
	answers := make(chan answer, len(sources)) // a late source must not block for ever
	for i, src := range sources {
		go func() { answers <- answer{i, src.read(ctx, s)} }()
	}
	parts := make([]*part, len(sources))
	for range sources {
		select {
		case a := <-answers:
			parts[a.index] = &a.part
			continue
		case <-ctx.Done():
		}
		break
	}
	for drained := false; !drained; {
		select {
		case a := <-answers:
			parts[a.index] = &a.part
		default:
			drained = true
		}
	}
	h := &Host{}
	var missing []NotRead
	for i, src := range sources {
		if parts[i] == nil {
			for _, fact := range src.facts {
				missing = append(missing, NotRead{Fact: fact, Source: src.name, Why: "it did not answer in time"})
			}
			continue
		}
		if parts[i].apply != nil {
			parts[i].apply(h)
		}
		missing = append(missing, parts[i].missing...)
	}
	sort.SliceStable(missing, func(i, j int) bool { return missing[i].Fact < missing[j].Fact })
	return h, missing
}

// Quick reads the cheap facts only: files and system calls, no program, no long
// file. It opens no device. What it cannot read is absent.
func Quick(s *System) *Host {
	h, _ := quick(s)
	return h
}

func quick(s *System) (*Host, []NotRead) {
	h, p := &Host{}, &part{}
	switch s.OS {
	case Linux:
		quickLinux(s, h, p)
	case MacOS:
		quickMacOS(s, h, p)
	default:
		p.miss("host", runtime.GOOS, "host facts are read on macOS and Linux only")
	}
	return h, p.missing
}

func slowSources(os string) []source {
	switch os {
	case Linux:
		return linuxSources()
	case MacOS:
		return macOSSources()
	}
	return nil
}

// BootID names this boot of the machine; "" when it cannot be read. Linux:
// /proc/sys/kernel/random/boot_id (random(4)); macOS: kern.bootsessionuuid.
func BootID(s *System) string {
	switch s.OS {
	case Linux:
		return s.text("proc/sys/kernel/random/boot_id")
	case MacOS:
		return s.sysctlText("kern.bootsessionuuid")
	}
	return ""
}

// common reads what both systems have.
func common(s *System, h *Host, p *part) {
	if s.EUID >= 0 {
		h.EUID = ptr(s.EUID)
	}
	h.Env = rdmaEnv(s.Env)
	if s.Memlock == nil {
		p.miss("memlock_kib", "getrlimit", "not available")
	} else if kib, err := s.Memlock(); err != nil {
		p.fail("memlock_kib", "getrlimit", err)
	} else {
		h.MemlockKiB = ptr(kib)
	}
	if s.Interfaces == nil {
		p.miss("interfaces", "network interfaces", "not available")
	} else if list, err := s.interfaces(); err != nil {
		p.fail("interfaces", "network interfaces", err)
	} else {
		h.Interfaces = interfaces(list)
	}
}

// archName translates uname -m into Go's name; another one stays as it is.
func archName(machine string) string {
	switch machine {
	case "x86_64", "amd64":
		return "amd64"
	case "aarch64", "arm64":
		return "arm64"
	}
	return clean(machine)
}

// missFile lists a file of which a fact stands, when it could not be read.
func (p *part) missFile(fact string, file string, err error) {
	p.miss(fact, "/"+file, reason(fmt.Errorf("read: %w", err)))
}
