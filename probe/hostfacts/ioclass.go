package hostfacts

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// kernelClasses are the provider's objects in the kernel. The instances of
// ProtectionDomain are the only known gauge of domains in use.
var kernelClasses = []string{
	"AppleThunderboltRDMAInterface", "AppleThunderboltRDMAPeerInterface",
	"AppleThunderboltRDMAProtectionDomain", "AppleThunderboltRDMAQueuePair",
	"IORDMAFamilyUC", "IOThunderboltXDomainService",
}

func readClassCount(ctx context.Context, s *System) (p part) {
	out, err := s.run(ctx, "ioclasscount", kernelClasses...)
	counts := parseClassCount(out)
	if err == nil && len(counts) == 0 {
		err = errors.New("it counts none of the provider's classes")
	}
	if len(counts) == 0 {
		p.fail("ioclasscount", "ioclasscount", err)
		return p
	}
	p.apply = func(h *Host) { h.IOClassCount = counts }
	return p
}

// parseClassCount reads "IOPCIDevice = 2, AppleTestPCI = 1" (ioclasscount(8)),
// also one class a line. Only the classes asked for are taken; a class that the
// kernel does not have is absent, one without instances is 0.
func parseClassCount(out []byte) map[string]int {
	counts := map[string]int{}
	lines(out, 4096, func(line string) bool {
		for _, item := range strings.Split(line, ",") {
			name, value, ok := strings.Cut(item, "=")
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if !ok || err != nil || n < 0 {
				continue
			}
			for _, class := range kernelClasses {
				if strings.TrimSpace(name) == class {
					counts[class] = n
				}
			}
		}
		return true
	})
	return counts
}
