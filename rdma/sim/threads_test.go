//go:build (darwin || linux) && (amd64 || arm64)

package sim_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"testing"

	"rdmaprobe/rdma"
)

// TestThreads: many threads, each with its own connection to the other end, send
// and check, while the collector runs and others fail on purpose: no message of
// one reaches another, and no errno of one is seen by another.
func TestThreads(t *testing.T) {
	p := install(t, roce().json())
	const threads, rounds = 8, 300
	ends := make([]*end, threads)
	for i := range ends {
		ends[i] = newEnd(t, "d0", []int32{uc, rc}[i%2])
		ends[i].toPeer(p)
	}
	stop := make(chan struct{})
	var background sync.WaitGroup
	background.Add(2)
	go func() {
		defer background.Done()
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	go func() {
		defer background.Done()
		e := &end{t: t, ctx: ends[0].ctx}
		for {
			select {
			case <-stop:
				return
			default:
			}
			_, err := rdma.IbvCreateCq(e.ctx, 0, 0, 0, 0)
			wantErrno(t, err, 22)
		}
	}()
	var workers sync.WaitGroup
	for i, e := range ends {
		workers.Add(1)
		go func() {
			defer workers.Done()
			want := make([]byte, 64)
			for round := range rounds {
				binary.LittleEndian.PutUint64(want, uint64(i)<<32|uint64(round))
				copy(e.sendBytes(), want)
				e.postRecv(uint64(2*round), 64)
				e.postSend(uint64(2*round+1), 64)
				got := e.poll()
				if len(got) != 2 || got[1].WRID != uint64(2*round) || !bytes.Equal(e.recvBytes()[:64], want) {
					t.Errorf("thread %d, round %d: %+v", i, round, got)
					return
				}
			}
			e.close()
		}()
	}
	workers.Wait()
	close(stop)
	background.Wait()
}

// TestThreadsShareObjects: threads make and destroy objects of one context, and
// list devices, at once.
func TestThreadsShareObjects(t *testing.T) {
	install(t, roce().json())
	ctx := openDevice(t, "d0")
	var workers sync.WaitGroup
	for range 8 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for range 100 {
				pd, err := rdma.IbvAllocPd(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := rdma.Devices(); err != nil {
					t.Error(err)
				}
				if r, err := rdma.IbvDeallocPd(pd); r != 0 {
					t.Error(err)
				}
			}
		}()
	}
	workers.Wait()
	r, err := rdma.IbvCloseDevice(ctx)
	must(t, r, err)
}
