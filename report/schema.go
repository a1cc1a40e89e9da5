package report

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"slices"
	"sync"
)

// SchemaID is the $id of the document's JSON Schema, of the major version that
// this program writes. It names, it is not an address.
const SchemaID = "urn:rdmaprobe:report:1"

//go:generate go test -run TestSchemaIsCurrent -update .

// schemaGZ is schema.json, which is ten times as large.
//
//go:embed schema.json.gz
var schemaGZ []byte

// schemaJSON unpacks it. It panics when that cannot be done, which a test of this
// package excludes.
var schemaJSON = sync.OnceValue(func() []byte {
	r, err := gzip.NewReader(bytes.NewReader(schemaGZ))
	if err != nil {
		panic("report: the schema: " + err.Error())
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic("report: the schema: " + err.Error())
	}
	return text
})

// Schema is the JSON Schema (draft 2020-12) of the document, made from the types
// of package probe. Unknown fields are allowed: a later minor version adds some.
func Schema() []byte { return slices.Clone(schemaJSON()) }
