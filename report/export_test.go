package report

import (
	"strings"

	"rdmaprobe/probe"
)

// SampleDocuments are the well-formed samples, for tests outside of the package.
func SampleDocuments() map[string]*probe.Document {
	docs := map[string]*probe.Document{}
	for _, s := range samples {
		if !strings.HasPrefix(s.name, "hostile") {
			docs[s.name] = s.doc()
		}
	}
	return docs
}
