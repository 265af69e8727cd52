package reference

import (
	"cmp"
	"net/url"
	"strings"
)

// Request is one that can be sent.
type Request struct {
	Method, Target string // path and query
	Type, Body     string // media type and body; empty: none
}

// Example is a request with everything that the operation requires, by the examples of the document.
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
