package reference

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// ordered is a mapping that keeps the sequence of the document.
type ordered[T any] []pair[T]

type pair[T any] struct {
	Name  string
	Value T
}

func (o *ordered[T]) UnmarshalYAML(from *yaml.Node) error {
	if from.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: not a mapping", from.Line)
	}
	for i := 0; i < len(from.Content); i += 2 {
		each := pair[T]{Name: from.Content[i].Value}
		if err := from.Content[i+1].Decode(&each.Value); err != nil {
			return err
		}
		*o = append(*o, each)
	}
	return nil
}

func (o ordered[T]) of(name string) (value T, is bool) {
	for _, each := range o {
		if each.Name == name {
			return each.Value, true
		}
	}
	return value, false
}

// JSON converts a YAML document to JSON, keeping the sequence of its members.
func JSON(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	return json.MarshalIndent(node{*document.Content[0]}, "", "  ")
}

// node is a value that is encoded as JSON with its members in the sequence of the document.
type node struct{ yaml.Node }

func (n *node) UnmarshalYAML(from *yaml.Node) error {
	n.Node = *from
	return nil
}

// MarshalJSON implements json.Marshaler.
func (n node) MarshalJSON() ([]byte, error) {
	if n.Kind == yaml.ScalarNode {
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, err
		}
		return json.Marshal(value)
	}
	brackets, between := "[]", ","
	if n.Kind == yaml.MappingNode {
		brackets, between = "{}", ",:"
	}
	text := bytes.NewBufferString(brackets[:1])
	for i, each := range n.Content {
		var member any = node{*each}
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			member = each.Value
		}
		if i > 0 {
			text.WriteByte(between[i%len(between)])
		}
		part, err := json.Marshal(member)
		if err != nil {
			return nil, err
		}
		text.Write(part)
	}
	text.WriteString(brackets[1:])
	return text.Bytes(), nil
}
