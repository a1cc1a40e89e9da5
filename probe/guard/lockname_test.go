package guard

import (
	"strings"
	"testing"
)

func TestLockName(t *testing.T) {
	seen := map[string]string{}
	for _, key := range []string{"mlx5_0", "mlx5-0", "mlx5/0", "../../etc/passwd", "", ".", "a\x00b", "sim:x/dev", strings.Repeat("x", 500), strings.Repeat("x", 501)} {
		name := lockName(key)
		if len(name) > 100 || strings.ContainsAny(name, "/\x00:") || !strings.HasSuffix(name, ".lock") || strings.Contains(name, "..") && key != "" {
			t.Errorf("%q: %q", key, name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q share %s", key, other, name)
		}
		seen[name] = key
	}
	if got := lockName("mlx5_0"); !strings.HasPrefix(got, "mlx5_0.") {
		t.Error(got)
	}
}
