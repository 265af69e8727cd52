package stories_test

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

// TestSchemaTakesTheSandboxesConfiguration holds what the sandbox configures a gateway with against the schema.
func TestSchemaTakesTheSandboxesConfiguration(t *testing.T) {
	schema := must.Get(jsonschema.NewCompiler().Compile("../../config/schema.json"))(t)
	var file any
	must.Do(t, yaml.Unmarshal(sandboxtest.Shared(t).Config("orders.db"), &file))
	if err := schema.Validate(file); err != nil {
		t.Error(err)
	}
}
