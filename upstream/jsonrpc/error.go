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

// Error is an error object of JSON-RPC 2.0, or what stands in its place: some servers answer its members or a bare text
// outside of any envelope.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	method string        // that was asked; empty when several were
	fields []string      // of the parameters, those that some nodes do not take
	depth  uint64        // of the request, before the newest block
	status int           // HTTP status
	pause  time.Duration // that the response's header asks for
	isDown bool          // it is for how long the service expects to be unavailable, which says nothing of a rate
	isBare bool          // it came without an envelope

	meaning Meaning // of an error about a call; empty: not read yet
	field   string  // that is not taken
}

func (e *Error) Error() string { return fmt.Sprintf("RPC error %d: %.200s", e.Code, e.Message) }

// UnmarshalJSON reads an error object, or the bare text that rate limiters answer in its place (java-tron's
// {"Error":"class … : lack of computing resources"}). Members of other types are read as what they hold.
func (e *Error) UnmarshalJSON(text []byte) error {
	*e = Error{}
	if text[0] != '{' {
		e.isBare = true
		_ = json.Unmarshal(text, &e.Message) // a text, else nothing
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

// handedOn is the error of another node that a gateway puts into the data of its own.
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

// codeIn reads a number, which some servers write as text; zero is none.
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

// ErrTagMissing is an Accept's verdict, in an *upstream.Error, on an answer without a block for the tag of the call
// (Reach.Tag).
var ErrTagMissing = errors.New("no block for the tag")

// IsRefusal reports whether the node understood the call and declined it.
func (e *Error) IsRefusal() bool { return e.failure() == nil || e.failure().IsRefusal() }

// IsRevert reports whether a contract refused the call.
func (e *Error) IsRevert() bool { return e.Meaning() == Reverted }

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
