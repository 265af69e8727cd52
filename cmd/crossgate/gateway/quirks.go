package gateway

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/jsonrpc/behaviour"
)

// Quirk is something that an endpoint refused while it was looked at.
type Quirk struct {
	Method string `json:"method"`
	Means  string `json:"means"`          // a jsonrpc.Meaning in words
	Case   string `json:"case,omitempty"` // of the book of behaviours, whose answer has the same words
}

// String is the quirk in words.
func (q Quirk) String() string {
	if q.Case == "" {
		return q.Method + ": " + q.Means
	}
	return fmt.Sprintf("%s: %s (in the book: %s)", q.Method, q.Means, q.Case)
}

// quirkOf is what an error says of the endpoint that was asked; not is one that says nothing of it.
func quirkOf(method string, err error) (found Quirk, is bool) {
	said, is := jsonrpc.Said(err, func(e *jsonrpc.Error) bool { return e.Meaning().Class() != jsonrpc.Final })
	if !is {
		return Quirk{}, false
	}
	words := withoutNumbers(said.Message)
	cases := behaviour.Book()
	at := slices.IndexFunc(cases, func(c behaviour.Case) bool { return c.Question.Method == method && messageIn(c.Answer.Body) == words })
	found = Quirk{Method: method, Means: string(said.Meaning())}
	if at >= 0 {
		found.Case = cases[at].ID
	}
	return found, true
}

// messageIn is the message of a recorded error object without its numbers; empty when there is none.
func messageIn(body string) string {
	var object struct {
		Error *jsonrpc.Error `json:"error"`
	}
	if json.Unmarshal([]byte(body), &object) != nil || object.Error == nil {
		return ""
	}
	return withoutNumbers(object.Error.Message)
}

var numbers = regexp.MustCompile(`0x[0-9a-f]+|\d[\d,._]*`)

func withoutNumbers(text string) string { return numbers.ReplaceAllString(strings.ToLower(text), "#") }
