//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"bytes"
	"os"
	"sync"
	"syscall"

	"github.com/ebitengine/purego"
)

// libcAddress caches dlsym: the C library's functions do not move.
var libcAddress sync.Map // string: uintptr

// libc calls a function of the C library, in C: what happens in it happens as
// it would in a provider's own code.
func libc(name string, args ...uintptr) uintptr {
	a, ok := libcAddress.Load(name)
	if !ok {
		address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
		if err != nil {
			panic("sim: the C library has no " + name)
		}
		a, _ = libcAddress.LoadOrStore(name, address)
	}
	r, _, _ := purego.SyscallN(a.(uintptr), args...)
	return r
}

// crash reads through NULL in C. Go reports it as a fault during a C call, no
// recover catches it.
func crash() { libc("strlen", 0) }

// block never returns: it waits in C, where only a signal that kills ends it.
func block() {
	for {
		libc("pause")
	}
}

// The values of the enum faults.
const (
	faultCrash = iota + 1
	faultAbort
	faultExit
	faultHang
	faultHangTerm
	faultStuck
	faultGrandchild
)

// suffer plays a fault. Only a grandchild lets the call go on. No lock may be
// held.
func (p *Provider) suffer(f fault) {
	switch f {
	case faultCrash:
		crash()
	case faultAbort:
		libc("abort")
	case faultExit:
		libc("exit", 3)
	case faultHang:
		block()
	case faultHangTerm, faultStuck:
		if p.options.OnFault != nil {
			p.options.OnFault(faults.name(int32(f)))
		}
		block()
	case faultGrandchild:
		leaveGrandchild()
	}
}

// leaveGrandchild starts a process that holds this one's standard output, error
// and message pipe open for half a minute.
func leaveGrandchild() {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return
	}
	defer null.Close()
	files := []uintptr{null.Fd(), 1, 2}
	var st syscall.Stat_t
	if syscall.Fstat(3, &st) == nil {
		files = append(files, 3)
	}
	pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "30"}, &syscall.ProcAttr{Files: files})
	if err == nil {
		go reap(pid)
	}
}

// reap collects the grandchild when it ends before this process does.
func reap(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// outputChunk is how much is written at once.
const outputChunk = 32 << 10

// print writes what a rule says on the raw descriptors, as a C library would.
func (r *rule) print() {
	repeat := 1
	if r.Repeat != nil {
		repeat = *r.Repeat
	}
	writeRaw(1, r.Stdout, repeat)
	writeRaw(3, r.FD3, repeat)
	if r.Stderr != "" {
		writeRaw(2, r.Stderr+"\n", repeat)
	}
}

// writeRaw writes text repeat times, and gives up at the first error.
func writeRaw(fd int, text string, repeat int) {
	if text == "" {
		return
	}
	per := max(1, outputChunk/len(text))
	chunk := bytes.Repeat([]byte(text), min(per, repeat))
	for repeat > 0 {
		n := min(per, repeat)
		if !writeAll(fd, chunk[:n*len(text)]) {
			return
		}
		repeat -= n
	}
}

func writeAll(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}
