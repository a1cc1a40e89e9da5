// Package schematest checks documents against the published schema, in tests.
// Nothing that is shipped imports it: the validator is larger than a third of
// the program.
package schematest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rdmaprobe/report"
)

// compiled is the schema, with formats checked: by default they are not.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema()))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(report.SchemaID, v); err != nil {
		return nil, fmt.Errorf("add schema: %w", err)
	}
	return c.Compile(report.SchemaID)
})

// Check returns what is wrong with a document, nil when nothing is.
func Check(doc []byte) error {
	s, err := compiled()
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	return s.Validate(v)
}

// Validate fails a test whose document is not what the schema promises.
func Validate(t testing.TB, doc []byte) {
	t.Helper()
	if err := Check(doc); err != nil {
		t.Errorf("not a valid document: %v\n%.300s", err, doc)
	}
}
