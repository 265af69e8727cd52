// Package jsonrpc is the part of a node's JSON-RPC 2.0 over HTTP that all nodes share: reading a call or a batch within
// limits, and writing the answers in their order. Methods and the decoding of their parameters belong to the node. A
// Node serves any number of requests concurrently, and Call has to allow that.
package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Error codes of the specification.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
)

// Error is a JSON-RPC error object.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Request is one call.
type Request struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

type answer struct {
	Version string          `json:"jsonrpc"`
	Result  any             `json:"result,omitzero"`
	Error   *Error          `json:"error,omitempty"`
	ID      json.RawMessage `json:"id"`
}

// Node answers JSON-RPC requests.
type Node struct {
	Call        func(context.Context, Request) (any, error)
	ContentType string // of responses
	MaxBytes    int64  // per request
	MaxBatch    int    // calls per batch; zero: unlimited
	// Malformed returns the error for a body that is not JSON, or is JSON but not a call.
	Malformed func(isJSON bool) *Error
	// Failed returns the error for a call that failed with something other than an *Error.
	Failed func(error) *Error
	// TooMany returns the error for a batch of more calls than MaxBatch.
	TooMany func(calls int) *Error
}

// ServeHTTP answers a call or a batch.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, n.MaxBytes))
	if err != nil {
		http.Error(w, "Payload Too Large", http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", n.ContentType)
	_ = json.NewEncoder(w).Encode(n.answerAll(r.Context(), bytes.TrimSpace(body))) // the client has gone
}

func (n *Node) answerAll(ctx context.Context, body []byte) any {
	var batch []json.RawMessage
	switch err := json.Unmarshal(body, &batch); {
	case err != nil || len(batch) == 0:
		return n.answer(ctx, body)
	case n.MaxBatch > 0 && len(batch) > n.MaxBatch:
		return newAnswer(nil, nil, n.TooMany(len(batch)))
	}
	answers := make([]answer, len(batch))
	for i, each := range batch {
		answers[i] = n.answer(ctx, each)
	}
	return answers
}

func (n *Node) answer(ctx context.Context, body []byte) answer {
	var request Request
	if err := json.Unmarshal(body, &request); err != nil {
		return newAnswer(request.ID, nil, n.Malformed(json.Valid(body)))
	}
	result, err := n.Call(ctx, request)
	if failed := (*Error)(nil); err != nil && !errors.As(err, &failed) {
		err = n.Failed(err)
	}
	return newAnswer(request.ID, result, err)
}

func newAnswer(id json.RawMessage, result any, err error) answer {
	null := json.RawMessage("null")
	a := answer{Version: "2.0", ID: id}
	if id == nil {
		a.ID = null
	}
	if errors.As(err, &a.Error) {
		return a
	}
	if a.Result = result; result == nil {
		a.Result = null
	}
	return a
}
