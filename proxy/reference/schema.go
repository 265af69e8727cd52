package reference

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Schema is a named kind of value.
type Schema struct {
	Name, Text string
	Type       Type
	Rules      []string
	Members    []Member // of an object
}

// Member is a named value: of an object, or a parameter. Those of objects within the object have the path to them as
// their names, such as a.b and a[].b.
type Member struct {
	Name       string
	Type       Type
	IsRequired bool
	Text       string
	Rules      []string // of its values, in words
}

// Type says in words what a value is.
type Type []Word

// Word is a part of a type's text.
type Word struct {
	Text   string
	Schema bool // it is the name of a schema
}

// schema is what is read of a JSON schema.
type schema struct {
	Ref         string `yaml:"$ref"`
	Type        words
	Description string
	Properties  ordered[schema]
	Required    []string
	Items       *schema
	Additional  *additional `yaml:"additionalProperties"`
	OneOf       []schema    `yaml:"oneOf"`
	AllOf       []schema    `yaml:"allOf"`
	Enum        words
	Const       string
	Default     string
	Minimum     string
	Maximum     string
	MaxItems    string `yaml:"maxItems"`
	Pattern     string
	Examples    []string
}

// words are one text or several.
type words []string

func (w *words) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*w = words{node.Value}
		return nil
	}
	for _, each := range node.Content {
		*w = append(*w, each.Value)
	}
	return nil
}

// additional is the schema of members whose names are not known, or whether there are any.
type additional struct{ schema *schema }

func (a *additional) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return nil
	}
	a.schema = &schema{}
	return node.Decode(a.schema)
}

func (r *reader) schemas() (all []Schema) {
	for _, each := range r.Components.Schemas {
		s := each.Value
		all = append(all, Schema{Name: each.Name, Text: s.Description, Type: typeOf(&s), Rules: rulesOf(&s), Members: r.members("", &s)})
	}
	return all
}

// target is the schema that a schema refers to, or itself.
func (r *reader) target(s *schema) *schema {
	found := resolve(r, r.Components.Schemas, s.Ref, *s)
	return &found
}

// members are those of an object, with those of the objects in it that have no name of their own.
func (r *reader) members(within string, s *schema) (all []Member) {
	for _, each := range s.Properties {
		p, name := &each.Value, within+each.Name
		r.target(p) // which tells of one that leads nowhere
		all = append(all, Member{
			Name: name, Type: typeOf(p), IsRequired: slices.Contains(s.Required, each.Name), Text: p.Description, Rules: rulesOf(p),
		})
		all = append(all, r.members(name+".", p)...)
		if p.Items != nil {
			all = append(all, r.members(name+"[].", p.Items)...)
		}
	}
	return all
}

// typeOf says what the values of a schema are.
func typeOf(s *schema) Type {
	switch {
	case s.Ref != "":
		return Type{{Text: s.Ref[strings.LastIndexByte(s.Ref, '/')+1:], Schema: true}}
	case len(s.OneOf) > 0:
		return alternatives(s.OneOf)
	case len(s.AllOf) > 0:
		return typeOf(&s.AllOf[0]) // what follows narrows it
	case s.Items != nil && slices.Contains(s.Type, "array"):
		return slices.Concat(Type{{Text: "array of "}}, typeOf(s.Items), orNull(s.Type))
	case s.Additional != nil && s.Additional.schema != nil:
		return slices.Concat(Type{{Text: "object of "}}, typeOf(s.Additional.schema))
	case len(s.Type) == 0 && s.Const+strings.Join(s.Enum, "") != "":
		return Type{{Text: "string"}}
	case len(s.Type) == 0:
		return Type{{Text: "any"}}
	}
	return Type{{Text: strings.Join(s.Type, " or ")}}
}

func alternatives(choices []schema) (joined Type) {
	for i := range choices {
		if i > 0 {
			joined = append(joined, Word{Text: " or "})
		}
		joined = append(joined, typeOf(&choices[i])...)
	}
	return joined
}

func orNull(names words) Type {
	if slices.Contains(names, "null") {
		return Type{{Text: " or null"}}
	}
	return nil
}

// rulesOf says which of these values are allowed.
func rulesOf(s *schema) (rules []string) {
	say := func(form, value string) {
		if value != "" {
			rules = append(rules, fmt.Sprintf(form, value))
		}
	}
	say("always `%s`", s.Const)
	say("one of `%s`", strings.Join(slices.DeleteFunc(slices.Clone(s.Enum), func(e string) bool { return e == "" || e == "null" }), "`, `"))
	say("at least %s", s.Minimum)
	say("at most %s", s.Maximum)
	say("at most %s of them", s.MaxItems)
	say("matches `%s`", s.Pattern)
	say("`%s` if absent", s.Default)
	return rules
}

// errorsOf are the values that a schema of problems allows of errorId.
func errorsOf(s *schema) (ids []string) {
	for _, each := range s.Properties {
		if each.Name == "errorId" {
			ids = append(ids, each.Value.Enum...)
			if each.Value.Const != "" {
				ids = append(ids, each.Value.Const)
			}
		}
	}
	for i := range s.AllOf {
		ids = append(ids, errorsOf(&s.AllOf[i])...)
	}
	return ids
}
