package reference

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
)

// Values are what examples ask for, by the operation's id with the parameter's name behind a dot, or by the parameter's
// name alone; the body of an operation is its parameter "body". What is not there is as the document has it.
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

// Example is a request with everything that the operation requires, and what the values have for this operation alone.
func (o *Operation) Example(values Values) Request {
	path, query, isKnown := o.Path, []string(nil), true
	for _, p := range o.Parameters {
		known, isOwn := values.of(o.ID, p.Name)
		switch value := cmp.Or(known, p.Example); {
		case p.In == "path":
			isKnown = isKnown && known != ""
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "query" && value != "" && (p.IsRequired || isOwn):
			query = append(query, p.Name+"="+url.QueryEscape(value))
		}
	}
	r := Request{Method: o.Method, Target: path, IsKnown: isKnown}
	if len(query) > 0 {
		r.Target += "?" + strings.Join(query, "&")
	}
	if o.Body != nil {
		own, _ := values.of(o.ID, "body")
		r.Type, r.Body = o.Body.Media[0].Type, cmp.Or(own, o.Body.Media[0].Example, "{}")
	}
	return r
}
