package hostfacts

import "strings"

// envNames and envPrefixes are the variables that change what a verbs program
// does: the preloaded library, and the families that libibverbs, its providers,
// NCCL, UCX and MLX read. No other variable is looked at.
var (
	envNames    = []string{"LD_PRELOAD", "DYLD_INSERT_LIBRARIES"}
	envPrefixes = []string{"NCCL_IB_", "UCX_", "IBV_", "RDMAV_", "MLX_", "MLX4_", "MLX5_"}
)

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
	for _, n := range envNames {
		if name == n {
			return true
		}
	}
	for _, p := range envPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
