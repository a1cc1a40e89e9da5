package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/probe"
)

// matrixOfAll is the matrix of all hosts, each host's devices together.
func matrixOfAll(d *probe.Document, r rows) []matrixRow {
	var all []matrixRow
	by := matrixByHost(d, r)
	for _, host := range groups(d) {
		all = append(all, by[host]...)
	}
	return all
}

// manyHosts tells whether devices have to be told apart by their hosts.
func manyHosts(d *probe.Document) bool { return len(groups(d)) > 1 }

// aboutHosts are the machines of a document in a line each; of many, what they
// have in common is said once.
func aboutHosts(d *probe.Document) []string {
	var lines []string
	for _, h := range hostsOf(d) {
		lines = append(lines, hostLine(h))
	}
	return append(lines, nodeLines(d)...)
}

// redactedText says that a document was redacted.
const redactedText = "redacted: addresses, GUIDs, names, paths and serials are stand-ins"

// nodeLines say whether all hosts of a merged report have the same OS build and
// the same verbs library, and if not, who has which.
func nodeLines(d *probe.Document) []string {
	if len(d.Hosts) < 2 {
		return nil
	}
	builds, libraries := map[string][]string{}, map[string][]string{}
	for _, h := range d.Hosts {
		build := cmp.Or(h.OSBuild, h.Kernel)
		if build != "" {
			build = h.OS + " " + build
		}
		builds[Clean(build)] = append(builds[Clean(build)], cleanName(h.Name))
	}
	for host, l := range newestLibraries(d) {
		libraries[libraryWord(l)] = append(libraries[libraryWord(l)], cleanName(host))
	}
	return append(agreement(len(d.Hosts), "OS build", builds), agreement(len(d.Hosts), "library", libraries)...)
}

// newestLibraries is what each host's newest source was answered by.
func newestLibraries(d *probe.Document) map[string]probe.Library {
	libraries := map[string]probe.Library{}
	if len(d.Sources) == 0 {
		return libraries
	}
	for _, s := range newestSources(d) {
		libraries[s.Host] = s.Provider.Library
	}
	return libraries
}

// libraryWord names a library: by its path, and what identifies the build.
func libraryWord(l probe.Library) string {
	switch {
	case !l.Loaded:
		return "none"
	case l.ID != "":
		return Clean(cmp.Or(l.Path, l.Asked)) + " (" + Clean(l.ID) + ")"
	}
	return Clean(cmp.Or(l.Path, l.Asked, "of no name"))
}

// agreement says who has which value; one value for all hosts is one line.
func agreement(hosts int, what string, who map[string][]string) []string {
	if len(who) == 0 {
		return nil
	}
	var parts []string
	for value, names := range who {
		slices.Sort(names)
		if len(who) == 1 && len(names) == hosts {
			return []string{fmt.Sprintf("all %d hosts have the same %s: %s", hosts, what, cmp.Or(value, "not known"))}
		}
		parts = append(parts, cmp.Or(value, "not known")+" on "+strings.Join(names, ", "))
	}
	slices.Sort(parts)
	return []string{fmt.Sprintf("the hosts differ in their %s: %s", what, strings.Join(parts, "; "))}
}

// conflictLines say what the files of one host saw differently.
func conflictLines(d *probe.Document, o Options) []string {
	var lines []string
	for _, c := range d.Conflicts {
		where := strings.TrimSpace(cleanName(c.Host) + " " + cleanName(c.Device))
		if c.Port != 0 {
			where += fmt.Sprintf(" port %d", c.Port)
		}
		var sides []string
		for _, s := range c.Seen {
			side := cleanName(string(s.Level)) + " in " + Clean(s.File)
			if s.StartedAt != nil {
				side += " (" + age(o.Now, *s.StartedAt) + ")"
			}
			sides = append(sides, side)
		}
		what := cleanName(c.ID)
		if c.OSBuild != "" {
			what += " under build " + Clean(c.OSBuild)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", strings.TrimSpace(where), what, strings.Join(sides, ", ")))
	}
	return lines
}

// contradictions are the capabilities whose evidence and a document disagree.
func contradictions(d *probe.Document, r rows) []string {
	var lines []string
	for _, row := range matrixOfAll(d, r) {
		for i, v := range row.verdicts {
			for _, c := range v.sum.Documented {
				if c.Against(v.level) {
					lines = append(lines, claim(row.dev, columns[i], v, c))
				}
			}
		}
	}
	return lines
}

// differences prints, under the matrix, where files or documents disagree.
func (t *printer) differences() {
	if lines := conflictLines(t.d, t.o); len(lines) > 0 {
		t.section()
		for _, l := range lines {
			t.prose("conflict: ", l)
		}
	}
	lines := contradictions(t.d, t.r)
	if t.wide || len(lines) == 0 {
		return // wide has every claim
	}
	t.section()
	more := ""
	if len(lines) > 1 {
		more = fmt.Sprintf(" (and %d more: -o wide)", len(lines)-1)
	}
	t.prose("! ", lines[0]+more)
}
