package cmd

import (
	"fmt"
	"io"
	"strings"

	"rdmaprobe/fixtures"
	"rdmaprobe/probe"
)

// maxProfile is the largest profile file that is read, in bytes.
const maxProfile = 1 << 20

// defaultProfile is what --provider sim plays.
const defaultProfile = "mac-studio"

// providerOptions reads --provider and --library.
func (a *app) providerOptions() (probe.ProviderOptions, error) {
	name, simulated := strings.CutPrefix(a.provider, "sim:")
	switch {
	case a.provider == "native":
		return probe.ProviderOptions{Library: a.library}, nil
	case a.provider == "sim":
		name = defaultProfile
	case !simulated:
		return probe.ProviderOptions{}, &probe.UsageError{Text: fmt.Sprintf("--provider %s: want native, sim:NAME or sim:FILE", a.provider)}
	}
	if a.library != "" {
		return probe.ProviderOptions{}, &probe.UsageError{Text: "--library names a real library and --provider a simulated one: drop one"}
	}
	data, err := readProfile(name)
	return probe.ProviderOptions{Name: name, Profile: data}, err
}

// readProfile finds a profile: a name with a slash or ending in .json is a file.
func readProfile(name string) ([]byte, error) {
	if !strings.Contains(name, "/") && !strings.HasSuffix(name, ".json") {
		data, ok := fixtures.Profile(name)
		if !ok {
			return nil, &probe.UsageError{Text: fmt.Sprintf("no profile %q; there are %s; a file has a slash in its name or ends in .json", name, profileNames())}
		}
		return data, nil
	}
	f, err := openInput(name)
	if err != nil {
		return nil, &probe.UsageError{Text: fmt.Sprintf("profile: %v", err)}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxProfile+1))
	switch {
	case err != nil:
		return nil, &probe.UsageError{Text: fmt.Sprintf("profile: %v", err)}
	case len(data) > maxProfile:
		return nil, &probe.UsageError{Text: fmt.Sprintf("profile %s: larger than %d MiB", name, maxProfile>>20)}
	}
	return data, nil
}

func profileNames() string {
	var names []string
	for _, p := range fixtures.Profiles() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// options are those of every command that asks a provider.
func (a *app) options() (probe.Options, error) {
	p, err := a.providerOptions()
	return probe.Options{Tool: a.tool(), Command: a.command(), Provider: p, Store: a.store}, err
}
