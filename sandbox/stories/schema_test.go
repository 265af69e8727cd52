package stories_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"crossgate/config"
	"crossgate/sandbox/sandboxtest"
)

// TestSchemaTakesTheSandboxesConfiguration holds what the sandbox configures a gateway with against the schema.
func TestSchemaTakesTheSandboxesConfiguration(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var file any
	if err := yaml.Unmarshal(sandboxtest.Shared(t).Config("orders.db"), &file); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(object); err != nil {
		t.Error(err)
	}
}
