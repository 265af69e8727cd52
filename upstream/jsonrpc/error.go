package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strings"

	"crossgate/upstream"
)

// Error is an error object of JSON-RPC 2.0.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("RPC error %d: %.200s", e.Code, e.Message) }

// UnmarshalJSON reads an error object, or the bare text that rate limiters in front of nodes answer in its
// place (java-tron's RateLimiterServlet: {"Error":"class … : lack of computing resources"}).
func (e *Error) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*e = Error{}
		return json.Unmarshal(text, &e.Message)
	}
	type object Error
	return json.Unmarshal(text, (*object)(e))
}

// Codes that mean something wherever they come from: JSON-RPC 2.0 section 5.1, EIP-1474, go-ethereum's 3 for
// reverts, and HTTP's 429, which some providers repeat here.
const (
	codeReverted      = 3
	codeTooManyHTTP   = 429
	codeLimitExceeded = -32005
	codeInvalidParams = -32602
	codeInternal      = -32603
)

// Nodes and providers tell causes apart by text alone; these are pieces of the texts of go-ethereum,
// Erigon, Nethermind, java-tron and the large providers, in lower case.
var (
	revertTexts = []string{"revert"}
	// What a call or transaction would do is the same at every node.
	sameEverywhere = []string{
		"insufficient funds", "gas required exceeds", "out of gas", "intrinsic gas too low", "invalid opcode",
		"stack underflow", "invalid jump", "nonce too low", "max fee per gas less than", "invalid argument",
		"contract is not exist",
	}
	tooWideTexts = []string{
		"block range", "range too large", "range is too large", "range limit", "too many results", "returned more than",
		"response size", "response too large", "response exceeds", "too many logs", "too many blocks", "query exceeds", "limit the query",
		"max results", "query timeout", "is limited to", "are limited to", "ranges over", "range allowed", "matched by query exceeds",
	}
	// What nodes say that lack a block named by its hash; java-tron calls that an invalid parameter.
	behindTexts = []string{"unknown block", "invalid blockhash", "block not found", "header not found", "header for hash not found"}
	rateTexts   = []string{
		"rate limit", "ratelimit", "too many requests", "request limit", "requests per second", "compute units",
		"request count exceeded", "quota", "throughput", "capacity exceeded", "throttle",
		"lack of computing resources",
	}
)

// IsRefusal reports whether the node understood the call and declined it.
func (e *Error) IsRefusal() bool { return e.class() == 0 || e.class() == upstream.Rejected }

// IsRevert reports whether a contract refused the call.
func (e *Error) IsRevert() bool { return e.Code == codeReverted || e.says(revertTexts) }

// IsTooWide reports whether the answer would be larger than the endpoint gives at once: ask for a part.
func (e *Error) IsTooWide() bool {
	return e.says(tooWideTexts) || (e.Code == codeLimitExceeded && !e.says(rateTexts))
}

// IsBehind reports whether the node lacks a block that others may have.
func (e *Error) IsBehind() bool { return e.says(behindTexts) }

// class returns zero for an error that every endpoint would give, otherwise the class under which the
// next endpoint is asked: lagging and pruned nodes, missing methods and inner errors are Rejected, which
// is not held against the endpoint. A bare text that says nothing known is no JSON-RPC answer.
func (e *Error) class() upstream.Class {
	switch {
	case e.Code == codeTooManyHTTP || e.says(rateTexts):
		return upstream.RateLimited
	case e.IsBehind():
		return upstream.Rejected
	case e.IsRevert(), e.IsTooWide(), e.says(sameEverywhere), e.Code == codeInvalidParams:
		return 0
	case e.Code == 0:
		return upstream.BadAnswer
	}
	return upstream.Rejected
}

func (e *Error) says(texts []string) bool {
	message := strings.ToLower(e.Message)
	for _, text := range texts {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}
