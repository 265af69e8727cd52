package reference

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Schema is a JSON Schema.
type Schema struct {
	Ref         string `yaml:"$ref"`
	Types       words  `yaml:"type"`
	Description string
	Properties  ordered[Schema]
	Required    []string
	Items       *Schema
	Additional  yaml.Node `yaml:"additionalProperties"` // schema of members with unknown names, or whether there may be any
	OneOf       []Schema  `yaml:"oneOf"`
	AllOf       []Schema  `yaml:"allOf"`
	Enum        words
	Const       string
	Default     string
	Minimum     string
	Maximum     string
	MaxItems    string `yaml:"maxItems"`
	Pattern     string
	Examples    []string
}

// Member is a named value of an object. Within objects its name is a path, such as a.b and a[].b.
type Member struct {
	Name     string
	Required bool
	Schema
}

// Word is a part of a type's description.
type Word struct {
	Text   string
	Schema bool // it is the name of a schema
}

type words []string

func (w *words) UnmarshalYAML(from *yaml.Node) error {
	if from.Kind == yaml.ScalarNode {
		*w = words{from.Value}
	}
	for _, each := range from.Content {
		*w = append(*w, each.Value)
	}
	return nil
}

// name returns the name of the component that the schema refers to.
func (s Schema) name() string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

// Members returns the members of an object, including those of nested objects without a name of their own.
func (s Schema) Members() []Member { return s.members("") }

func (s Schema) members(within string) (all []Member) {
	for _, each := range s.Properties {
		name := within + each.Name
		all = append(all, Member{Name: name, Required: slices.Contains(s.Required, each.Name), Schema: each.Value})
		all = append(all, each.Value.members(name+".")...)
		if each.Value.Items != nil {
			all = append(all, each.Value.Items.members(name+"[].")...)
		}
	}
	return all
}

// Type describes the type in words.
func (s Schema) Type() (said []Word) {
	var others Schema
	isObject := s.Additional.Kind == yaml.MappingNode && s.Additional.Decode(&others) == nil
	switch {
	case s.Ref != "":
		return []Word{{Text: s.name(), Schema: true}}
	case len(s.OneOf) > 0:
		for i, each := range s.OneOf {
			if i > 0 {
				said = append(said, Word{Text: " or "})
			}
			said = append(said, each.Type()...)
		}
		return said
	case len(s.AllOf) > 0:
		return s.AllOf[0].Type() // the rest narrows it
	case s.Items != nil && slices.Contains(s.Types, "array"):
		said = append([]Word{{Text: "array of "}}, s.Items.Type()...)
		if slices.Contains(s.Types, "null") {
			said = append(said, Word{Text: " or null"})
		}
		return said
	case isObject:
		return append([]Word{{Text: "object of "}}, others.Type()...)
	case len(s.Types) == 0 && s.Const+strings.Join(s.Enum, "") != "":
		return []Word{{Text: "string"}}
	case len(s.Types) == 0:
		return []Word{{Text: "any"}}
	}
	return []Word{{Text: strings.Join(s.Types, " or ")}}
}

// Rules describes in words which values are allowed.
func (s Schema) Rules() (rules []string) {
	for _, each := range []struct{ form, value string }{
		{"always `%s`", s.Const},
		{"one of `%s`", strings.Join(slices.DeleteFunc(slices.Clone(s.Enum), func(e string) bool { return e == "" || e == "null" }), "`, `")},
		{"at least %s", s.Minimum},
		{"at most %s", s.Maximum},
		{"at most %s of them", s.MaxItems},
		{"matches `%s`", s.Pattern},
		{"`%s` if absent", s.Default},
	} {
		if each.value != "" {
			rules = append(rules, fmt.Sprintf(each.form, each.value))
		}
	}
	return rules
}

// errors returns the values of errorId that a schema of problems allows.
func (s Schema) errors() (ids []string) {
	if id, is := s.Properties.of("errorId"); is {
		ids = append(ids, id.Enum...)
		if id.Const != "" {
			ids = append(ids, id.Const)
		}
	}
	for _, each := range s.AllOf {
		ids = append(ids, each.errors()...)
	}
	return ids
}
