package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/client-go/openapi/openapitest"
	"sigs.k8s.io/yaml"
)

// schemas are those of Kubernetes' own API, by version and kind, as far as its client library includes them: core and
// apps. They define required fields and the form of values.
type schemas map[string]*jsonschema.Schema

func loadSchemas(t *testing.T) schemas {
	t.Helper()
	paths := mustGet(openapitest.NewEmbeddedFileClient().Paths())(t)
	all := schemas{}
	for path, version := range map[string]string{"api/v1": "v1", "apis/apps/v1": "apps/v1"} {
		text := mustGet(paths[path].Schema("application/json"))(t)
		document := mustGet(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
		compiler := jsonschema.NewCompiler()
		mustDo(t, compiler.AddResource("api.json", document))
		components := document.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)
		for name := range components {
			parts := strings.Split(name, ".")
			if kind := parts[len(parts)-1]; slices.Contains([]string{"ConfigMap", "Deployment", "PersistentVolumeClaim", "Service", "ServiceAccount"}, kind) {
				all[version+" "+kind] = mustGet(compiler.Compile("api.json#/components/schemas/" + name))(t)
			}
		}
	}
	return all
}

// check validates a manifest against the schema of its kind. It reports whether there is one.
func (s schemas) check(manifest []byte) (known bool, err error) {
	var named struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(manifest, &named); err != nil {
		return false, err
	}
	schema, known := s[named.APIVersion+" "+named.Kind]
	if !known {
		return false, nil
	}
	text, err := yaml.YAMLToJSONStrict(manifest)
	if err != nil {
		return true, err
	}
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return true, err
	}
	return true, schema.Validate(object)
}

// TestManifestsAreValid validates every manifest of core and apps against Kubernetes' schemas.
// TestManifestsAreWhatKubernetesKnows checks the others by their types.
func TestManifestsAreValid(t *testing.T) {
	all := loadSchemas(t)
	for _, shape := range shapes {
		text := mustGet(render(loadChart(t), readValues(t, shape)))(t)
		checked := 0
		for _, document := range documents(t, text) {
			known, err := all.check(document)
			if err != nil {
				t.Errorf("%s.yaml: %v\n%s", shape, err, document)
			}
			if known {
				checked++
			}
		}
		if checked < 4 {
			t.Errorf("%s.yaml: %d manifests were checked", shape, checked)
		}
	}
}

// TestSchemasRefuse requires the schemas to report a missing and an invalid field.
func TestSchemasRefuse(t *testing.T) {
	all := loadSchemas(t)
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {}, template: {spec: {containers: [%s]}}}\n"
	if known, err := all.check(fmt.Appendf(nil, deployment, "{name: a, ports: [{containerPort: 80}]}")); !known || err != nil {
		t.Errorf("a whole one is known: %v, and refused: %v", known, err)
	}
	for _, wrong := range []string{
		fmt.Sprintf(deployment, "{image: a}"),
		fmt.Sprintf(deployment, "{name: a, ports: [{name: http}]}"),
		fmt.Sprintf(deployment, "{name: a, args: serve}"),
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {}}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: many}]}\n",
	} {
		if known, err := all.check([]byte(wrong)); !known || err == nil {
			t.Errorf("the schemas know: %v, and take %s", known, wrong)
		}
	}
}
