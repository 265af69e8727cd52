package reference

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
)

// Values are what examples ask for, by the operation's id with the parameter's name behind a dot, or by the parameter's
// name alone; the body of an operation is its parameter "body". Others are as the document has them.
type Values map[string]string

func (v Values) of(operation, parameter string) (value string, isOwn bool) {
	value, isOwn = v[operation+"."+parameter]
	return cmp.Or(value, v[parameter]), isOwn
}

// SetBody lets the example of an operation have a body of these members, which JSON can hold.
func (v Values) SetBody(operation string, members any) {
	text, err := json.Marshal(members)
	if err != nil {
		panic("reference: members that JSON cannot hold: " + err.Error())
	}
	v[operation+".body"] = string(text)
}

// Request is one that can be sent.
type Request struct {
	Method, Target string // path and query
	Type, Body     string // media type and body; empty: none
	IsKnown        bool   // the values have what its path names, so that it can be found
}

// Query is what the example of an operation has in its query.
func (o *Operation) Query(values Values) map[string]string {
	query := make(map[string]string)
	for _, p := range o.Parameters {
		known, isOwn := values.of(o.ID, p.Name)
		if value := cmp.Or(known, p.Example); p.In == "query" && value != "" && (p.Required || isOwn) {
			query[p.Name] = value
		}
	}
	return query
}

// Example is a request with everything that the operation requires, and what the values have for this operation alone.
func (o *Operation) Example(values Values) Request {
	r := Request{Method: o.Method, Target: o.Path, IsKnown: true}
	given, separator := o.Query(values), "?"
	for _, p := range o.Parameters {
		switch value := given[p.Name]; {
		case p.In == "path":
			known, _ := values.of(o.ID, p.Name)
			r.IsKnown = r.IsKnown && known != ""
			r.Target = strings.ReplaceAll(r.Target, "{"+p.Name+"}", url.PathEscape(cmp.Or(known, p.Example)))
		case p.In == "query" && value != "":
			r.Target += separator + p.Name + "=" + url.QueryEscape(value)
			separator = "&"
		}
	}
	if o.Body != nil {
		own, _ := values.of(o.ID, "body")
		r.Type, r.Body = o.Body.Content[0].Name, cmp.Or(own, o.Body.Content[0].Value.Example(), "{}")
	}
	return r
}
