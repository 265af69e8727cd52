package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Query is the parameters of a request. Their names may be spelled in any case, as in the tracking API of the hosted
// service. It collects everything wrong with them; unknown ones, such as access tokens, are ignored.
type Query struct {
	Mistakes
	Values url.Values // by name in lower case
}

// QueryOf returns parameters whose names are in any case.
func QueryOf(values url.Values) Query {
	p := Query{Values: make(url.Values, len(values))}
	for name, each := range values {
		name = strings.ToLower(name)
		p.Values[name] = append(p.Values[name], each...)
	}
	return p
}

// ReadQuery reads a query, or a form.
func ReadQuery(rawQuery string) Query { return QueryOf(ReadForm(rawQuery)) }

// ReadForm reads a query, or a form, as the frameworks behind the original APIs do: a semicolon is part of a value, and
// badly encoded text stays as written.
func ReadForm(rawQuery string) url.Values {
	values := url.Values{}
	for pair := range strings.SplitSeq(rawQuery, "&") {
		if name, value, _ := strings.Cut(pair, "="); pair != "" {
			values.Add(unescaped(name), unescaped(value))
		}
	}
	return values
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// Err returns an error that lists every wrong parameter, or nil.
func (p *Query) Err() error { return p.Problem(InvalidParameters) }

// Mistakes are the faults of a request, each listed once.
type Mistakes struct{ Wrong []string }

func (m *Mistakes) Mistake(text string) { m.Wrong = AddOnce(m.Wrong, text) }

// Problem returns the mistakes as a problem of a kind, or nil if there are none.
func (m *Mistakes) Problem(k Kind) error {
	if len(m.Wrong) == 0 {
		return nil
	}
	return k.Because(strings.Join(m.Wrong, "; "))
}

// All returns the values of a parameter.
func (p *Query) All(name string) []string { return p.Values[strings.ToLower(name)] }

// First returns the first value of a parameter, empty if it is absent.
func (p *Query) First(name string) string { return p.Values.Get(strings.ToLower(name)) }

// Value returns a parameter's value, empty if it is absent. Several values are a mistake, and not ok.
func (p *Query) Value(name string) (text string, ok bool) {
	if len(p.All(name)) > 1 {
		p.Mistake(name + " must be given once")
		return "", false
	}
	return p.First(name), true
}

// Optional is like Value, but a mistake reads as an absent value.
func (p *Query) Optional(name string) string {
	text, _ := p.Value(name)
	return text
}

func ReadBody(c *gin.Context) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, bodyBytes))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return nil, bodyTooLong.From(err)
	}
	if err != nil {
		return nil, unreadable.From(err)
	}
	return body, nil
}

// ReadJSON reads a JSON object as parameters: a list as several values, null as none, and anything but a string as
// written. Of members whose names differ in nothing but case, the last counts.
func ReadJSON(body []byte) (Query, error) {
	values, members := url.Values{}, json.NewDecoder(bytes.NewReader(body))
	if bracket, err := members.Token(); err != nil || bracket != json.Delim('{') || !json.Valid(body) {
		return Query{}, InvalidBody.Because("the body must be a JSON object")
	}
	for members.More() {
		var value json.RawMessage
		token, _ := members.Token() // valid, as checked above
		_ = members.Decode(&value)
		name := strings.ToLower(token.(string))
		delete(values, name)
		var list []json.RawMessage
		if string(value) != "null" && json.Unmarshal(value, &list) != nil {
			list = []json.RawMessage{value}
		}
		for _, each := range list {
			var text string
			if json.Unmarshal(each, &text) != nil {
				text = string(each)
			}
			values.Add(name, text)
		}
	}
	return Query{Values: values}, nil
}

// AddOnce appends a value unless it is already present.
func AddOnce[V comparable](values []V, value V) []V {
	if slices.Contains(values, value) {
		return values
	}
	return append(values, value)
}
