package jsonrpc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
)

// Call is one call and, afterwards, its outcome.
type Call struct {
	Method string
	Params []any
	// Out is a pointer that the result is decoded into; nil drops the result. null is an answer where Out points to a
	// pointer or an interface, and a bad one elsewhere: gateways answer null when something fails.
	Out any
	Err error  // nil when Out is filled; else an *Error or an *upstream.Error is in its chain
	By  string // endpoint whose answer is in Out or Err; absent when none answered

	// Fresh has the call made although an equal one is in flight: the result is not older than the call, as that
	// about a chain's head must not be. Others may join it.
	Fresh bool

	// Accept, when not nil, sees a pointer to the decoded result before Out does. An error sends the call to the next
	// endpoint: an *upstream.Error under its class, any other as a bad answer.
	Accept func(result any) error

	// MayRevert makes an error object that every endpoint would give a result: the zero value of Out, which may be
	// doubted.
	MayRevert bool

	// Doubt, when not nil, sees a pointer to an accepted result, and reports whether one endpoint's word is not enough
	// for it: that something is absent, or what no hash checks. Endpoints of other providers are asked, until one
	// returns an undoubted result, which is taken, or two the Same one; nil: null is the same as null, whose place
	// others take, and these are the same as each other. Add, when not nil, adds to a result what another one has
	// besides that is not the same.
	//
	// Twice has one asked beside the first, and every result doubted. Says, when not nil, is what a result says, by
	// which two are the same in place of Same; one that says nothing contradicts none, and others take its place.
	Doubt func(result any) bool
	Same  func(a, b any) bool
	Add   func(to, from any)
	Twice bool
	Says  func(result any) string

	Seconded string // endpoint of another provider that confirmed a doubted result; empty: none could

	// Passing, when not nil, reports whether the same endpoint may well do better a moment after an error object, as
	// one whose nodes are not all as far; see Client.All.
	Passing func(*Error) bool

	// Reach is what of the chain the call reads, for endpoints that do not serve all of it.
	Reach Reach

	// Head, when not nil, sees a pointer to an accepted result and returns how far the endpoint's chain has come, if
	// the result says so; see Client.CompareHeads.
	Head func(result any) (number uint64, told bool)

	// Link, when not nil, sees a pointer to an accepted result, which is a block, and returns its hash and its
	// parent's; see Client.CompareHeads.
	Link func(result any) (hash, parent string)

	text      json.RawMessage // Params in JSON; nil: not made yet
	heard     []string        // endpoints that were asked about it
	unlike    []*Call         // doubted ones of endpoints, the first one's too, whose results are not the Same
	isDoubted bool            // the result is
	isSettled bool            // no other endpoint can be asked about it
}

// NewCall returns a call whose result goes to out when accept, if there is one, returns nil for it.
func NewCall[T any](out *T, accept func(T) error, method string, params ...any) *Call {
	c := &Call{Method: method, Params: params, Out: out}
	if accept != nil {
		c.Accept = func(result any) error { return accept(*result.(*T)) }
	}
	return c
}

// IsSingle reports whether a doubted result is one endpoint's word.
func (c *Call) IsSingle() bool { return c.isDoubted && c.Seconded == "" }

// holdsNothing reports whether null is an answer to the call.
func (c *Call) holdsNothing() bool {
	kind := reflect.TypeOf(c.Out).Elem().Kind()
	return kind == reflect.Pointer || kind == reflect.Interface
}

// params are the parameters in JSON, the same text for the same parameters.
func (c *Call) params() (json.RawMessage, error) {
	if c.text != nil {
		return c.text, nil
	}
	if c.Params == nil {
		return json.RawMessage("[]"), nil
	}
	text, err := json.Marshal(c.Params)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	return text, nil
}

// encode writes calls as section 4 of the specification has them, with ids from first on: an array, or a single object
// for a single call. Methods are plain words.
func encode(calls []*Call, first uint64) (body []byte, err error) {
	for i, call := range calls {
		params, err := call.params()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			body = make([]byte, 0, len(calls)*(len(params)+len(call.Method)+usualEnvelope))
		}
		body = strconv.AppendUint(append(body, `,{"jsonrpc":"2.0","id":`...), first+uint64(i), 10)
		body = append(append(append(body, `,"method":"`...), call.Method...), `","params":`...)
		body = append(append(body, params...), '}')
	}
	if len(calls) == 1 {
		return body[1:], nil
	}
	body[0] = '['
	return append(body, ']'), nil
}

// usualEnvelope is more than most request objects have beside method and parameters, bytes.
const usualEnvelope = 64

// OpenTelemetry's words for a batch of several methods, and for the system.
const (
	otherMethod = "_OTHER"
	rpcSystem   = "jsonrpc"
)

// kindOf is the method that all calls share, else the system: by it spans are named and latencies kept.
func kindOf(calls []*Call) string {
	for _, call := range calls {
		if call.Method != calls[0].Method {
			return rpcSystem
		}
	}
	return calls[0].Method
}

// attributesOf are what the span of an attempt says of its calls.
func attributesOf(calls []*Call) func() []attribute.KeyValue {
	return func() []attribute.KeyValue {
		method, methods := kindOf(calls), methodsOf(calls)
		if method == rpcSystem {
			method = otherMethod
		}
		attributes := []attribute.KeyValue{
			attribute.String("rpc.system.name", rpcSystem), attribute.String("rpc.method", method), attribute.Int("crossgate.rpc.batch_size", len(calls)),
		}
		if len(methods) > 1 {
			attributes = append(attributes, attribute.StringSlice("crossgate.rpc.methods", methods))
		}
		return attributes
	}
}

func methodsOf(calls []*Call) (methods []string) {
	for _, call := range calls {
		if !slices.Contains(methods, call.Method) {
			methods = append(methods, call.Method)
		}
	}
	return methods
}
