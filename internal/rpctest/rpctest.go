// Package rpctest reads and answers JSON-RPC requests in tests.
package rpctest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Call is a call of a request.
type Call struct {
	ID     json.RawMessage
	Method string
	Params []json.RawMessage
}

// Request is one call, or a batch.
type Request struct {
	Calls   []Call
	IsBatch bool
}

// Read returns the calls of an HTTP request. Its body can be read again.
func Read(r *http.Request) (asked Request, err error) {
	var body []byte
	if r.Body != nil {
		body, err = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if asked.IsBatch = bytes.HasPrefix(body, []byte("[")); !asked.IsBatch {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	if err = cmp.Or(err, json.Unmarshal(body, &asked.Calls)); err == nil && len(asked.Calls) == 0 {
		err = errors.New("a request without calls")
	}
	return asked, err
}

// Answer returns the text of a response, in which each call has the given members, such as `"result":"0x1"`.
func (r Request) Answer(members func(Call) string) string {
	objects := make([]string, len(r.Calls))
	for i, c := range r.Calls {
		objects[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, c.ID, members(c))
	}
	if !r.IsBatch {
		return objects[0]
	}
	return "[" + strings.Join(objects, ",") + "]"
}

// Handler is a server that answers each call with members, see Request.Answer.
type Handler func(Call) (members string)

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, err := Read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, asked.Answer(h)) // fails if the client has left
}

// Fault returns the members of a response that is an error.
func Fault(code int, message string) string {
	return fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message)
}
