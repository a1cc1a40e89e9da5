//go:build (darwin || linux) && (amd64 || arm64)

package sim_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// victimEnv holds the profile for a copy of the test program that may die.
const victimEnv = "RDMAPROBE_SIM_VICTIM"

func TestMain(m *testing.M) {
	if profile := os.Getenv(victimEnv); profile != "" {
		os.Exit(victim(profile))
	}
	goleak.VerifyTestMain(m)
}

// victim opens d0 and queries its port, which a rule may not survive. Messages
// go to file descriptor 3. SIGTERM makes it tell that it lives: a blocked call
// must not stop other threads.
func victim(profile string) int {
	messages := os.NewFile(3, "messages")
	p, err := sim.Parse([]byte(profile), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 90
	}
	s, err := sim.New(p, sim.Options{OnFault: func(kind string) { fmt.Fprintln(messages, "fault", kind) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 91
	}
	rdma.Use(s.Library())
	devices, err := rdma.Devices()
	if err != nil || len(devices) == 0 {
		fmt.Fprintln(os.Stderr, "list:", err)
		return 92
	}
	ctx, err := devices[0].Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, "open:", err)
		return 93
	}
	if os.Getenv("NULL_PD") != "" {
		nullDomain(s)
		return 95
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() {
		<-term
		fmt.Fprintln(messages, "alive")
	}()
	fmt.Fprintln(messages, "query")
	r, err := rdma.IbvQueryPortAttr(ctx, 1, new(rdma.IbvPortAttr))
	if r != 0 || err != nil {
		fmt.Fprintln(os.Stderr, "query:", r, err)
		return 94
	}
	fmt.Fprintln(messages, "done")
	return 0
}

// outcome is how a victim ended and what it left.
type outcome struct {
	status         string
	stdout, stderr string
	messages       string
}

// run starts a victim and waits for it. One that blocks is killed once its
// message has been read.
func run(t *testing.T, profile string, blocks bool, env ...string) outcome {
	t.Helper()
	self := ok[string](t)(os.Executable())
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), victimEnv+"="+profile, "GORACE=atexit_sleep_ms=0", "GOTRACEBACK=single")
	cmd.Env = append(cmd.Env, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	var o outcome
	if blocks {
		o.messages = readUntil(t, r, blockSign(profile))
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		o.messages += readUntil(t, r, "alive\n")
		cmd.Process.Kill()
	}
	rest, _ := io.ReadAll(r)
	o.messages += string(rest)
	cmd.Wait()
	o.status, o.stdout, o.stderr = cmd.ProcessState.String(), stdout.String(), stderr.String()
	return o
}

// blockSign is the last message before a victim blocks.
func blockSign(profile string) string {
	for _, kind := range []string{"hang_term", "stuck"} {
		if strings.Contains(profile, `"`+kind+`"`) {
			return "fault " + kind + "\n"
		}
	}
	return "query\n"
}

func readUntil(t *testing.T, r io.Reader, want string) string {
	t.Helper()
	var got []byte
	one := make([]byte, 1)
	for !strings.HasSuffix(string(got), want) {
		if _, err := io.ReadFull(r, one); err != nil {
			t.Fatalf("messages ended after %q: %v", got, err)
		}
		got = append(got, one[0])
	}
	return string(got)
}

func faulty(rule string) string { return roce().calls1("ibv_query_port", rule).json() }

func TestFaultsThatEndTheProcess(t *testing.T) {
	for _, tc := range []struct{ fault, status, stderr string }{
		{"crash", "exit status 2", "SIGSEGV: segmentation violation"},
		{"abort", "exit status 2", "SIGABRT: abort"},
		{"exit", "exit status 3", ""},
	} {
		t.Run(tc.fault, func(t *testing.T) {
			o := run(t, faulty(`{"fault": "`+tc.fault+`"}`), false)
			if o.status != tc.status || !strings.Contains(o.stderr, tc.stderr) || o.messages != "query\n" {
				t.Errorf("%s, messages %q, stderr %.300q", o.status, o.messages, o.stderr)
			}
			if strings.Contains(o.stderr, "panic:") {
				t.Errorf("a Go panic: %.300s", o.stderr)
			}
			if tc.fault == "crash" && !strings.Contains(o.stderr, "signal arrived during cgo execution") {
				t.Errorf("the crash did not happen in C: %.300s", o.stderr)
			}
		})
	}
}

func TestFaultsThatBlock(t *testing.T) {
	for _, fault := range []string{"hang", "hang_term", "stuck"} {
		t.Run(fault, func(t *testing.T) {
			o := run(t, faulty(`{"fault": "`+fault+`"}`), true)
			if o.status != "signal: killed" || strings.Contains(o.messages, "done") {
				t.Errorf("%s, messages %q", o.status, o.messages)
			}
			announced := strings.Contains(o.messages, "fault ")
			if announced != (fault != "hang") {
				t.Errorf("announced: %v", announced)
			}
		})
	}
}

// TestGrandchild: the call works, the process ends, and what it left holds its
// standard output until it is killed.
func TestGrandchild(t *testing.T) {
	self := ok[string](t)(os.Executable())
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), victimEnv+"="+faulty(`{"fault": "grandchild"}`), "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, r, "done\n")
	// The pipe is still open at the other end: only the group's death ends it.
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatalf("nothing was left behind: %v", err)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) != 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestOutput(t *testing.T) {
	const n = 100000
	for _, tc := range []struct {
		rule string
		want func(o outcome) bool
	}{
		{`{"stdout": "a\u0000b"}`, func(o outcome) bool { return o.stdout == "a\x00b" }},
		{`{"stdout": "0123456789", "repeat": ` + strconv.Itoa(n) + `}`, func(o outcome) bool { return o.stdout == strings.Repeat("0123456789", n) }},
		{`{"fd3": "{\"kind\": \"done\"}\n"}`, func(o outcome) bool { return o.messages == "query\n{\"kind\": \"done\"}\ndone\n" }},
		{`{"stderr": "unmap failed", "repeat": 3}`, func(o outcome) bool { return o.stderr == strings.Repeat("unmap failed\n", 3) }},
		{`{"stderr": "last words", "fault": "exit"}`, func(o outcome) bool { return o.stderr == "last words\n" && o.status == "exit status 3" }},
		{`{"stderr": "x", "errno": "EIO"}`, func(o outcome) bool { return strings.HasPrefix(o.stderr, "x\n") && o.status == "exit status 94" }},
	} {
		if o := run(t, faulty(tc.rule), false); !tc.want(o) {
			t.Errorf("%s: %s, stdout %.80q (%d), stderr %.200q, messages %.80q", tc.rule, o.status, o.stdout, len(o.stdout), o.stderr, o.messages)
		}
	}
}

func TestLibraryNoise(t *testing.T) {
	o := run(t, roce().with(func(m *machine) { m.rest = `, "library": {"stderr": ["first", "second"]}` }).json(), false)
	if o.stderr != "first\nsecond\n" || o.status != "exit status 0" {
		t.Errorf("%s, stderr %q", o.status, o.stderr)
	}
}
