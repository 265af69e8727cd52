// Package tron is the JSON-RPC of TRON's nodes over a go-ethereum node: java-tron's methods, limits, refusals
// and shapes (github.com/tronprotocol/documentation-en, docs/api/json-rpc), as far as readers of a chain use
// them. The node's coin is TRX, its smallest unit the sun, its gas energy.
package tron

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ethereum/go-ethereum/rpc"
)

// EnergyPrice is what a unit of energy costs, in sun: the chain parameter getEnergyFee.
const EnergyPrice = 100

// Limits as java-tron's configuration has them by default: maxMessageSize, maxBatchSize.
const (
	maxRequestBytes = 4 << 20
	maxBatch        = 100
)

// server answers one node's JSON-RPC. java-tron gives every answer of its own under status 200.
type server struct{ node *rpc.Client }

// New returns java-tron's JSON-RPC over an Ethereum node.
func New(node *rpc.Client) http.Handler { return &server{node} }

type request struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

// ServeHTTP answers a call or a batch of them.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err != nil {
		http.Error(w, "Payload Too Large", http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "application/json-rpc")
	_ = json.NewEncoder(w).Encode(s.answer(r.Context(), body)) // the client has gone
}

func (s *server) answer(ctx context.Context, body []byte) any {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		var one request
		if err := json.Unmarshal(body, &one); err != nil {
			return envelope(nil, nil, &fault{Code: parseError, Message: "JSON parse error"})
		}
		return s.answerOne(ctx, one)
	}
	var batch []request
	if err := json.Unmarshal(body, &batch); err != nil {
		return envelope(nil, nil, &fault{Code: parseError, Message: "JSON parse error"})
	}
	if len(batch) > maxBatch {
		said := fmt.Sprintf("Batch size %d exceeds the limit of %d", len(batch), maxBatch)
		return envelope(nil, nil, &fault{Code: limitExceeded, Message: said})
	}
	answers := make([]any, len(batch))
	for i, one := range batch {
		answers[i] = s.answerOne(ctx, one)
	}
	return answers
}

func (s *server) answerOne(ctx context.Context, r request) any {
	known, exists := methods[r.Method]
	switch {
	case !exists:
		return envelope(r.ID, nil, &fault{Code: methodNotFound, Message: "the method " + r.Method + " does not exist/is not available"})
	case len(r.Params) != known.parameters:
		return envelope(r.ID, nil, invalidParams("method parameters invalid"))
	}
	result, err := known.answer(s, ctx, r.Params)
	return envelope(r.ID, result, err)
}

// envelope is a response object. Errors that are no faults come from the node beneath.
func envelope(id json.RawMessage, result any, err error) map[string]any {
	answer := map[string]any{"jsonrpc": "2.0", "id": id}
	if err == nil {
		answer["result"] = result
		return answer
	}
	var said *fault
	if !errors.As(err, &said) {
		said = &fault{Code: internalError, Message: err.Error()}
	}
	answer["error"] = said
	return answer
}
