//go:build linux || darwin || freebsd

package guard

import (
	"fmt"
	"os"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"

	"rdmaprobe/rdma"
)

// pageSize is the size of the shared page; a CallMark must fit.
const pageSize = 4096

const _ = uint(pageSize - unsafe.Sizeof(rdma.CallMark{}))

// page is the memory that parent and child share: the child's CallMark. It
// outlives the child, so the parent can tell in which call it died.
type page struct{ mem []byte }

// newPage makes an empty page and the file that the child maps. The caller
// closes the file.
func newPage() (*page, *os.File, error) {
	f, err := pageFile()
	if err != nil {
		return nil, nil, err
	}
	if err := f.Truncate(pageSize); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("size the shared page: %w", err)
	}
	p, err := mapPage(int(f.Fd()))
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return p, f, nil
}

// unlinkedFile makes a file without a name, readable by nobody else at any time.
func unlinkedFile() (*os.File, error) {
	dir, err := os.MkdirTemp("", "rdmaprobe-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("make the shared page: %w", err)
	}
	defer os.RemoveAll(dir)
	f, err := os.OpenFile(dir+"/page", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the shared page: %w", err)
	}
	return f, nil
}

func mapPage(fd int) (*page, error) {
	mem, err := unix.Mmap(fd, 0, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the shared page: %w", err)
	}
	return &page{mem}, nil
}

func (p *page) close() {
	if p.mem != nil {
		unix.Munmap(p.mem)
		p.mem = nil
	}
}

func (p *page) mark() *rdma.CallMark { return (*rdma.CallMark)(unsafe.Pointer(&p.mem[0])) }

// call is what the page says of the child. Where known is false the child, or
// the library in it, has destroyed the page.
type call struct {
	known bool
	verb  string // "" = not inside a provider call
	calls uint64 // of that verb, begun
}

// inside reports whether the child may be inside a provider call.
func (c call) inside() bool { return !c.known || c.verb != "" }

// read looks at the page, which is hostile: the child can write anything there,
// and truncate the file below the mapping.
func (p *page) read() (c call) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			c = call{}
		}
	}()
	m := p.mark()
	v := m.Verb.Load()
	if v == 0 {
		return call{known: true}
	}
	verbs := rdma.Verbs()
	if int64(v) > int64(min(len(verbs), len(m.Counts))) {
		return call{}
	}
	return call{known: true, verb: verbs[v-1], calls: m.Counts[v-1].Load()}
}
