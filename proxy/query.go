package proxy

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// query reads a query and collects everything that is wrong with it. Unknown parameters are ignored: clients send
// access tokens and cache busters.
type query struct {
	mistakes
	values url.Values
}

func readQuery(rawQuery string) (query, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return query{}, invalidParameters.because("the query is not properly URL-encoded")
	}
	return query{values: values}, nil
}

// err names every wrong parameter.
func (p *query) err() error { return p.problem(invalidParameters) }

// mistakes are what is wrong with a request, each named once.
type mistakes struct{ wrong []string }

func (m *mistakes) mistake(text string) { m.wrong = addOnce(m.wrong, text) }

// problem is nil without mistakes.
func (m *mistakes) problem(k kind) error {
	if len(m.wrong) == 0 {
		return nil
	}
	return k.because(strings.Join(m.wrong, "; "))
}

// inAnyCase has names stand for their spellings in other cases as well, as the tracking API of the hosted service does.
func (p *query) inAnyCase(names ...string) {
	for spelled, values := range p.values {
		for _, name := range names {
			if spelled != name && strings.EqualFold(spelled, name) {
				p.values[name] = append(p.values[name], values...)
				delete(p.values, spelled)
			}
		}
	}
}

// value returns a parameter's value, empty when it is absent. It is a mistake, and not ok, when there are several.
func (p *query) value(name string) (text string, ok bool) {
	if len(p.values[name]) > 1 {
		p.mistake(name + " must be given once")
		return "", false
	}
	return p.values.Get(name), true
}

// optional is value where a mistake is as good as nothing.
func (p *query) optional(name string) string {
	text, _ := p.value(name)
	return text
}

func readBody(c *gin.Context) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, bodyBytes))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return nil, bodyTooLong.from(err)
	}
	if err != nil {
		return nil, unreadable.from(err)
	}
	return body, nil
}

