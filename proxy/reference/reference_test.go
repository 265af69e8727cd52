package reference

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// documented is the API's document.
func documented(t *testing.T) Reference {
	t.Helper()
	return must.Get(Read(must.Get(os.ReadFile(filepath.Join("..", "openapi.yaml")))(t)))(t)
}

func operationOf(t *testing.T, id string) *Operation {
	t.Helper()
	for _, g := range documented(t).Groups {
		for i := range g.Operations {
			if g.Operations[i].ID == id {
				return &g.Operations[i]
			}
		}
	}
	t.Fatalf("no operation %s", id)
	return nil
}

func TestExamplesAreThoseOfTheDocument(t *testing.T) {
	for id, want := range map[string]Request{
		"swapById":     {Method: "GET", Target: "/api/SameChainSwap/0xdf63775b7b998b273f2205d7492d9ab304b13f05ce7f161d621f6a0611b8d1a4"},
		"tokenList":    {Method: "GET", Target: "/v1.0/token-list?chainId=1"},
		"searchTokens": {Method: "GET", Target: "/v1.0/token-list/search?query=usdc"},
	} {
		if got := operationOf(t, id).Example(); got != want {
			t.Errorf("example of %s = %+v, want %+v", id, got, want)
		}
	}
	if got := operationOf(t, "unlockList").Example(); got.Type != "application/json" || !strings.HasPrefix(got.Body, "{\n  \"giveChainIds\": [\n    137\n  ],") {
		t.Errorf("an example of the document is %+v", got)
	}
}

func TestAliasesStandWithTheirOperation(t *testing.T) {
	if got := operationOf(t, "lockedAssets").Aliases; len(got) != 1 || got[0].ID != "lockedAssetsSpelledRight" || got[0].Path != "/api/Statistics/{takerAddress}/lockedAssets" {
		t.Errorf("aliases of lockedAssets: %v", got)
	}
	for _, g := range documented(t).Groups {
		for _, o := range g.Operations {
			if strings.HasSuffix(o.ID, "SpelledRight") {
				t.Errorf("%s is listed by itself", o.ID)
			}
		}
	}
	const astray = "{tags: [{name: a}], paths: {/b: {get: {operationId: b, x-alias-of: c, tags: [a]}}}}"
	if _, err := Read([]byte(astray)); err == nil || !strings.Contains(err.Error(), "an alias of c") {
		t.Errorf("an alias of nothing: %v", err)
	}
}

// TestTypesAreInWords covers every kind of schema in the document.
func TestTypesAreInWords(t *testing.T) {
	const head = "tags: []\npaths: {}\ncomponents: {schemas: {A: {type: object, required: [m], properties: {m: "
	for schema, want := range map[string]string{
		"{type: integer, minimum: 0, maximum: 9}":                                    "m integer required; at least 0; at most 9",
		"{type: [string, 'null'], default: ''}":                                      "m string or null required",
		"{type: string, default: auto, pattern: '^a'}":                               "m string required; matches `^a`; `auto` if absent",
		"{enum: [x, '', null]}":                                                      "m string required; one of `x`",
		"{const: 'true'}":                                                            "m string required; always `true`",
		"{$ref: '#/components/schemas/A'}":                                           "m *A* required",
		"{oneOf: [{$ref: '#/components/schemas/A'}, {type: 'null'}]}":                "m *A* or null required",
		"{type: [array, 'null'], maxItems: 3, items: {type: integer}}":               "m array of integer or null required; at most 3 of them",
		"{type: object, additionalProperties: {$ref: '#/components/schemas/A'}}":     "m object of *A* required",
		"{type: object, additionalProperties: false, properties: {n: {}}}":           "m object required\nm.n any",
		"{type: array, items: {type: object, properties: {n: {type: boolean}}}}":     "m array of object required\nm[].n boolean",
		"{allOf: [{$ref: '#/components/schemas/A'}, {properties: {e: {const: x}}}]}": "m *A* required",
	} {
		read, err := Read([]byte(head + schema + "}}}}"))
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		var lines []string
		for _, m := range read.Components.Schemas[0].Value.Members() {
			text := m.Name + " "
			for _, word := range m.Type() {
				if word.Schema {
					word.Text = "*" + word.Text + "*"
				}
				text += word.Text
			}
			if m.Required {
				text += " required"
			}
			lines = append(lines, strings.Join(append([]string{text}, m.Rules()...), "; "))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s is %q, want %q", schema, got, want)
		}
	}
}

func TestDocumentsThatLeadNowhereAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a schema that is not there":   "components: {schemas: {A: {properties: {m: {$ref: '#/components/schemas/B'}}}}}",
		"a response that is not there": "tags: [{name: T}]\npaths: {/a: {get: {tags: [T], responses: {'200': {$ref: '#/components/responses/B'}}}}}",
		"an operation without a group": "tags: [{name: T}]\npaths: {/a: {get: {tags: [U]}}}",
		"no mapping":                   "paths: [a]",
		"no YAML":                      "a: [",
	} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("a document with %s is read", name)
		}
	}
}
