package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is what is read of an OpenAPI document (https://spec.openapis.org/oas/v3.1.1.html).
type document struct {
	Info       struct{ Summary, Description string }
	Tags       []struct{ Name, Description string }
	Paths      ordered[ordered[operation]] // by path and method
	Components struct {
		Parameters ordered[parameter]
		Responses  ordered[response]
		Headers    ordered[header]
		Schemas    ordered[schema]
	}
}

type operation struct {
	OperationID          string `yaml:"operationId"`
	AliasOf              string `yaml:"x-alias-of"` // id of the same operation under another path
	Tags                 []string
	Summary, Description string
	Parameters           []parameter
	RequestBody          *struct {
		Required bool
		Content  ordered[media]
	} `yaml:"requestBody"`
	Responses ordered[response]
}

type parameter struct {
	Ref                            string `yaml:"$ref"`
	Name, In, Description, Example string
	Required                       bool
	Schema                         schema
}

type response struct {
	Ref         string `yaml:"$ref"`
	Description string
	Headers     ordered[header]
	Content     ordered[media]
}

type header struct {
	Ref                  string `yaml:"$ref"`
	Description, Example string
}

type media struct {
	Schema  schema
	Example yaml.Node
}

// ordered is a mapping in the sequence of the document.
type ordered[T any] []pair[T]

type pair[T any] struct {
	Name  string
	Value T
}

func (o *ordered[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: no mapping", node.Line)
	}
	for i := 0; i < len(node.Content); i += 2 {
		each := pair[T]{Name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&each.Value); err != nil {
			return err
		}
		*o = append(*o, each)
	}
	return nil
}

// resolve is what a reference leads to among the components of its kind, or what stands there instead of a reference.
func resolve[T any](r *reader, components ordered[T], ref string, instead T) T {
	if ref == "" {
		return instead
	}
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	for _, each := range components {
		if each.Name == name {
			return each.Value
		}
	}
	if r.err == nil {
		r.err = fmt.Errorf("OpenAPI document: nothing is at %s", ref)
	}
	return instead
}

// JSON is a document of YAML as JSON, with its members in the same sequence.
func JSON(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	return []byte(jsonOf(document.Content[0])), nil
}

// jsonOf writes a value as JSON with its members in the sequence of the document.
func jsonOf(node *yaml.Node) string {
	var compact, indented bytes.Buffer
	appendJSON(&compact, node)
	if err := json.Indent(&indented, compact.Bytes(), "", "  "); err != nil {
		return compact.String()
	}
	return indented.String()
}

func appendJSON(to *bytes.Buffer, node *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode:
		appendAll(to, '{', '}', len(node.Content)/2, func(i int) {
			appendValue(to, node.Content[2*i].Value)
			to.WriteByte(':')
			appendJSON(to, node.Content[2*i+1])
		})
	case yaml.SequenceNode:
		appendAll(to, '[', ']', len(node.Content), func(i int) { appendJSON(to, node.Content[i]) })
	default:
		var value any
		if err := node.Decode(&value); err != nil {
			value = node.Value
		}
		appendValue(to, value)
	}
}

func appendAll(to *bytes.Buffer, begin, end byte, n int, each func(int)) {
	to.WriteByte(begin)
	for i := range n {
		if i > 0 {
			to.WriteByte(',')
		}
		each(i)
	}
	to.WriteByte(end)
}

func appendValue(to *bytes.Buffer, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte("null") // a number that is none
	}
	to.Write(text)
}
