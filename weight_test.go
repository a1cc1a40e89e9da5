package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What may be linked of other people's code. Each module that joins is somebody
// else's release to follow and bytes in every start of a child: raise a number
// with the reason for the module, not before. The size is release_test.go's.
const (
	maxModules  = 18
	maxPackages = 28
)

func TestLinkedDependencies(t *testing.T) {
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/arm64"} {
		system, arch, _ := strings.Cut(platform, "/")
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")
		list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", platform, err)
		}
		modules, packages := map[string]bool{}, strings.Fields(string(out))
		for _, m := range packages {
			modules[m] = true
		}
		if len(modules) < 3 {
			t.Fatalf("%s: only %d modules are linked: the list is not what it should be", platform, len(modules))
		}
		if len(modules) > maxModules || len(packages) > maxPackages {
			t.Errorf("%s: %d packages of %d modules are linked, want at most %d of %d: %v", platform, len(packages), len(modules), maxPackages, maxModules, packages)
		}
		t.Logf("%s: %d packages of %d modules", platform, len(packages), len(modules))
	}
}
