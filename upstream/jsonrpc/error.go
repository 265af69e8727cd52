package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Error is an error object of JSON-RPC 2.0, or what stands in its place: some servers answer its members or a bare text
// outside of any envelope.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	method string        // that was asked; empty when several were
	status int           // HTTP status
	pause  time.Duration // that the response's header asks for
	isBare bool          // it came without an envelope

	meaning Meaning // valid if isRead
	isRead  bool
}

func (e *Error) Error() string { return fmt.Sprintf("RPC error %d: %.200s", e.Code, e.Message) }

// UnmarshalJSON reads an error object, or the bare text that rate limiters in front of nodes answer in its
// place (java-tron's RateLimiterServlet: {"Error":"class … : lack of computing resources"}).
func (e *Error) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*e = Error{isBare: true}
		return json.Unmarshal(text, &e.Message)
	}
	type object Error
	return json.Unmarshal(text, (*object)(e))
}

// Codes that mean something wherever they come from: JSON-RPC 2.0 section 5.1, EIP-1474, EIP-4444, go-ethereum's 3 for
// reverts, and HTTP's 429, which some providers repeat here.
const (
	codeReverted      = 3
	codeTooManyHTTP   = 429
	codeLimitExceeded = -32005
	codePrunedHistory = 4444
	codeMethodMissing = -32601
	codeInternal      = -32603
)

// IsRefusal reports whether the node understood the call and declined it.
func (e *Error) IsRefusal() bool { return e.failure() == nil || e.failure().IsRefusal() }

// IsRevert reports whether a contract refused the call.
func (e *Error) IsRevert() bool { return e.Meaning() == Reverted }

// IsTooWide reports whether the answer would be larger than the endpoint gives at once: ask for a part.
func (e *Error) IsTooWide() bool { return e.Meaning() == RangeLimit || e.Meaning() == ResultLimit }

// IsBehind reports whether the node lacks a block that others may have.
func (e *Error) IsBehind() bool { return e.Meaning() == NotYet }

// Said returns the first error object in err that fits: every endpoint that was asked may have given one.
func Said(err error, fits func(*Error) bool) (*Error, bool) {
	for err != nil {
		if said, is := err.(*Error); is && fits(said) {
			return said, true
		}
		if several, are := err.(interface{ Unwrap() []error }); are {
			for _, each := range several.Unwrap() {
				if said, found := Said(each, fits); found {
					return said, true
				}
			}
			return nil, false
		}
		err = errors.Unwrap(err)
	}
	return nil, false
}
