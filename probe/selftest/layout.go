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
	"strings"
	"time"

	"rdmaprobe/rdma"
)

// layout: the types of this build have the layout that is on record for this
// system.
func layout(context.Context, *Options) (string, error) {
	all := rdma.Layouts()
	structs := 0
	var wrong []string
	for _, l := range all {
		if l.Field == "" {
			structs++
		}
		if l.Have != l.Want {
			wrong = append(wrong, fmt.Sprintf("%s is %d, want %d", strings.TrimSuffix(l.Struct+"."+l.Field, "."), l.Have, l.Want))
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(few(wrong))
	}
	return fmt.Sprintf("%d fields of %d structs are where they belong", len(all)-structs, structs), nil
}

// few names the first of many.
func few(list []string) string {
	const most = 3
	if n := len(list) - most; n > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(list[:most], "; "), n)
	}
	return strings.Join(list, "; ")
}

// compileLimit is how long the compiler may take.
const compileLimit = 30 * time.Second

// header: the system's own infiniband/verbs.h agrees with the layout.
func header(ctx context.Context, o *Options) (string, error) {
	if !o.Header {
		return "", skipf("only with --header: it runs the C compiler")
	}
	cc, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	if err != nil {
		return "", skipf("no C compiler: %v", err)
	}
	source := filepath.Join(o.Dir, "claims.c")
	if err := os.WriteFile(source, []byte(rdma.HeaderChecks()), 0o600); err != nil {
		return "", fmt.Errorf("write the claims: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, compileLimit)
	defer cancel()
	if out, err := compile(ctx, cc, "-E", "-include", "infiniband/verbs.h", "-x", "c", os.DevNull); err != nil {
		return "", skipf("no infiniband/verbs.h that %s reads: %s", cc, cmp.Or(complaint(out), err.Error()))
	}
	if out, err := compile(ctx, cc, "-std=gnu11", "-fsyntax-only", source); err != nil {
		return "", fmt.Errorf("infiniband/verbs.h does not agree: %s", cmp.Or(complaint(out), err.Error()))
	}
	return fmt.Sprintf("%d sizes and offsets are those of infiniband/verbs.h, %s says", len(rdma.Layouts()), filepath.Base(cc)), nil
}

// compile runs the compiler and keeps what it complained about.
func compile(ctx context.Context, cc string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, cc, args...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	return stderr.Bytes(), err
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
