package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe"
)

// browser is a Chromium, "" when there is none.
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// inBrowser opens a page and gives its document as the browser built it, and what
// was said on the console.
func inBrowser(t *testing.T, page string, args ...string) (dom, console string) {
	t.Helper()
	path := browser()
	if path == "" {
		t.Fatal("no browser: install chromium, or leave RDMAPROBE_MUST_RUN unset")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	args = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
		"--user-data-dir=" + t.TempDir(), "--virtual-time-budget=2000", "--enable-logging=stderr", "--v=0", "--window-size=390,2000",
		// Whatever the page asks for from outside would fail and be told.
		"--host-resolver-rules=MAP * ~NOTFOUND",
	}, args...)
	cmd := exec.CommandContext(ctx, path, append(args, "--dump-dom", "file://"+page)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			console += line
		}
	}
	return string(out), console
}

// The page opens in both colour schemes without a word on the console and shows
// the matrix.
func TestPageInBrowser(t *testing.T) {
	if os.Getenv("RDMAPROBE_MUST_RUN") == "" {
		t.Skip("NOT CHECKED: it starts a browser: make test does")
	}
	for _, tt := range []struct {
		name string
		doc  func() *probe.Document
		want []string
	}{
		{"hosts", twoHosts, []string{`<h2>Capabilities</h2>`, `<td>node-b</td>`, `<td class="good">ok</td>`}},
		{"rxe", rxe, []string{`<h2>Capabilities</h2>`, `<svg`, `<td>rxe_a</td>`}},
		{"hostile", hostile, []string{`<h2>Capabilities</h2>`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "page.html")
			html := render(t, "html", sample{tt.name, "report", tt.doc})
			if err := os.WriteFile(page, html, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, scheme := range []string{"0", "1"} { // dark, light
				dom, console := inBrowser(t, page, "--blink-settings=preferredColorScheme="+scheme)
				if console != "" {
					t.Errorf("scheme %s: the console says %s", scheme, console)
				}
				for _, w := range tt.want {
					if !strings.Contains(dom, w) {
						t.Errorf("scheme %s: the page lacks %s", scheme, w)
					}
				}
				if n := len(regexp.MustCompile(`<tr>`).FindAllString(dom, -1)); n < 3 {
					t.Errorf("scheme %s: %d rows of tables", scheme, n)
				}
			}
		})
	}
}

// phoneScript makes a page as wide as a phone and tells how far to the right
// anything reaches that does not scroll, and how many elements that was asked of.
// A browser without a screen has no window that is narrower than 500.
const phoneScript = `<script>
document.documentElement.style.width = "390px";
const all = [...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll *") && !e.closest("svg *"));
document.title = Math.ceil(Math.max(...all.map(e => e.getBoundingClientRect().right))) + " of " + all.length;
</script>`

// Nothing but the tables, which scroll by themselves, is wider than a phone. The
// page has no script; the test's copy has one that tells its width.
func TestPageFitsAPhone(t *testing.T) {
	if os.Getenv("RDMAPROBE_MUST_RUN") == "" {
		t.Skip("NOT CHECKED: it starts a browser: make test does")
	}
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	title := regexp.MustCompile(`<title>(\d+) of (\d+)</title>`)
	for _, doc := range []func() *probe.Document{twoHosts, rxe, macSix, hostile} {
		page := filepath.Join(t.TempDir(), "page.html")
		html := policy.ReplaceAllString(string(render(t, "html", sample{"phone", "report", doc})), "")
		html = strings.Replace(html, "</body>", phoneScript+"</body>", 1)
		if err := os.WriteFile(page, []byte(html), 0o644); err != nil {
			t.Fatal(err)
		}
		dom, _ := inBrowser(t, page)
		m := title.FindStringSubmatch(dom)
		if m == nil {
			t.Fatalf("the page does not tell its width: %.300s", dom)
		}
		if right, err := strconv.Atoi(m[1]); err != nil || right > 390 || m[2] == "0" {
			t.Errorf("something reaches to %s of 390 (%s elements)", m[1], m[2])
		}
	}
}

// TestPageInBrowser would see an error: a page with one is told on the console.
func TestBrowserTellsErrors(t *testing.T) {
	if os.Getenv("RDMAPROBE_MUST_RUN") == "" {
		t.Skip("NOT CHECKED: it starts a browser: make test does")
	}
	page := filepath.Join(t.TempDir(), "page.html")
	html := strings.Replace(string(render(t, "html", sample{"rxe", "report", rxe})), "<body>", `<body><script>alert(1)</script><img src="https://192.0.2.1/x.png">`, 1)
	if err := os.WriteFile(page, fmt.Appendf(nil, "%s", html), 0o644); err != nil {
		t.Fatal(err)
	}
	_, console := inBrowser(t, page)
	if !strings.Contains(console, "Content Security Policy") {
		t.Errorf("the console says %q", console)
	}
}
