package report

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// TestSchemaIsCurrent makes the schema from the types of package probe and
// compares it with the committed one; with -update it rewrites that.
func TestSchemaIsCurrent(t *testing.T) {
	want, err := makeSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(Schema())); diff != "" {
		t.Errorf("schema.json is not what the types say, run go generate ./report (-types +file):\n%s", diff)
	}
}

func makeSchema() ([]byte, error) {
	r := jsonschema.Reflector{
		Anonymous:                 true,
		ExpandedStruct:            true,
		AllowAdditionalProperties: true,
		Mapper:                    mapType,
	}
	s := r.Reflect(&probe.Document{})
	s.ID = SchemaID
	s.Title = "rdmaprobe report"
	s.Description = "What every command of rdmaprobe prints with --json. Fields may be added in a minor version."
	constrain(s)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}

// mapType gives the schemas that reflection cannot: closed lists, and types that
// write themselves.
func mapType(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[rdma.Capability]():
		return enum(rdma.CapabilityConfirmed, rdma.CapabilityRejected, rdma.CapabilityObservedZero, rdma.CapabilityUnknown)
	case reflect.TypeFor[probe.Reason]():
		return enum(probe.Reasons...)
	case reflect.TypeFor[probe.Outcome]():
		return enum(outcomes...)
	case reflect.TypeFor[probe.Return]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "integer"}, enum("null", "non-null")}}
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	}
	return nil
}

// outcomes are the ways in which a child ends.
var outcomes = []probe.Outcome{"completed", "crashed", "timed_out", "stuck", "left"}

func enum[T ~string](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// constrain adds what a plain string or an any in the types cannot say.
func constrain(s *jsonschema.Schema) {
	field := func(def, name string) *jsonschema.Schema {
		props := s.Properties
		if def != "" {
			props = s.Definitions[def].Properties
		}
		p, ok := props.Get(name)
		if !ok {
			panic("no field " + def + "." + name + ": the types have changed")
		}
		return p
	}
	field("", "schema").Const = probe.Schema
	field("", "schema_version").Pattern = `^1\.(0|[1-9][0-9]*)$`
	*field("Provider", "kind") = *enum(probe.Native, probe.Simulated)
	for _, def := range []string{"Verdict", "PortVerdict"} {
		*field(def, "word") = *enum(probe.VerdictReady, probe.VerdictNotReady, probe.VerdictImpossible, probe.VerdictNotKnown)
	}
	*field("Finding", "severity") = *enum(probe.SeverityError, probe.SeverityWarning, probe.SeverityInfo)
	for _, name := range []string{"max_mr_size", "page_size_cap"} {
		field("DeviceAttr", name).Pattern = `^(0|[1-9][0-9]{0,19})$`
	}
	*field("Observation", "value") = jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
	// An unknown level has a reason, and nothing else has one.
	level := jsonschema.NewProperties()
	level.Set("level", &jsonschema.Schema{Const: string(rdma.CapabilityUnknown)})
	o := s.Definitions["Observation"]
	o.If = &jsonschema.Schema{Properties: level}
	o.Then = &jsonschema.Schema{Required: []string{"reason"}}
	o.Else = &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{"reason"}}}
	// A list that was not read is null, one that is empty was read.
	nullable(field("Interface", "addresses"))
	nullable(field("Host", "netdev_of_device").AdditionalProperties)
}

// nullable lets a schema take null as well.
func nullable(s *jsonschema.Schema) {
	own := *s
	*s = jsonschema.Schema{AnyOf: []*jsonschema.Schema{&own, {Type: "null"}}}
}
