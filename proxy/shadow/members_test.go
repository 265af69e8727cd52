package shadow

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"crossgate/internal/must"
)

// TestRulesFitTheDocument compares the rules with openapi.yaml: each is about a documented member, and each optional
// member has a rule, without which it would count as undocumented at the origin.
func TestRulesFitTheDocument(t *testing.T) {
	document := must.Get(openapi3.NewLoader().LoadFromFile("../openapi.yaml"))(t)
	for route, known := range compared {
		path := document.Paths.Value(regexp.MustCompile(`:(\w+)`).ReplaceAllString(route, "{$1}"))
		if path == nil {
			t.Errorf("%s is not in openapi.yaml", route)
			continue
		}
		operation := path.Get
		if operation == nil {
			operation = path.Post
		}
		members := documented{}
		members.add("", operation.Responses.Value("200").Value.Content.Get("application/json").Schema.Value, false)
		for pattern := range known {
			if _, is := members[pattern]; !is {
				t.Errorf("%s: the rule of %q is about no documented member", route, pattern)
			}
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			if members[member] && !hasRule(known, member) {
				t.Errorf("%s: %q may be absent and has no rule", route, member)
			}
		}
	}
}

// hasRule reports whether a member, or one that contains it and is not compared in detail, has a rule.
func hasRule(known rules, member string) bool {
	if _, is := known[member]; is {
		return true
	}
	for above := member; above != ""; {
		above, _, _ = cutLast(above)
		if r, is := known[above]; is && r.kind == free {
			return true
		}
	}
	return false
}

func cutLast(path string) (before, after string, found bool) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path, false
	}
	return path[:at], path[at+1:], true
}

// documented maps the members of an answer to whether they may be absent.
type documented map[string]bool

func (d documented) add(path string, schema *openapi3.Schema, isOptional bool) {
	d[path] = d[path] || isOptional
	for _, each := range schema.OneOf {
		d.add(path, each.Value, isOptional)
	}
	below := func(name string) string { return strings.TrimPrefix(path+"/"+name, "/") }
	for name, property := range schema.Properties {
		d.add(below(name), property.Value, !slices.Contains(schema.Required, name))
	}
	if schema.Items != nil {
		d.add(below("*"), schema.Items.Value, false)
	}
	if schema.AdditionalProperties.Schema != nil {
		d.add(below("*"), schema.AdditionalProperties.Schema.Value, false)
	}
}
