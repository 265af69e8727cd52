// Package tron is the JSON-RPC of TRON's nodes over a go-ethereum node: java-tron's methods, limits, refusals
// and shapes (github.com/tronprotocol/documentation-en, docs/api/json-rpc), as far as readers of a chain use
// them. The node's coin is TRX, its smallest unit the sun, its gas energy.
//
// A call goes through the table of methods to a function whose parameters say how the call's are read; that asks the
// node below and gives what it says the shape that java-tron would give it. Blocks' hashes begin with the block's
// number, limits and refusals are java-tron's, and what TRON has no value for is filled as there. All of it may be
// called from any goroutine.
package tron

import (
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"reflect"

	"github.com/ethereum/go-ethereum/rpc"

	"crossgate/sandbox/jsonrpc"
)

// EnergyPrice is what a unit of energy costs, in sun: the chain parameter getEnergyFee.
const EnergyPrice = 100

// Limits as java-tron's configuration has them by default: maxMessageSize, maxBatchSize.
const (
	maxRequestBytes = 4 << 20
	maxBatch        = 100
)

// server answers one node's JSON-RPC. java-tron gives every answer of its own under status 200.
type server struct{ node named }

// New returns java-tron's JSON-RPC over an Ethereum node and, on paths with a folder wallet or walletsolidity, its HTTP
// API.
func New(node *rpc.Client, wallet *Wallet) http.Handler {
	s := &server{named{node, wallet}}
	answers := &jsonrpc.Node{
		Call: s.call, ContentType: "application/json-rpc", MaxBytes: maxRequestBytes, MaxBatch: maxBatch,
		Malformed: func(bool) *jsonrpc.Error { return refusal(jsonrpc.ParseError, "JSON parse error") },
		Failed:    func(err error) *jsonrpc.Error { return refusal(internalError, err.Error()) }, // of the node below
		TooMany: func(calls int) *jsonrpc.Error {
			return refusal(limitExceeded, fmt.Sprintf("Batch size %d exceeds the limit of %d", calls, maxBatch))
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if folder := path.Base(path.Dir(r.URL.Path)); folder == "wallet" || folder == "walletsolidity" {
			s.serveWallet(w, r)
			return
		}
		if r.Method != http.MethodPost {
			http.Error(w, "POST only", http.StatusMethodNotAllowed)
			return
		}
		answers.ServeHTTP(w, r)
	})
}

// Codes of java-tron's errors beyond those of the specification.
const (
	internalError = -32000
	limitExceeded = -32005
)

// refusal is an error object of java-tron, whose data is never missing.
func refusal(code int, message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: message, Data: "{}"}
}

func invalidParams(message string) *jsonrpc.Error { return refusal(jsonrpc.InvalidParams, message) }

// errNoRequest is the answer to a parameter that is not the object that it should be.
var errNoRequest = refusal(jsonrpc.InvalidRequest, "invalid json request")

// call reads exactly as many parameters as the method's function takes behind the server and the context.
func (s *server) call(ctx context.Context, r jsonrpc.Request) (any, error) {
	method, exists := methods[r.Method]
	if !exists {
		return nil, refusal(jsonrpc.MethodNotFound, "the method "+r.Method+" does not exist/is not available")
	}
	function, args := reflect.ValueOf(method), []reflect.Value{reflect.ValueOf(s), reflect.ValueOf(ctx)}
	if len(r.Params) != function.Type().NumIn()-len(args) {
		return nil, invalidParams("method parameters invalid")
	}
	for _, parameter := range r.Params {
		into := reflect.New(function.Type().In(len(args)))
		err := json.Unmarshal(parameter, into.Interface())
		if word, ok := into.Interface().(encoding.TextUnmarshaler); ok {
			err = word.UnmarshalText([]byte(text(parameter)))
		}
		if err != nil {
			return nil, err
		}
		args = append(args, into.Elem())
	}
	results := function.Call(args)
	err, _ := results[1].Interface().(error)
	return results[0].Interface(), err
}
