// Package tron is the JSON-RPC of TRON's nodes over a go-ethereum node: java-tron's methods, limits, refusals and
// shapes (github.com/tronprotocol/documentation-en, docs/api/json-rpc), as far as readers of a chain use them. The
// node's coin is TRX, its smallest unit the sun, its gas energy.
//
// A call goes through the table of methods to a function whose parameter types decode the call's parameters. The
// function asks the underlying node and converts its answer to java-tron's shape: blocks' hashes begin with the block's
// number, limits and refusals are java-tron's, and members that TRON does not have are filled as java-tron fills them.
// All of it may be called from any goroutine.
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

// EnergyPrice is the price of a unit of energy, in sun: the chain parameter getEnergyFee.
const EnergyPrice = 100

// Defaults of java-tron's configuration: maxMessageSize, maxBatchSize.
const (
	maxRequestBytes = 4 << 20
	maxBatch        = 100
)

// server answers one node's JSON-RPC. Like java-tron, it answers errors with status 200.
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

// java-tron's error codes beyond those of the specification.
const (
	internalError = -32000
	limitExceeded = -32005
)

// refusal returns an error object of java-tron, which always has data.
func refusal(code int, message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: message, Data: "{}"}
}

func invalidParams(message string) *jsonrpc.Error { return refusal(jsonrpc.InvalidParams, message) }

// errNoRequest is the error for a parameter that is not the required object.
var errNoRequest = refusal(jsonrpc.InvalidRequest, "invalid json request")

// call decodes exactly as many parameters as the method's function takes after the server and the context.
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
