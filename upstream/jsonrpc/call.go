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
	// Out points to where the result is decoded; nil drops the result. null is an answer if Out points to a pointer or
	// an interface, and a bad answer otherwise: gateways answer null when something fails.
	Out any
	Err error  // nil if Out is filled; else an *Error or an *upstream.Error is in its chain
	By  string // endpoint whose answer is in Out or Err; empty if none answered

	// Fresh makes the call even if an equal one is in flight, so that the result is not older than the call, as is
	// necessary for a chain's head. Others may join it.
	Fresh bool

	// Accept, if not nil, checks a pointer to the decoded result before Out is set. An error sends the call to the next
	// endpoint: an *upstream.Error with its class, any other as a bad answer.
	Accept func(result any) error

	// MayRevert turns an error object that every endpoint would return into a result: the zero value of Out, which may
	// be doubted.
	MayRevert bool

	// Doubt, if not nil, sees a pointer to an accepted result and reports whether one endpoint's word is not enough for
	// it: for an absence, or for data that no hash verifies. Endpoints of other providers are then asked until one
	// returns an undoubted result, which is taken, or two return the Same one. If Same is nil, null equals only null
	// and is replaced by any other result. Add, if not nil, returns the sum of two and changes neither; that counts
	// more than two that agree, unless ByMajority.
	//
	// Twice asks a second endpoint beside the first, and doubts every result. Says, if not nil, returns a result's
	// statement, which is compared instead of Same; an empty one contradicts none, and others replace it.
	Doubt      func(result any) bool
	Same       func(a, b any) bool
	Add        func(a, b any) any
	ByMajority bool
	Twice      bool
	Says       func(result any) string

	Seconded string // endpoint of another provider that confirmed a doubted result; empty: none could

	// Passing, if not nil, reports whether the same endpoint may well do better a moment after an error object, for
	// instance because its nodes are not equally far; see Client.All. Accept's rejections pass unless they are Lasting.
	Passing func(*Error) bool
	Lasting bool

	// Reach is the part of the chain that the call reads, for endpoints that do not serve all of it.
	Reach Reach

	// Head, if not nil, sees a pointer to an accepted result and returns how far the endpoint's chain has come; see
	// Client.CompareHeads.
	Head func(result any) (number uint64)

	// Link, if not nil, sees a pointer to an accepted result, which is a block, and returns its hash and its parent's;
	// see Client.CompareHeads.
	Link func(result any) (hash, parent string)

	text      json.RawMessage // Params in JSON; nil: not made yet
	heard     []string        // endpoints that were asked about it
	unlike    []*Call         // doubted ones of endpoints, the first one's too, whose results are not the Same
	isDoubted bool            // the result is
	isSettled bool            // no other endpoint can be asked about it
}

// NewCall returns a call whose result is stored in out if accept is nil or returns nil for it.
func NewCall[T any](out *T, accept func(T) error, method string, params ...any) *Call {
	c := &Call{Method: method, Params: params, Out: out}
	if accept != nil {
		c.Accept = func(result any) error { return accept(*result.(*T)) }
	}
	return c
}

// IsSingle reports whether the result is doubted and rests on one endpoint's word.
func (c *Call) IsSingle() bool { return c.isDoubted && c.Seconded == "" }

// holdsNothing reports whether null is an answer to the call.
func (c *Call) holdsNothing() bool {
	kind := reflect.TypeOf(c.Out).Elem().Kind()
	return kind == reflect.Pointer || kind == reflect.Interface
}

// params returns the parameters in JSON: equal text for equal parameters.
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

// encode encodes calls as section 4 of the specification defines them, with ids from first on: as an array, or as an
// object if there is only one. Methods are plain words, which need no escaping.
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

// usualEnvelope is enough room for most request objects besides method and parameters, in bytes.
const usualEnvelope = 64

// OpenTelemetry's names for a batch of several methods, and for the system.
const (
	otherMethod = "_OTHER"
	rpcSystem   = "jsonrpc"
)

// kindOf returns the method that all calls share, else the system: it names spans and groups latencies.
func kindOf(calls []*Call) string {
	for _, call := range calls {
		if call.Method != calls[0].Method {
			return rpcSystem
		}
	}
	return calls[0].Method
}

// attributesOf returns the attributes that describe calls in the span of an attempt.
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

// ByItem has a call whose result lists items asked Twice, and returns which of them, once it is made, are one
// endpoint's word. An item on which two agree counts, else the first of most weight.
func ByItem[R any, L ~[]T, T any](
	call *Call, items func(result *R) *L, isSame func(a, b T) bool, weight func(T) int,
) (isSingle func(i int) bool) {
	in := func(result any) L { return *items(result.(*R)) }
	isAgreed := func(i int, item T) bool {
		voices := 0
		for _, each := range call.unlike {
			if said := in(each.Out); i < len(said) && isSame(said[i], item) {
				voices++
			}
		}
		return voices > 1
	}
	call.Twice = true
	call.Same = func(a, b any) bool { return slices.EqualFunc(in(a), in(b), isSame) }
	call.Add = func(_, _ any) any {
		sum := new(R)
		best := *items(sum)
		for _, each := range call.unlike {
			for i, item := range in(each.Out) {
				if i == len(best) {
					best = append(best, item)
				} else if !isAgreed(i, best[i]) && (isAgreed(i, item) || weight(best[i]) < weight(item)) {
					best[i] = item
				}
			}
		}
		*items(sum) = best
		return sum
	}
	return func(i int) bool { return call.IsSingle() && !isAgreed(i, in(call.Out)[i]) }
}

// Greater has a call that asks how much there is doubt that it is nothing, and take the greater of two results.
func Greater[T any](call *Call, compare func(a, b T) int) {
	var nothing T
	call.Doubt = func(result any) bool { return compare(*result.(*T), nothing) == 0 }
	Prefer(call, compare)
}

// Lesser has a call that asks how much there is asked Twice. Of two results the lesser counts that is not nothing,
// unless two agree.
func Lesser[T any](call *Call, compare func(a, b T) int) {
	var nothing T
	call.Twice, call.ByMajority = true, true
	Prefer(call, func(a, b T) int {
		if compare(a, nothing) == 0 || compare(b, nothing) == 0 {
			return compare(a, b)
		}
		return compare(b, a)
	})
}

// Prefer has a doubted call take the greater of two results; equal ones are the Same.
func Prefer[T any](call *Call, compare func(a, b T) int) {
	call.Same = func(a, b any) bool { return compare(*a.(*T), *b.(*T)) == 0 }
	call.Add = func(a, b any) any {
		if compare(*a.(*T), *b.(*T)) < 0 {
			return b
		}
		return a
	}
}
