package selftest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"rdmaprobe/rdma"
)

// compileLimit is how long the compiler may take, each time.
const compileLimit = 30 * time.Second

// headerNames are the checks against the system's own infiniband/verbs.h.
var headerNames = []string{"layout.header", "constants.header"}

// headerPart reads the header once, for both checks.
func headerPart() part {
	return part{headerNames, func(ctx context.Context, o *Options) []Check {
		h, err := readHeader(ctx, o, runtime.GOOS)
		if err != nil {
			return []Check{checkOf(headerNames[0], "", err), checkOf(headerNames[1], "", err)}
		}
		detail, err := h.layout(ctx)
		first := checkOf(headerNames[0], detail, err)
		detail, err = h.constants(ctx)
		return []Check{first, checkOf(headerNames[1], detail, err)}
	}}
}

// header is infiniband/verbs.h as a compiler reads it.
type header struct {
	cc    string
	dir   string // for the claims
	words map[string]bool
}

// readHeader preprocesses the header. Every error is a skip: there is no compiler or
// no header here.
func readHeader(ctx context.Context, o *Options, system string) (*header, error) {
	if !o.Header {
		return nil, skipf("only with --header: it runs the C compiler")
	}
	if system == "darwin" {
		if err := developerTools(ctx); err != nil {
			return nil, err
		}
	}
	cc, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	if err != nil {
		return nil, skipf("no C compiler: %v", err)
	}
	text, complaints, err := command(ctx, cc, "-E", "-dD", "-include", "infiniband/verbs.h", "-x", "c", os.DevNull)
	if err != nil {
		return nil, skipf("no infiniband/verbs.h that %s reads: %s", cc, cmp.Or(complaint(complaints), err.Error()))
	}
	h := &header{cc: cc, dir: o.Dir, words: map[string]bool{}}
	for _, word := range bytes.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		h.words[string(word)] = true
	}
	return h, nil
}

// developerTools is a skip where macOS has no compiler: cc is there all the same, and
// opens a dialog that offers to install one.
func developerTools(ctx context.Context) error {
	const missing = "no C compiler: the Command Line Tools are not installed (xcode-select --install does it); "
	out, complaints, err := command(ctx, "xcode-select", "-p")
	if err != nil {
		return skipf(missing+"xcode-select -p: %s", cmp.Or(strings.TrimSpace(string(complaints)), err.Error()))
	}
	dir := strings.TrimSpace(string(out))
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return skipf(missing+"xcode-select -p names %q, which is no folder", dir)
	}
	return nil
}

// layout: sizes and offsets are those of the header.
func (h *header) layout(ctx context.Context) (string, error) {
	if err := h.compile(ctx, "layout.c", rdma.HeaderChecks()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d sizes and offsets are those of infiniband/verbs.h, %s says", len(rdma.Layouts()), filepath.Base(h.cc)), nil
}

// constants: the numbers of all names that the header has are those of this build.
func (h *header) constants(ctx context.Context) (string, error) {
	source, checked, absent := rdma.ConstantChecks(func(name string) bool { return h.words[name] })
	if checked == 0 {
		return "", errors.New("infiniband/verbs.h has none of the constants of this build")
	}
	if err := h.compile(ctx, "constants.c", source); err != nil {
		return "", err
	}
	detail := fmt.Sprintf("%d constants are those of infiniband/verbs.h, %s says", checked, filepath.Base(h.cc))
	if len(absent) > 0 {
		detail += "; it does not have " + few(absent)
	}
	return detail, nil
}

// compile is an error where the header does not agree with claims about it.
func (h *header) compile(ctx context.Context, name, source string) error {
	file := filepath.Join(h.dir, name)
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return fmt.Errorf("write the claims: %w", err)
	}
	if _, complaints, err := command(ctx, h.cc, "-std=gnu11", "-fsyntax-only", file); err != nil {
		return fmt.Errorf("infiniband/verbs.h does not agree: %s", cmp.Or(complaint(complaints), err.Error()))
	}
	return nil
}

// Bounds of what a compiler may write.
const (
	maxHeader     = 32 << 20
	maxComplaints = 1 << 20
)

// command runs a program in the C locale and keeps what it wrote.
func command(ctx context.Context, name string, args ...string) (stdout, stderr []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, compileLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C") // complaint reads English
	cmd.WaitDelay = time.Second
	out, errs := &firstBytes{most: maxHeader}, &firstBytes{most: maxComplaints}
	cmd.Stdout, cmd.Stderr = out, errs
	err = cmd.Run()
	return out.kept, errs.kept, err
}

// firstBytes keeps the beginning of what is written, and takes the rest.
type firstBytes struct {
	kept []byte
	most int
}

func (f *firstBytes) Write(p []byte) (int, error) {
	f.kept = append(f.kept, p[:min(len(p), f.most-len(f.kept))]...)
	return len(p), nil
}

// complaint is what a compiler found wrong, without the paths of its files.
func complaint(out []byte) string {
	var errs []string
	for line := range strings.Lines(string(out)) {
		if _, what, found := strings.Cut(line, "error: "); found {
			errs = append(errs, strings.TrimSpace(what))
		}
	}
	return few(errs)
}
