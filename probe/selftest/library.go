package selftest

import (
	"errors"
	"slices"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/cfunc"
)

// loadName is the check of the library; each symbol has one of its own.
const loadName = "library.load"

func symbolName(symbol string) string { return "library." + symbol }

// symbols are what the binding looks up, in the order of its table.
func symbols() []string {
	bound := rdma.NewLibrary(rdma.LibraryConfig{}).Symbols() // without the inline verbs
	return slices.DeleteFunc(rdma.Verbs(), func(verb string) bool { _, ok := bound[verb]; return !ok })
}

func libraryNames() []string {
	names := []string{loadName}
	for _, s := range symbols() {
		names = append(names, symbolName(s))
	}
	return names
}

// loadLibrary opens the verbs library and looks at its symbols. It calls none.
func loadLibrary(c *guard.Child, path string) error {
	lib, err := rdma.Open(path)
	for _, check := range libraryChecks(lib, path != "", err) {
		if err := c.Send(msgCheck, check); err != nil {
			return err
		}
	}
	return nil
}

// libraryChecks are the lines about a library, or about the attempt to load one.
// That the system's is not there is no fault of this build; that one which was
// named is not there, is a mistake of whoever named it.
func libraryChecks(lib *rdma.Library, named bool, err error) []Check {
	if err != nil {
		var load *rdma.LoadError
		if errors.As(err, &load) && load.Class == rdma.LoadMissingFile && !named || !cfunc.Supported {
			err = skipf("%v", err)
		}
		checks := []Check{checkOf(loadName, "", err)}
		for _, s := range symbols() {
			checks = append(checks, checkOf(symbolName(s), "", skipf("no library")))
		}
		return checks
	}
	detail := lib.Path()
	if id := lib.ID(); id != "" {
		detail += ", " + id
	}
	checks := []Check{checkOf(loadName, detail, nil)}
	required := rdma.RequiredSymbols()
	for _, s := range symbols() {
		detail, err := "found", error(nil)
		switch {
		case lib.Has(s):
		case slices.Contains(required, s):
			err = errors.New("not in the library, and devices cannot be listed without it")
		default:
			err = skipf("not in the library; what needs it stays unknown")
		}
		checks = append(checks, checkOf(symbolName(s), detail, err))
	}
	return checks
}
