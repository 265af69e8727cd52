// Package reference parses an OpenAPI document (https://spec.openapis.org/oas/v3.1.1.html) for the page that shows it,
// with a request for each operation. Everything keeps the sequence of the document.
package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Reference is an API. Texts may have `code`, **strong** words and paragraphs, as in CommonMark.
type Reference struct {
	Info       struct{ Summary, Description string }
	Groups     []Group                     `yaml:"tags"`
	Paths      ordered[ordered[Operation]] // by path and method
	Components struct{ Schemas ordered[Schema] }
	Headers    ordered[Header] `yaml:"-"` // of all responses, each once
}

// Group is a subject and its operations.
type Group struct {
	Name, Description string
	Operations        []Operation `yaml:"-"`
}

// Operation is a method of a path.
type Operation struct {
	ID                   string `yaml:"operationId"`
	AliasOf              string `yaml:"x-alias-of"` // id of the same operation under another path
	Tags                 []string
	Summary, Description string
	Parameters           []Parameter
	Body                 *Body `yaml:"requestBody"`
	Responses            ordered[Response]

	Method, Path string      `yaml:"-"`
	Aliases      []Operation `yaml:"-"` // the same operation under other paths
}

// Parameter is a part of the path or query, or a header.
type Parameter struct {
	Name, In, Description, Example string
	Required                       bool
	Schema                         Schema
	Rules                          []string `yaml:"-"` // constraints of its values, in words
}

// Body is the body of a request.
type Body struct {
	Required bool
	Content  ordered[Media]
}

// Response is the response for a status.
type Response struct {
	Description string
	Headers     ordered[Header]
	Content     ordered[Media]
}

// Header is a header that responses may have.
type Header struct{ Description, Example string }

// Media is a body of one media type.
type Media struct {
	Schema Schema
	Sample node `yaml:"example"`
}

// Read parses an OpenAPI 3.1 document. A reference to a component that does not exist is an error.
func Read(text []byte) (r Reference, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return r, fmt.Errorf("OpenAPI document: %w", err)
	}
	if err := resolve(&document, &document); err != nil {
		return r, err
	}
	if err := document.Decode(&r); err != nil {
		return r, fmt.Errorf("OpenAPI document: %w", err)
	}
	aliases := make(map[string][]Operation)
	for _, path := range r.Paths {
		for _, each := range path.Value {
			o := each.Value
			o.Method, o.Path = strings.ToUpper(each.Name), path.Name
			r.complete(&o)
			if o.AliasOf != "" {
				aliases[o.AliasOf] = append(aliases[o.AliasOf], o)
				continue
			}
			at := slices.IndexFunc(r.Groups, func(g Group) bool { return slices.Contains(o.Tags, g.Name) })
			if at < 0 {
				return r, fmt.Errorf("OpenAPI document: %s %s has none of the tags", o.Method, o.Path)
			}
			r.Groups[at].Operations = append(r.Groups[at].Operations, o)
		}
	}
	for _, g := range r.Groups {
		for i := range g.Operations {
			o := &g.Operations[i]
			o.Aliases = aliases[o.ID]
			delete(aliases, o.ID)
		}
	}
	for of := range aliases {
		return r, fmt.Errorf("OpenAPI document: an alias of %s, which is not an operation", of)
	}
	return r, nil
}

// Operation returns the operation with an id, which must exist.
func (r *Reference) Operation(id string) Operation {
	for _, g := range r.Groups {
		for _, o := range g.Operations {
			if o.ID == id {
				return o
			}
		}
	}
	panic("reference: no operation " + id)
}

// complete sets the rules of parameters, and adds the headers of responses to r, unless already known.
func (r *Reference) complete(o *Operation) {
	for i := range o.Parameters {
		p := &o.Parameters[i]
		p.Rules = p.Schema.Rules()
		if named, is := r.Components.Schemas.of(p.Schema.name()); is {
			p.Rules = named.Rules()
		}
		if p.Example == "" && len(p.Schema.Examples) > 0 {
			p.Example = p.Schema.Examples[0]
		}
	}
	for _, response := range o.Responses {
		for _, h := range response.Value.Headers {
			if _, known := r.Headers.of(h.Name); !known {
				r.Headers = append(r.Headers, h)
			}
		}
	}
}

// Answers returns the responses that are not problems.
func (o Operation) Answers() ordered[Response] { return o.responses(false) }

// Problems returns the responses with an errorId.
func (o Operation) Problems() ordered[Response] { return o.responses(true) }

func (o Operation) responses(areProblems bool) ordered[Response] {
	return slices.DeleteFunc(slices.Clone(o.Responses), func(each pair[Response]) bool { return (len(each.Value.Errors()) > 0) != areProblems })
}

// Errors returns the values that errorId may have.
func (r Response) Errors() (ids []string) {
	for _, each := range r.Content {
		ids = append(ids, each.Value.Schema.errors()...)
	}
	return ids
}

// Example returns the document's example of a body in JSON, empty if there is none.
func (m Media) Example() string {
	if m.Sample.Kind == 0 {
		return ""
	}
	text, err := json.MarshalIndent(m.Sample, "", "  ")
	if err != nil {
		panic("reference: an example that JSON cannot hold: " + err.Error())
	}
	return string(text)
}

// resolve replaces references below a node by their components, except those to schemas, which are shown by name.
func resolve(document, at *yaml.Node) error {
	for _, each := range at.Content {
		if err := resolve(document, each); err != nil {
			return err
		}
	}
	ref := member(at, "$ref")
	if ref == nil {
		return nil
	}
	found := document.Content[0]
	for name := range strings.SplitSeq(strings.TrimPrefix(ref.Value, "#/"), "/") {
		if found = member(found, name); found == nil {
			return fmt.Errorf("OpenAPI document: line %d: nothing is at %s", ref.Line, ref.Value)
		}
	}
	if strings.Contains(ref.Value, "/schemas/") {
		return nil
	}
	*at = *found
	return resolve(document, at)
}

func member(of *yaml.Node, name string) *yaml.Node {
	for i := 0; of.Kind == yaml.MappingNode && i < len(of.Content); i += 2 {
		if of.Content[i].Value == name {
			return of.Content[i+1]
		}
	}
	return nil
}

// Request is a request that can be sent.
type Request struct {
	Method, Target string // path and query
	Type, Body     string // media type and body; empty if there is none
}

// Example returns a request with everything that the operation requires, made from the document's examples.
func (o *Operation) Example() Request {
	r, separator := Request{Method: o.Method, Target: o.Path}, "?"
	for _, p := range o.Parameters {
		switch {
		case p.In == "path":
			r.Target = strings.ReplaceAll(r.Target, "{"+p.Name+"}", url.PathEscape(p.Example))
		case p.In == "query" && p.Required:
			r.Target += separator + p.Name + "=" + url.QueryEscape(p.Example)
			separator = "&"
		}
	}
	if o.Body != nil {
		r.Type, r.Body = o.Body.Content[0].Name, cmp.Or(o.Body.Content[0].Value.Example(), "{}")
	}
	return r
}

// Arguments returns the parameters of an operation except headers, and the members of its body, each with its schema.
func (r *Reference) Arguments(o *Operation) (all []Member) {
	for _, p := range o.Parameters {
		if p.In != "header" {
			all = append(all, Member{p.Name, p.Required, r.described(p.Schema, p.Description)})
		}
	}
	if o.Body == nil {
		return all
	}
	body := r.described(o.Body.Content[0].Value.Schema, "")
	for _, each := range body.Properties {
		all = append(all, Member{each.Name, slices.Contains(body.Required, each.Name), r.described(each.Value, each.Value.Description)})
	}
	return all
}

// described returns a schema, or the component that it refers to, with another description unless that is empty.
func (r *Reference) described(s Schema, text string) Schema {
	if named, is := r.Components.Schemas.of(s.name()); is {
		s = named
	}
	s.Description = cmp.Or(text, s.Description)
	return s
}
