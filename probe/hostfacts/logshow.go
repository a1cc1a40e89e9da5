package hostfacts

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// logPredicate asks for the lines that mark a failed transition to RTR. The
// arrow is ASCII in some builds and Unicode in others, so it is not part of it.
const logPredicate = `(senderImagePath CONTAINS "AppleThunderboltRDMA" OR eventMessage CONTAINS "AppleThunderboltRDMA")` +
	` AND eventMessage CONTAINS "Failed INIT" AND eventMessage CONTAINS "RTR"`

// maxLogLines bounds the lines that are kept, the newest ones.
const maxLogLines = 50

// KernelLog returns the lines of this boot's kernel log that tell of a failed
// transition to RTR, without the other facts: a command that is about to attempt
// one asks before. nil is not read, with the reason; empty is read and clean. It
// takes RunLimit at most, and never more than ctx allows.
func KernelLog(ctx context.Context, s *System) ([]string, []NotRead) {
	if s.OS != MacOS {
		p := part{}
		p.miss("kernel_log", "/dev/kmsg", "it needs privileges; dmesg as root shows it")
		return nil, p.missing
	}
	h, missing := gather(ctx, s, []source{{"log show", []string{"kernel_log"}, readLogShow}})
	return h.KernelLog, missing
}

// readLogShow asks for this boot and, beside it, for the last hour: reading the
// log of a machine that runs for weeks takes longer than we wait.
func readLogShow(ctx context.Context, s *System) (p part) {
	spans := []string{"boot", "1h"}
	found := make([][]string, len(spans))
	errs := make([]error, len(spans))
	var both sync.WaitGroup
	for i, span := range spans {
		both.Go(func() {
			var out []byte
			out, errs[i] = s.run(ctx, "log", "show", "--last", span, "--style", "compact", "--predicate", logPredicate)
			if errs[i] == nil {
				found[i], errs[i] = parseLogShow(out)
			}
		})
	}
	both.Wait()
	kept := found[0]
	if errs[0] != nil {
		why := reason(errs[0])
		if kept = found[1]; kept != nil {
			why += "; only the last hour was read"
		}
		p.miss("kernel_log", "log show --last boot", why)
	}
	if kept != nil {
		p.apply = func(h *Host) { h.KernelLog = kept }
	}
	return p
}

// parseLogShow keeps the lines of failed transitions. Every output of log show
// begins with a line of column names (log(1)); without it nothing was read.
func parseLogShow(out []byte) ([]string, error) {
	kept, head := []string{}, false
	lines(out, 8192, func(line string) bool {
		if strings.HasPrefix(line, "Timestamp") {
			head = true
			return true
		}
		if line = clean(line); failedRTR(line) {
			if len(kept) == maxLogLines {
				kept = kept[1:]
			}
			kept = append(kept, line)
		}
		return true
	})
	if !head && len(kept) == 0 {
		return nil, errors.New("parse log output: no header line")
	}
	return kept, nil
}

func failedRTR(line string) bool {
	return strings.Contains(line, "Failed INIT->RTR") || strings.Contains(line, "Failed INIT\u2192RTR")
}
