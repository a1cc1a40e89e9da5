package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"rdmaprobe/cmd"
)

// hosted reads what GitHub reads: the YAML files of folders.
func hosted(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.yml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("nothing in %s: %v", folder, err)
		}
		for _, f := range files {
			texts[f] = read(t, f)
		}
	}
	return texts
}

// workflow is what of a workflow is looked at; a wrong key is an error.
type workflow struct {
	Name        string
	On          any
	Permissions map[string]string
	Jobs        map[string]struct {
		RunsOn  any `yaml:"runs-on"`
		Timeout int `yaml:"timeout-minutes"`
		Env     map[string]string
		Steps   []struct {
			Name, Uses, Run, If string
			With                map[string]string
		}
	}
}

func TestWorkflows(t *testing.T) {
	var jobs []string
	for file, text := range hosted(t, "../.github/workflows", "examples") {
		var w workflow
		if err := decode(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if w.Name == "" || w.On == nil || len(w.Jobs) == 0 {
			t.Errorf("%s: a workflow has a name, events and jobs: %+v", file, w)
		}
		for name, job := range w.Jobs {
			jobs = append(jobs, name)
			if job.RunsOn == nil || len(job.Steps) == 0 {
				t.Errorf("%s: job %s has no runner or no steps", file, name)
			}
			for _, s := range job.Steps {
				if (s.Run == "") == (s.Uses == "") {
					t.Errorf("%s: job %s: a step runs or uses something: %+v", file, name, s)
				}
				checkCommands(t, file, s.Run)
			}
		}
	}
	for _, want := range []string{"linux", "fuzz", "macos", "gate", "arm64"} {
		if !slices.Contains(jobs, want) {
			t.Errorf("no job %s", want)
		}
	}
}

// issueForm is a form of GitHub's; a wrong key is an error.
type issueForm struct {
	Name, Description, Title string
	Labels                   []string
	Body                     []struct {
		Type, ID   string
		Attributes struct {
			Label, Description, Placeholder, Value string
			Options                                []struct {
				Label    string
				Required bool
			}
		}
		Validations struct{ Required bool }
	}
}

func TestIssueForms(t *testing.T) {
	asked := map[string]bool{}
	for file, text := range hosted(t, "../.github/ISSUE_TEMPLATE") {
		var f issueForm
		if err := decode(text, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if f.Name == "" || f.Description == "" || len(f.Body) == 0 {
			t.Errorf("%s: a form has a name, a description and a body", file)
		}
		if page := read(t, "verified.md"); !strings.Contains(strings.Join(strings.Fields(page), " "), `"`+f.Name+`"`) {
			t.Errorf("verified.md does not send people to %q", f.Name)
		}
		for _, part := range f.Body {
			if !slices.Contains([]string{"markdown", "textarea", "input", "dropdown", "checkboxes"}, part.Type) {
				t.Errorf("%s: unknown type %q", file, part.Type)
			}
			if (part.Type == "markdown") != (part.ID == "") || part.ID != "" && (part.Attributes.Label == "" || asked[part.ID]) {
				t.Errorf("%s: %+v: all but text has an id of its own and a label", file, part)
			}
			asked[part.ID] = true
			checkCommands(t, file, part.Attributes.Value)
		}
	}
	for _, id := range []string{"bundle", "build", "model", "cable", "expected"} {
		if !asked[id] {
			t.Errorf("no form asks for %s", id)
		}
	}
}

// decode reads YAML and refuses keys that the type does not have.
func decode(text string, v any) error {
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	return d.Decode(v)
}

// A command line stands at the beginning of a line of code.
var commandLine = regexp.MustCompile(`(?m)^\s*(?:\$ )?(?:\./)?rdmaprobe( [^\n]*)?$`)

// ends are where a shell ends a command's arguments.
var ends = regexp.MustCompile(`\s(?:\||>|2>|<|&&|#|;).*`)

// checkCommands tells whether the commands in a text and their flags exist, and
// how many there are.
func checkCommands(t *testing.T, file, text string) int {
	t.Helper()
	n, wrong := commandsIn(text)
	for _, w := range wrong {
		t.Errorf("%s: %s", file, w)
	}
	return n
}

func commandsIn(text string) (n int, wrong []string) {
	for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
		args := strings.Fields(strings.ReplaceAll(ends.ReplaceAllString(m[1], ""), `'`, ""))
		n++
		c, rest, err := cmd.Root().Find(args)
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err != nil {
			wrong = append(wrong, "rdmaprobe"+m[1]+": "+err.Error())
		}
	}
	return n, wrong
}

func TestWrongCommandsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"rdmaprobe probe --rc | less\n  ./rdmaprobe report --bundle x --dry-run > y": 0, "rdmaprobe prove": 1, "$ rdmaprobe probe --no-such": 1,
		"rdmaprobe probe extra": 1, "rdmaprobe profiles import": 1, "about rdmaprobe prove": 0,
	} {
		if _, wrong := commandsIn(text); len(wrong) != want {
			t.Errorf("%q: %q, want %d", text, wrong, want)
		}
	}
}

// indented is code in a document.
var indented = regexp.MustCompile("(?m)^(?:    .*\n)+|(?s)```(?:sh)?\n.*?```")

func TestCommandsInDocumentsExist(t *testing.T) {
	n := 0
	for file, text := range documents(t) {
		for _, code := range indented.FindAllString(text, -1) {
			n += checkCommands(t, file, code)
		}
	}
	if n < 12 {
		t.Errorf("only %d command lines: the search is broken", n)
	}
}
