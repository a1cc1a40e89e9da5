package hostfacts

import "strings"

// envPrefixes are the families of variables that change what a verbs program
// does: those of the dynamic loader, which decide whose code it runs, and those
// that libibverbs, its providers, NCCL, UCX and MLX read. No other variable is
// looked at.
var envPrefixes = []string{"LD_", "DYLD_", "NCCL_IB_", "UCX_", "IBV_", "RDMAV_", "MLX_", "MLX4_", "MLX5_"}

// rdmaEnv picks them from an environment. The last of two equal names wins, as
// in a shell that exports twice.
func rdmaEnv(env []string) map[string]string {
	m := map[string]string{}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if ok && len(name) < 128 && isRDMAEnv(name) {
			m[clean(name)] = clean(value)
		}
	}
	return m
}

func isRDMAEnv(name string) bool {
	for _, p := range envPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
