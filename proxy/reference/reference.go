// Package reference reads an OpenAPI document into what a page about the API shows: operations by subject, their
// parameters, bodies, answers and errors, the schemas that they name, and for each operation a request that can be
// sent. Everything is in the sequence of the document. It is pure: what is shown where belongs to package web, what an
// example asks for to whoever knows what there is.
package reference

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Reference is an API. Texts may have `code`, **strong** words and paragraphs, as CommonMark has them.
type Reference struct {
	Summary, Text string
	Groups        []Group
	Headers       []Header // of answers, each once
	Schemas       []Schema
}

// Group is the operations of one subject, a tag of the document.
type Group struct {
	Name, Text string
	Operations []Operation
}

// Operation is a method of a path.
type Operation struct {
	ID, Method, Path, Summary, Text string
	Aliases                         []Alias
	Parameters                      []Parameter
	Body                            *Body // nil: none is read
	Answers                         []Reply
}

// Alias is another path of an operation, which the document has as an operation of its own (x-alias-of).
type Alias struct{ ID, Path string }

// Parameter is a part of the path or query, or a header.
type Parameter struct {
	Member
	In      string // path, query or header
	Example string // empty: the document has none
}

// Body is what a request carries.
type Body struct {
	IsRequired bool
	Media      []Media
}

// Reply is what comes back with a status.
type Reply struct {
	Status, Text string
	Media        []Media
	Errors       []string // that errorId may be
	Headers      []string // names of those that it may have
}

// Media is a body of one media type.
type Media struct {
	Type    string
	Schema  Type
	Example string // JSON; empty: the document has none
}

// Header is one that answers may have.
type Header struct{ Name, Text, Example string }

// Read reads an OpenAPI 3.1 document. A reference within it that leads nowhere is an error.
func Read(text []byte) (Reference, error) {
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return Reference{}, fmt.Errorf("OpenAPI document: %w", err)
	}
	r := reader{document: d}
	read := Reference{Summary: d.Info.Summary, Text: d.Info.Description, Schemas: r.schemas()}
	for _, tag := range d.Tags {
		read.Groups = append(read.Groups, Group{Name: tag.Name, Text: tag.Description})
	}
	aliases := make(map[string][]Alias)
	for _, path := range d.Paths {
		for _, method := range path.Value {
			o := r.operation(path.Name, method.Name, method.Value)
			if of := method.Value.AliasOf; of != "" {
				aliases[of] = append(aliases[of], Alias{o.ID, o.Path})
				continue
			}
			at := slices.IndexFunc(read.Groups, func(g Group) bool { return slices.Contains(method.Value.Tags, g.Name) })
			if at < 0 {
				return Reference{}, fmt.Errorf("OpenAPI document: %s %s has none of the tags", o.Method, o.Path)
			}
			read.Groups[at].Operations = append(read.Groups[at].Operations, o)
		}
	}
	for _, g := range read.Groups {
		for i := range g.Operations {
			o := &g.Operations[i]
			o.Aliases = aliases[o.ID]
			delete(aliases, o.ID)
		}
	}
	for of := range aliases {
		return Reference{}, fmt.Errorf("OpenAPI document: an alias of %s, which is no operation", of)
	}
	read.Headers = r.headers
	return read, r.err
}

// reader resolves references within a document.
type reader struct {
	document
	headers []Header // that answers were seen to have
	err     error    // the first
}

func (r *reader) operation(path, method string, from operation) Operation {
	o := Operation{ID: from.OperationID, Method: strings.ToUpper(method), Path: path, Summary: from.Summary, Text: from.Description}
	for _, each := range from.Parameters {
		p := resolve(r, r.Components.Parameters, each.Ref, each)
		o.Parameters = append(o.Parameters, Parameter{
			Member: Member{Name: p.Name, Type: typeOf(&p.Schema), IsRequired: p.Required, Text: p.Description, Rules: rulesOf(r.target(&p.Schema))},
			In:     p.In, Example: exampleOf(&p),
		})
	}
	if body := from.RequestBody; body != nil {
		o.Body = &Body{IsRequired: body.Required, Media: mediaOf(body.Content)}
	}
	for _, each := range from.Responses {
		o.Answers = append(o.Answers, r.answer(each.Name, resolve(r, r.Components.Responses, each.Value.Ref, each.Value)))
	}
	return o
}

func (r *reader) answer(status string, from response) Reply {
	a := Reply{Status: status, Text: from.Description, Media: mediaOf(from.Content)}
	for _, each := range from.Content {
		a.Errors = append(a.Errors, errorsOf(&each.Value.Schema)...)
	}
	for _, each := range from.Headers {
		h := resolve(r, r.Components.Headers, each.Value.Ref, each.Value)
		a.Headers = append(a.Headers, each.Name)
		if !slices.ContainsFunc(r.headers, func(known Header) bool { return known.Name == each.Name }) {
			r.headers = append(r.headers, Header{each.Name, h.Description, h.Example})
		}
	}
	return a
}

// exampleOf is what a parameter may be, if the document says so.
func exampleOf(p *parameter) string {
	if p.Example == "" && len(p.Schema.Examples) > 0 {
		return p.Schema.Examples[0]
	}
	return p.Example
}

func mediaOf(content ordered[media]) (all []Media) {
	for _, each := range content {
		m := Media{Type: each.Name, Schema: typeOf(&each.Value.Schema)}
		if !each.Value.Example.IsZero() {
			m.Example = jsonOf(&each.Value.Example)
		}
		all = append(all, m)
	}
	return all
}
