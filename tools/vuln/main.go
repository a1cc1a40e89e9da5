// Command vuln looks for known vulnerabilities in what rdmaprobe calls, as
// govulncheck does, on the systems that it is released for. It is run in the root
// of the project.
//
// The database is $GOVULNDB, a URL or file:///FOLDER of OSV files; else that of
// vuln.go.dev; else, where only a module proxy is reached, the newest copy of its
// source, the module golang.org/x/vulndb. Without any of them nothing is checked,
// which is said, and fails where RDMAPROBE_MUST_RUN is set.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/vuln/scan"
)

// released are the systems that packaging/dist.sh builds for.
var released = []string{"linux", "darwin"}

const (
	site   = "https://vuln.go.dev"
	source = "golang.org/x/vulndb@latest"
)

func main() {
	db, err := database(context.Background())
	if err != nil {
		fmt.Fprintf(os.Stderr, "NOT CHECKED: known vulnerabilities: no database is reached; GOVULNDB=file:///FOLDER names one\n%v\n", err)
		if os.Getenv("RDMAPROBE_MUST_RUN") != "" {
			os.Exit(1)
		}
		return
	}
	status := 0
	for _, system := range released {
		found, err := check(context.Background(), db, system)
		if err != nil {
			fmt.Fprintf(os.Stderr, "vuln: %s: %v\n", system, err)
			os.Exit(1)
		}
		for _, v := range found {
			fmt.Printf("%s: %s\n", system, v)
			status = 1
		}
		fmt.Printf("%s: %d known vulnerabilities are called (%s)\n", system, len(found), db)
	}
	os.Exit(status)
}

// database finds one.
func database(ctx context.Context) (string, error) {
	if db := os.Getenv("GOVULNDB"); db != "" {
		return db, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	siteErr := answers(ctx)
	if siteErr == nil {
		return site, nil
	}
	dir, err := download(ctx)
	if err != nil {
		return "", errors.Join(siteErr, err)
	}
	return "file://" + filepath.ToSlash(dir), nil
}

// answers tells why the site cannot be used, nil when it can.
func answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, site+"/index/modules.json.gz", nil)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", site, r.Status)
	}
	return nil
}

// download gets the source of the database through the module proxy.
func download(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", source)
	cmd.Dir = os.TempDir() // it is no requirement of any module here
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil && err == nil {
		err = jsonErr
	}
	if m.Error != "" {
		err = errors.New(m.Error)
	}
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", source, err)
	}
	return filepath.Join(m.Dir, "data", "osv"), nil
}

// check runs govulncheck for one system.
func check(ctx context.Context, db, system string) ([]string, error) {
	var out bytes.Buffer
	cmd := scan.Command(ctx, "-format", "json", "-db", db, "./...")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(nil), &out, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, err
	}
	return called(&out, system)
}
