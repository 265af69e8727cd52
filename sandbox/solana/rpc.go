package solana

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// Error codes of Solana's JSON-RPC: solana rpc-client-api, custom_error.rs.
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeNoMethod           = -32601
	codeInvalidParams      = -32602
	codeBlockCleanedUp     = -32001
	codeBlockNotAvailable  = -32004
	codeSlotSkipped        = -32007
	codeUnsupportedVersion = -32015
	codePreflight          = -32002
)

// rpcError is an error object of JSON-RPC.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

func invalid(format string, args ...any) error {
	return &rpcError{Code: codeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

type rpcRequest struct {
	Version string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id"`
	Method  string            `json:"method"`
	Params  []json.RawMessage `json:"params"`
}

type rpcAnswer struct {
	Version string          `json:"jsonrpc"`
	Result  any             `json:"result,omitzero"`
	Error   *rpcError       `json:"error,omitempty"`
	ID      json.RawMessage `json:"id"`
}

var methods = map[string]func(*Chain, params) (any, error){
	"getAccountInfo":                    (*Chain).getAccountInfo,
	"getBalance":                        (*Chain).getBalance,
	"getBlock":                          (*Chain).getBlock,
	"getBlockHeight":                    (*Chain).getBlockHeight,
	"getBlockTime":                      (*Chain).getBlockTime,
	"getBlocks":                         (*Chain).getBlocks,
	"getFirstAvailableBlock":            (*Chain).getFirstAvailableBlock,
	"getGenesisHash":                    (*Chain).getGenesisHash,
	"getHealth":                         (*Chain).getHealth,
	"getLatestBlockhash":                (*Chain).getLatestBlockhash,
	"getMinimumBalanceForRentExemption": (*Chain).getMinimumBalanceForRentExemption,
	"getMultipleAccounts":               (*Chain).getMultipleAccounts,
	"getProgramAccounts":                (*Chain).getProgramAccounts,
	"getRecentPrioritizationFees":       (*Chain).getRecentPrioritizationFees,
	"getSignatureStatuses":              (*Chain).getSignatureStatuses,
	"getSignaturesForAddress":           (*Chain).getSignaturesForAddress,
	"getSlot":                           (*Chain).getSlot,
	"getTransaction":                    (*Chain).getTransaction,
	"getVersion":                        (*Chain).getVersion,
	"simulateTransaction":               (*Chain).simulateTransaction,
}

const maxRequestBytes = 50 << 10 // as nodes have it

// ServeHTTP answers JSON-RPC as a node does.
func (c *Chain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "Used HTTP Method is not allowed. POST or OPTIONS is required", http.StatusMethodNotAllowed)
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Supplied content type is not allowed. Content-Type: application/json is required", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err != nil {
		http.Error(w, "Payload Too Large", http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(c.answerAll(body)) // the client has gone
}

// answerAll answers one request or a batch of them, in its sequence.
func (c *Chain) answerAll(body []byte) any {
	body = bytes.TrimSpace(body)
	if !bytes.HasPrefix(body, []byte("[")) {
		return c.answer(body)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(body, &batch); err != nil {
		return refused(nil, &rpcError{Code: codeParse, Message: "Parse error"})
	}
	if len(batch) == 0 {
		return refused(nil, &rpcError{Code: codeInvalidRequest, Message: "Invalid request"})
	}
	answers := make([]rpcAnswer, len(batch))
	for i, each := range batch {
		answers[i] = c.answer(each)
	}
	return answers
}

func (c *Chain) answer(body []byte) rpcAnswer {
	var request rpcRequest
	if err := json.Unmarshal(body, &request); err != nil {
		if !json.Valid(body) {
			return refused(nil, &rpcError{Code: codeParse, Message: "Parse error"})
		}
		return refused(request.ID, &rpcError{Code: codeInvalidRequest, Message: "Invalid request"})
	}
	result, err := c.call(request)
	if err != nil {
		var told *rpcError
		if !errors.As(err, &told) {
			told = &rpcError{Code: codeInvalidParams, Message: err.Error()}
		}
		return refused(request.ID, told)
	}
	if result == nil {
		result = json.RawMessage("null")
	}
	return rpcAnswer{Version: "2.0", Result: result, ID: idOf(request.ID)}
}

// call carries out what a request asks for; one method alone changes the ledger.
func (c *Chain) call(request rpcRequest) (any, error) {
	if request.Method == "sendTransaction" {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.sendTransaction(request.Params)
	}
	method, known := methods[request.Method]
	if !known {
		return nil, &rpcError{Code: codeNoMethod, Message: "Method not found"}
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return method(c, request.Params)
}

func refused(id json.RawMessage, err *rpcError) rpcAnswer {
	return rpcAnswer{Version: "2.0", Error: err, ID: idOf(id)}
}

func idOf(id json.RawMessage) json.RawMessage {
	if id == nil {
		return json.RawMessage("null")
	}
	return id
}

// params are a call's positional parameters.
type params []json.RawMessage

// read decodes the parameter at a place, which must be there unless it is optional: then it stays as
// it is.
func (p params) read(at int, into any, optional bool) error {
	if at >= len(p) || string(p[at]) == "null" {
		if optional {
			return nil
		}
		return invalid("`params` should have at least %d argument(s)", at+1)
	}
	if err := json.Unmarshal(p[at], into); err != nil {
		return invalid("Invalid params: %v", err)
	}
	return nil
}

// key reads an address.
func (p params) key(at int) (Key, error) {
	var text string
	if err := p.read(at, &text, false); err != nil {
		return Key{}, err
	}
	k, err := ParseKey(text)
	if err != nil {
		return Key{}, invalid("Invalid param: WrongSize")
	}
	return k, nil
}

// Commitments: how sure a client wants to be.
const (
	processed        = "processed"
	confirmed        = "confirmed"
	finalizedDefault = "finalized"
)

// slot is the newest slot of a commitment. The sandbox confirms what it processes.
func (c *Chain) slot(commitment string) (uint64, error) {
	switch commitment {
	case "", finalizedDefault:
		return c.finalized(), nil
	case confirmed, processed:
		return c.head, nil
	}
	return 0, invalid("Invalid params: unknown variant `%s`, expected one of `processed`, `confirmed`, `finalized`", commitment)
}

// settledSlot refuses the commitment that methods about history do not know.
func (c *Chain) settledSlot(commitment string) (uint64, error) {
	if commitment == processed {
		return 0, invalid("Method does not support commitment below `confirmed`")
	}
	return c.slot(commitment)
}

// inContext is a value with the slot at which it was so.
type inContext struct {
	Context struct {
		APIVersion string `json:"apiVersion"`
		Slot       uint64 `json:"slot"`
	} `json:"context"`
	Value any `json:"value"`
}

func at(slot uint64, value any) inContext {
	v := inContext{Value: value}
	v.Context.APIVersion, v.Context.Slot = nodeVersion, slot
	return v
}
