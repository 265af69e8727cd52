package proxy

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Query reads a query and collects everything that is wrong with it. Unknown parameters are ignored: clients send
// access tokens and cache busters.
type Query struct {
	Mistakes
	Values url.Values
}

func ReadQuery(rawQuery string) (Query, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return Query{}, InvalidParameters.Because("the query is not properly URL-encoded")
	}
	return Query{Values: values}, nil
}

// Err names every wrong parameter.
func (p *Query) Err() error { return p.Problem(InvalidParameters) }

// Mistakes are the faults of a request, each named once.
type Mistakes struct{ Wrong []string }

func (m *Mistakes) Mistake(text string) { m.Wrong = AddOnce(m.Wrong, text) }

// Problem is nil without mistakes.
func (m *Mistakes) Problem(k Kind) error {
	if len(m.Wrong) == 0 {
		return nil
	}
	return k.Because(strings.Join(m.Wrong, "; "))
}

// InAnyCase has names stand for their spellings in other cases as well, as the tracking API of the hosted service does.
func (p *Query) InAnyCase(names ...string) {
	for spelled, values := range p.Values {
		for _, name := range names {
			if spelled != name && strings.EqualFold(spelled, name) {
				p.Values[name] = append(p.Values[name], values...)
				delete(p.Values, spelled)
			}
		}
	}
}

// Value returns a parameter's value, empty when it is absent. It is a mistake, and not ok, when there are several.
func (p *Query) Value(name string) (text string, ok bool) {
	if len(p.Values[name]) > 1 {
		p.Mistake(name + " must be given once")
		return "", false
	}
	return p.Values.Get(name), true
}

// Optional is value where a mistake is as good as nothing.
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

// AddOnce appends a value unless it is there.
func AddOnce[V comparable](values []V, value V) []V {
	if slices.Contains(values, value) {
		return values
	}
	return append(values, value)
}
