package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Error is an error object of JSON-RPC 2.0, or its substitute: some servers send its members or a bare text without any
// envelope.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	method string        // called method; empty if there were several
	fields []string      // as in Reach
	depth  uint64        // as in Reach
	status int           // HTTP status
	pause  time.Duration // requested by the response's header
	isDown bool          // pause is how long the service expects to be unavailable, regardless of rates
	isBare bool          // it came without an envelope

	meaning Meaning // of an error about a call; empty: not read yet
	field   string  // for FieldMissing: the rejected field
}

func (e *Error) Error() string { return fmt.Sprintf("RPC error %d: %.200s", e.Code, e.Message) }

// UnmarshalJSON decodes an error object, or the bare text that rate limiters send in its place (java-tron's
// {"Error":"class … : lack of computing resources"}). Members of unexpected types yield whatever they contain.
func (e *Error) UnmarshalJSON(text []byte) error {
	*e = Error{}
	if text[0] != '{' {
		e.isBare = true
		_ = json.Unmarshal(text, &e.Message) // a string, else nothing
		return nil
	}
	var members struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	e.Code, e.Data = codeIn(members.Code), members.Data
	if json.Unmarshal(members.Message, &e.Message) != nil || e.Message == "" {
		e.Message = strings.Join(textsIn(text), " ")
	}
	if inner := e.handedOn(); inner.Meaning() == Reverted {
		*e = inner
	}
	return nil
}

// handedOn returns the error of another node that a gateway passes on in the data of its own.
func (e *Error) handedOn() Error {
	var members struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(e.Data, &members) != nil {
		return Error{}
	}
	return Error{Code: codeIn(members.Code), Message: members.Message, Data: members.Data}
}

// codeIn parses a number, which some servers send as a string; zero if there is none.
func codeIn(text json.RawMessage) int {
	number, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err != nil || math.Abs(number) > math.MaxInt32 {
		return 0
	}
	return int(number)
}

// isNothing reports whether the member of an object holds no error.
func (e *Error) isNothing() bool { return e.Code == 0 && e.Message == "" && len(e.Data) == 0 }

// Codes of go-ethereum's reverts, and of JSON-RPC 2.0, section 5.1.
const (
	codeReverted = 3
	codeInternal = -32603
)

// Errors that an Accept returns, within an *upstream.Error, for an answer without a block for the tag of the call
// (Reach.Tag), and for one that shows that overrides were ignored, as by Ethermint before it had them.
var (
	ErrTagMissing       = errors.New("no block for the tag")
	ErrOverridesIgnored = errors.New("state overrides are ignored")
)

// IsRefusal reports whether the node understood the call and declined it.
func (e *Error) IsRefusal() bool { return e.failure() == nil || e.failure().IsRefusal() }

// IsRevert reports whether a contract refused the call.
func (e *Error) IsRevert() bool { return e.Meaning() == Reverted }

// IsBehind reports whether the node lacks a block that others may have.
func (e *Error) IsBehind() bool { return e.Meaning() == NotYet }

// Said returns the first error object in err that fits: every endpoint that was asked may have returned one.
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
