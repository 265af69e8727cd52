package stories_test

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"crossgate/sandbox/sandboxtest"
)

// TestSchemaTakesTheSandboxesConfiguration holds what the sandbox configures a gateway with against the schema.
func TestSchemaTakesTheSandboxesConfiguration(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../config/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var file any
	if err := yaml.Unmarshal(sandboxtest.Shared(t).Config("orders.db"), &file); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(file); err != nil {
		t.Error(err)
	}
}
