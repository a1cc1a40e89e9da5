//go:build linux || darwin || freebsd

package guard

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"rdmaprobe/rdma"
)

// child registers a helper that is the child of a Run.
func child(name string, f func(c *Child)) bool {
	helpers[name] = func() {
		c, err := Enter()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		f(c)
	}
	return true
}

// inCall makes the mark say that the child is inside Verbs()[i], for the nth time.
func inCall(c *Child, i int, n uint64) {
	c.Mark().Counts[i].Store(n)
	c.Mark().Verb.Store(uint32(i) + 1)
}

// rawMessages writes to the message channel as the library could.
func rawMessages(b []byte) {
	if err := writeMessage(b); err != nil {
		panic(err)
	}
}

// must keeps the helpers short: a message that does not arrive fails the test.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		os.Exit(9)
	}
}

// The well-behaved.
var (
	_ = child("echo", func(c *Child) {
		must(c.Send("observation", map[string]int{"n": 1}))
		must(c.Send("observation", map[string]int{"n": 2}))
		must(c.Done(string(c.Request())))
	})
	_ = child("environment", func(c *Child) {
		must(c.Done([]string{os.Getenv("GOTRACEBACK"), os.Getenv("GORACE"), os.Getenv("KEPT"), os.Getenv("ADDED")}))
	})
	_ = child("until asked", func(c *Child) {
		<-c.Context().Done()
		must(c.Done(context.Cause(c.Context()).Error()))
	})
	_ = child("renews", func(c *Child) {
		for range renewals {
			select {
			case <-c.Context().Done():
			case <-time.After(renewAfter):
				c.Renew()
				must(c.Send("renewed", nil))
			}
		}
		must(c.Done(fmt.Sprint(context.Cause(c.Context()))))
	})
	_ = child("stops itself", func(c *Child) {
		must(c.Send("stopping", os.Getpid()))
		must(syscall.Kill(os.Getpid(), syscall.SIGSTOP))
		<-c.Context().Done()
		must(c.Done(context.Cause(c.Context()).Error()))
	})
	_ = child("leaves its group", func(c *Child) {
		inCall(c, 4, 9)
		theirs, err := syscall.Getpgid(os.Getppid())
		must(err)
		must(syscall.Setpgid(0, theirs))
		must(c.Send("observation", os.Getpid()))
		select {}
	})
	_ = child("too large", func(c *Child) {
		err := c.Send("observation", strings.Repeat("x", MaxMessage))
		must(c.Done(err != nil))
	})
)

// slowSoft is what the slow helper has already used up when it begins.
const slowSoft = 50 * time.Millisecond

func init() {
	helpers["slow to begin"] = func() {
		time.Sleep(slowSoft)
		c, err := Enter()
		must(err)
		due, ok := c.Context().Deadline()
		must(c.Done(ok && !time.Now().Before(due)))
	}
}

// Those that end by themselves, one way or another.
var (
	_ = child("no result", func(*Child) {})
	_ = child("exit 2", func(*Child) {
		fmt.Fprintln(os.Stderr, "panic: says the library\nSIGSEGV: says the library")
		os.Exit(2)
	})
	_ = child("crash in C", func(c *Child) {
		lib := rdma.NewLibrary(rdma.LibraryConfig{Symbols: map[string]uintptr{"ibv_get_device_list": 16}})
		lib.SetMark(c.Mark())
		rdma.Use(lib)
		_, err := rdma.Devices()
		must(err)
	})
	_ = child("crash in noise", func(c *Child) {
		inCall(c, 2, 7)
		noise(os.Stdout, 100<<10)
		fmt.Print("unfinished")
		fmt.Print(fixtureCrash)
		noise(os.Stderr, 100<<10)
		os.Exit(2)
	})
	_ = child("signal", func(c *Child) {
		inCall(c, 0, 1)
		signal.Reset()
		must(syscall.Kill(os.Getpid(), syscall.SIGKILL))
		select {}
	})
	_ = child("nil dereference", func(c *Child) {
		var p *Child
		fmt.Println(p.nonce)
	})
	_ = child("unlock", func(*Child) {
		var m sync.Mutex
		m.Unlock()
	})
	_ = child("bad memory", func(*Child) {
		mem, err := unix.Mmap(-1, 0, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		must(err)
		gone := mem[:1:1]
		must(unix.Munmap(mem))
		fmt.Println(gone[0])
	})
	_ = child("done and exit 7", func(c *Child) {
		must(c.Done(nil))
		os.Exit(7)
	})
	_ = child("done and hang", func(c *Child) {
		must(c.Done(nil))
		select {}
	})
	_ = child("torn page", func(c *Child) {
		inCall(c, 1, 1)
		must(unix.Ftruncate(fdPage, 0))
	})
	_ = child("forged page", func(c *Child) { c.Mark().Verb.Store(1 << 31) })
)

func init() {
	helpers["not a child"] = func() { fmt.Fprintln(os.Stderr, "no such library") }
	helpers["before"] = func() {
		_, err := Enter()
		fmt.Fprintln(os.Stderr, err)
	}
}

// Those that do not end.
var (
	_ = child("busy loop", func(c *Child) {
		c.IgnoreTerm()
		must(c.Send("out", os.Getpid()))
		for {
			runtime.KeepAlive(0)
		}
	})
	_ = child("plays unkillable", func(c *Child) {
		inCall(c, 3, 1)
		c.OrphanLimit(time.Minute) // a test that fails leaves nothing behind
		must(c.Send(msgFault, "stuck"))
		select {}
	})
	_ = child("inside a call", func(c *Child) {
		release := make(chan os.Signal, 1)
		signal.Notify(release, syscall.SIGUSR1)
		inCall(c, 4, 9)
		c.OrphanLimit(time.Minute)
		must(c.Send("in", os.Getpid()))
		<-release // the call returns
		for range 100 {
			fmt.Println("to a pipe that nobody reads")
		}
		c.Mark().Verb.Store(0)
	})
	_ = child("inside a call with another", func(c *Child) {
		inCall(c, 4, 9)
		other := exec.Command("/bin/sleep", "60")
		other.Stdout = os.Stdout
		must(other.Start())
		must(c.Send("in", os.Getpid()))
		must(c.Send("other", other.Process.Pid))
		select {}
	})
	_ = child("ends in order with another", func(c *Child) {
		other := exec.Command("/bin/sleep", "60")
		must(other.Start())
		must(c.Send("in", os.Getpid()))
		must(c.Send("other", other.Process.Pid))
		<-c.Context().Done()
		_ = c.Done(nil)
	})
	_ = child("outside a call", func(c *Child) {
		c.Mark().Counts[4].Store(9)
		c.IgnoreTerm()
		must(c.Send("out", os.Getpid()))
		select {}
	})
	_ = child("limited orphan", func(c *Child) {
		inCall(c, 4, 1)
		c.OrphanLimit(time.Millisecond)
		must(c.Send("in", os.Getpid()))
		select {}
	})
)

// The noisy.
var (
	_ = child("flood", func(c *Child) {
		noise(os.Stdout, 64<<20)
		must(c.Done(nil))
	})
	_ = child("foreign messages", func(c *Child) {
		must(c.Send("observation", 1))
		forged, err := encodeMessage(newNonce(), msgDone, "forged")
		must(err)
		rawMessages(forged)
		rawMessages([]byte(`{"type":"done","body":"forged"}` + "\n"))
		rawMessages([]byte(`{"nonce":"` + c.nonce + `","type":"observation","bo` + "\n")) // torn
		rawMessages(bytes.Repeat([]byte("x"), 3*MaxMessage))
		must(c.Send("observation", 2))
		rawMessages([]byte("no newline"))
		must(c.Done("real"))
		rawMessages([]byte("last words"))
	})
	_ = child("grandchild", func(c *Child) {
		pid := startSleeper(false)
		must(c.Done(pid))
	})
	_ = child("escaped grandchild", func(c *Child) {
		pid := startSleeper(true)
		must(c.Done(pid))
	})
	_ = child("escaped grandchild, then a crash", func(c *Child) {
		must(c.Send("observation", startSleeper(true)))
		os.Exit(2)
	})
	_ = child("escaped grandchild, then a hang", func(c *Child) {
		c.IgnoreTerm()
		must(c.Send("observation", startSleeper(true)))
		select {}
	})
)

// startSleeper starts a process that holds all our pipes. With escape it leaves
// the group.
func startSleeper(escape bool) int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=sleeper")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(fdMessages, "messages")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: escape}
	must(cmd.Start())
	return cmd.Process.Pid
}

func init() {
	helpers["sleeper"] = func() { time.Sleep(time.Minute) }
	// A parent that runs the child named in its argument, tells its pid and waits.
	helpers["parent"] = func() {
		var lock *Lock
		if dir := os.Getenv("LOCK_DIR"); dir != "" {
			var err error
			lock, err = LockDevice(context.Background(), dir, "dev", false)
			must(err)
		}
		s := Spec{Exe: os.Args[0], Env: []string{helperEnv + "=" + os.Getenv("PARENT_OF")}, Soft: time.Hour, Leave: true, Lock: lock}
		if os.Getenv("PARENT_KILLS") != "" {
			s.Soft, s.Leave, s.Ladder = 2*time.Second, false, Ladder{Term: 100 * time.Millisecond, Kill: 100 * time.Millisecond, GiveUp: time.Minute}
		}
		tells, _ := strconv.Atoi(os.Getenv("PARENT_TELLS"))
		var told []string
		_, err := Run(context.Background(), s, func(m Message) {
			if told = append(told, string(m.Body)); len(told) == tells {
				fmt.Println(strings.Join(told, " "))
			}
		})
		must(err)
	}
	helpers["locker"] = func() {
		_, err := LockDevice(context.Background(), os.Getenv("LOCK_DIR"), "dev", os.Getenv("LOCK_SHARED") != "")
		must(err)
		fmt.Println("locked")
		select {}
	}
}

// noise is n bytes that look like nothing.
func noise(f *os.File, n int) {
	piece := bytes.Repeat([]byte("ibwarn: unmap of 0x0 failed; \x1b[31mSIG panic\n"), 1000)
	for n > 0 {
		k := min(n, len(piece))
		if _, err := f.Write(piece[:k]); err != nil {
			return
		}
		n -= k
	}
}
