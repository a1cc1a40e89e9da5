package report

import (
	_ "embed"
	"slices"
)

// SchemaID is the $id of the document's JSON Schema, of the major version that
// this program writes. It names, it is not an address.
const SchemaID = "urn:rdmaprobe:report:1"

//go:generate go test -run TestSchemaIsCurrent -update .

//go:embed schema.json
var schemaJSON []byte

// Schema is the JSON Schema (draft 2020-12) of the document, made from the types
// of package probe. Unknown fields are allowed: a later minor version adds some.
func Schema() []byte { return slices.Clone(schemaJSON) }
