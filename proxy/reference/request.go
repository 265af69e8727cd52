package reference

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

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
