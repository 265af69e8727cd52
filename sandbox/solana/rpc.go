package solana

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"sync"

	"crossgate/sandbox/jsonrpc"
)

// Error codes of Solana's JSON-RPC beyond those of the specification: solana rpc-client-api, custom_error.rs.
const (
	codeBlockCleanedUp     = -32001
	codePreflight          = -32002
	codeBlockNotAvailable  = -32004
	codeSlotSkipped        = -32007
	codeUnsupportedVersion = -32015
	codeBehind             = -32016
)

// object is a JSON object.
type object = map[string]any

func refuse(code int, format string, args ...any) error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error { return refuse(jsonrpc.InvalidParams, format, args...) }

// methods maps names to functions whose arguments are the positional parameters, as decoded by bind.
var methods = map[string]any{
	"getAccountInfo":                    (*Chain).getAccountInfo,
	"getBalance":                        (*Chain).getBalance,
	"getBlock":                          (*Chain).getBlock,
	"getBlockHeight":                    func(_ *Chain, v view) (any, error) { return height(v.slot), nil },
	"getBlockTime":                      (*Chain).getBlockTime,
	"getBlocks":                         (*Chain).getBlocks,
	"getFirstAvailableBlock":            func(*Chain) (any, error) { return next(firstSlot), nil },
	"getGenesisHash":                    func(*Chain) (any, error) { return genesisHash, nil },
	"getHealth":                         func(*Chain) (any, error) { return "ok", nil },
	"getLatestBlockhash":                func(c *Chain, v view) (any, error) { return at(v.slot, c.latest(v.slot)), nil },
	"getMinimumBalanceForRentExemption": func(_ *Chain, size int) (any, error) { return rent(size), nil },
	"getMultipleAccounts":               (*Chain).getMultipleAccounts,
	"getProgramAccounts":                (*Chain).getProgramAccounts,
	"getRecentPrioritizationFees":       (*Chain).getRecentPrioritizationFees,
	"getSignatureStatuses":              (*Chain).getSignatureStatuses,
	"getSignaturesForAddress":           (*Chain).getSignaturesForAddress,
	"getSlot":                           func(_ *Chain, v view) (any, error) { return v.slot, nil },
	"getTransaction":                    (*Chain).getTransaction,
	"getVersion":                        func(*Chain) (any, error) { return version, nil },
	"sendTransaction":                   (*Chain).sendTransaction,
	"simulateTransaction":               (*Chain).simulateTransaction,
}

// nodeVersion is the release whose answers the sandbox imitates.
const nodeVersion = "2.3.8"

var version = object{"solana-core": nodeVersion, "feature-set": 3_640_012_085}

// genesisHash is the real chain's (github.com/firedancer-io/firedancer, MAINNET_BETA_GENESIS_HASH), for clients that
// check that a node serves mainnet.
const genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"

// ServeHTTP answers JSON-RPC as a node does.
func (c *Chain) ServeHTTP(w http.ResponseWriter, r *http.Request) { node{chain: c}.ServeHTTP(w, r) }

// NodeBehind returns a node that has not seen the newest slots yet. Its answers about older ones are true.
func (c *Chain) NodeBehind(slots uint64) http.Handler { return node{c, slots} }

// node is one of the chain's nodes.
type node struct {
	chain  *Chain
	behind uint64 // slots
}

func (n node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "Used HTTP Method is not allowed. POST or OPTIONS is required", http.StatusMethodNotAllowed)
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		const message = "Supplied content type is not allowed. Content-Type: application/json is required"
		http.Error(w, message, http.StatusUnsupportedMediaType)
		return
	}
	answers := jsonrpc.Node{
		Call: n.call, ContentType: "application/json; charset=utf-8", MaxBytes: 50 << 10, // like real nodes
		Malformed: func(isJSON bool) *jsonrpc.Error {
			if isJSON {
				return &jsonrpc.Error{Code: jsonrpc.InvalidRequest, Message: "Invalid request"}
			}
			return &jsonrpc.Error{Code: jsonrpc.ParseError, Message: "Parse error"}
		},
		Failed: func(err error) *jsonrpc.Error {
			return &jsonrpc.Error{Code: jsonrpc.InvalidParams, Message: err.Error()}
		},
	}
	answers.ServeHTTP(w, r)
}

// call executes a request. Only sendTransaction changes the ledger.
func (n node) call(_ context.Context, request jsonrpc.Request) (any, error) {
	method, known := methods[request.Method]
	if !known {
		return nil, refuse(jsonrpc.MethodNotFound, "Method not found")
	}
	lock := sync.Locker(&n.chain.mu)
	if request.Method != "sendTransaction" {
		lock = n.chain.mu.RLocker()
	}
	lock.Lock()
	defer lock.Unlock()
	function := reflect.ValueOf(method)
	args, err := n.bind(function.Type(), request.Params)
	if err != nil {
		return nil, err
	}
	results := function.Call(args)
	err, _ = results[1].Interface().(error)
	return results[0].Interface(), err
}

// bind decodes parameters into the arguments that a function takes after the chain. Struct arguments are options and
// may be missing. Pointer arguments may be missing too, with options in their position.
func (n node) bind(function reflect.Type, params []json.RawMessage) ([]reflect.Value, error) {
	args := []reflect.Value{reflect.ValueOf(n.chain)}
	for position := 1; position < function.NumIn(); position++ {
		kind := function.In(position).Kind()
		into := reflect.New(function.In(position))
		isGiven := len(params) > 0 && string(params[0]) != "null"
		switch {
		case isGiven && kind == reflect.Pointer && params[0][0] == '{':
			args = append(args, into.Elem())
			continue
		case isGiven:
			if err := json.Unmarshal(params[0], into.Interface()); err != nil {
				return nil, misread(err)
			}
		case kind != reflect.Pointer && kind != reflect.Struct:
			return nil, invalid("`params` should have at least %d argument(s)", position)
		}
		if o, ok := into.Interface().(interface{ settle(newest uint64) error }); ok {
			if err := o.settle(n.newest()); err != nil {
				return nil, err
			}
		}
		args, params = append(args, into.Elem()), params[min(1, len(params)):]
	}
	return args, nil
}

// misread returns the error for a malformed parameter: a value of another type, or text that is not a key.
func misread(err error) error {
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		return invalid("Invalid params: %v", err)
	}
	return invalid("Invalid param: WrongSize")
}

// Commitment levels that a client can ask for.
const (
	processed = "processed"
	confirmed = "confirmed"
	finalized = "finalized"
)

// view is the state that a client asks for.
type view struct {
	Commitment     string `json:"commitment"`
	MinContextSlot uint64 `json:"minContextSlot"`

	slot uint64 // the newest with that commitment
}

// newest returns the newest slot that the node has.
func (n node) newest() uint64 {
	slot := max(n.chain.head-n.behind, next(firstSlot))
	if isSkipped(slot) {
		slot = previous(slot)
	}
	return slot
}

// settle sets the slot, based on the node's newest one. The sandbox confirms whatever it processes.
func (v *view) settle(newest uint64) error {
	switch v.Commitment {
	case "", finalized:
		v.slot = finalizedAt(newest)
	case confirmed, processed:
		v.slot = newest
	default:
		const format = "Invalid params: unknown variant `%s`, expected one of `processed`, `confirmed`, `finalized`"
		return invalid(format, v.Commitment)
	}
	if v.slot < v.MinContextSlot {
		return &jsonrpc.Error{
			Code: codeBehind, Message: "Minimum context slot has not been reached", Data: object{"contextSlot": v.slot},
		}
	}
	return nil
}

// history is the view of methods about blocks and transactions, which do not support the processed commitment.
type history struct{ view }

func (h *history) settle(newest uint64) error {
	if h.Commitment == processed {
		return invalid("Method does not support commitment below `confirmed`")
	}
	return h.view.settle(newest)
}

// at returns a value with the slot that it refers to.
func at(slot uint64, value any) object {
	return object{"context": object{"apiVersion": nodeVersion, "slot": slot}, "value": value}
}
