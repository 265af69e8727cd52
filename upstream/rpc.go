package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// largestBatch is how many calls share one HTTP request unless the endpoints refuse that many.
	largestBatch = 100
	// batchesAtOnce bounds how many HTTP requests one Batch makes at a time.
	batchesAtOnce = 4
)

// RPC speaks JSON-RPC 2.0 over a pool (jsonrpc.org/specification). Safe for concurrent use.
type RPC struct {
	pool   *Pool
	lastID *atomic.Uint64
	batch  *Width
	proof  *proof // nil: endpoints are taken for what they are configured as
}

// NewRPC returns a client that asks the endpoints of p.
func NewRPC(p *Pool) *RPC {
	return &RPC{pool: p, lastID: new(atomic.Uint64), batch: NewWidth(largestBatch)}
}

// Name returns the pool's name.
func (r *RPC) Name() string { return r.pool.Name() }

// Call is one call and, afterwards, its outcome.
type Call struct {
	Method string
	Params []any
	Out    any   // pointer that the result is decoded into; nil drops the result
	Err    error // nil when Out is filled; else an *RPCError or an *Error is in its chain

	// Accept, when not nil, sees a pointer to the decoded result before Out does. What it returns sends the
	// call to the next endpoint: an *Error under its class, any other as a bad answer.
	Accept func(result any) error

	// Doubt, when not nil, sees a pointer to an accepted result. What it calls doubtful is believed only when a
	// second endpoint says something doubtful too, as far as there is more than one.
	Doubt func(result any) bool

	// Head, when not nil, sees a pointer to an accepted result and tells how far the endpoint's chain has come, if the
	// result says so; see CompareHeads.
	Head func(result any) (number uint64, told bool)
}

// Call makes one call and decodes its result into out, a pointer. An error object that any endpoint would
// give is returned as an *RPCError; another one sends the call to the next endpoint, and what remains
// is an *Error with the *RPCError among its causes.
func (r *RPC) Call(ctx context.Context, method string, out any, params ...any) error {
	call := &Call{Method: method, Params: params, Out: out}
	if err := r.chunk(ctx, []*Call{call}); err != nil {
		return err
	}
	return call.Err
}

// Batch makes all calls, in one HTTP request when the endpoints take that many at once, and sets each
// call's Err. It returns an error only when nothing could be had; then every call has one too.
func (r *RPC) Batch(ctx context.Context, calls ...*Call) error {
	if len(calls) == 0 {
		return nil
	}
	if len(calls) <= int(r.batch.Now()) {
		return r.chunk(ctx, calls)
	}
	var (
		working sync.WaitGroup
		slots   = make(chan struct{}, batchesAtOnce)
		mu      sync.Mutex
		lost    []error
		chunks  int
	)
	for chunk := range slices.Chunk(calls, int(r.batch.Now())) {
		chunks++
		slots <- struct{}{}
		working.Go(func() {
			defer func() { <-slots }()
			if err := r.chunk(ctx, chunk); err != nil {
				mu.Lock()
				lost = append(lost, err)
				mu.Unlock()
			}
		})
	}
	working.Wait()
	if len(lost) == chunks {
		return lost[0]
	}
	return nil
}

// All is Batch for calls of which none may fail.
func (r *RPC) All(ctx context.Context, calls ...*Call) error {
	if err := r.Batch(ctx, calls...); err != nil {
		return err
	}
	for _, call := range calls {
		if call.Err != nil {
			return call.Err
		}
	}
	return nil
}

// chunk makes calls in one HTTP request; where no endpoint takes so many it halves them and remembers.
func (r *RPC) chunk(ctx context.Context, calls []*Call) error {
	err := r.exchange(ctx, calls)
	var refused *batchRefusedError
	if errors.As(err, &refused) {
		r.batch.Refused(uint64(refused.size))
		if len(calls) == 1 {
			return r.chunk(ctx, calls) // a proof had gone with it, which now goes alone
		}
		half := (len(calls) + 1) / 2
		if first, second := r.chunk(ctx, calls[:half]), r.chunk(ctx, calls[half:]); first != nil {
			return second
		}
		return nil
	}
	if err != nil {
		for _, call := range calls {
			call.Err = err
		}
	}
	return err
}

// exchange asks the endpoints for calls, each in one HTTP request, and sets each call's Err. An answer that
// leaves some of them open sends all of them on to the next endpoint; the fullest answer is kept.
func (r *RPC) exchange(ctx context.Context, calls []*Call) error {
	var fullest outcomes
	hear := func(got outcomes) error {
		if len(r.pool.endpoints) > 1 {
			got.doubt(fullest)
		}
		if fullest == nil || got.open() < fullest.open() {
			fullest = got
		}
		return got.firstOpen()
	}
	err := r.pool.run(ctx, job{
		kind: spanMethod(calls), isRead: true, // there is no method here that changes anything
		ask: func(ctx context.Context, e *Endpoint, turn *turn) error {
			return r.prove(ctx, e, turn, calls, func(got outcomes) error {
				r.pool.hearHeads(e, calls, got)
				return turn.hear(func() error { return hear(got) })
			})
		},
	})
	if fullest == nil || (len(calls) == 1 && err != nil) {
		return fmt.Errorf("%s: %w", calls[0].Method, err)
	}
	fullest.deliver(calls, r.Name())
	return nil
}

// send makes calls at one endpoint in one HTTP request and has hear judge the outcomes.
func (r *RPC) send(ctx context.Context, e *Endpoint, turn *turn, calls []*Call, hear func(Response, outcomes) error) error {
	first := r.lastID.Add(uint64(len(calls))) - uint64(len(calls)) + 1
	body, err := encode(calls, first)
	if err != nil {
		return err
	}
	request := Request{Body: body, calls: len(calls), rpcMethod: spanMethod(calls)}
	for _, call := range calls {
		request.Cost += e.costOf(call.Method)
	}
	request.valid = func(response Response) error {
		_, err := parse(response, len(calls))
		return err
	}
	_, err = e.attempt(ctx, request, turn, func(response Response) error {
		if settled, read := single(calls, response, first); read {
			return hear(response, settled)
		}
		answers, err := parse(response, len(calls))
		if err != nil {
			return err
		}
		return hear(response, settle(calls, answers, first))
	})
	return err
}

type rpcRequest struct {
	Version string `json:"jsonrpc"`
	ID      uint64 `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// encode writes calls with ids from first on: an array, or a single object for a single call.
func encode(calls []*Call, first uint64) ([]byte, error) {
	requests := make([]rpcRequest, len(calls))
	for i, call := range calls {
		params := call.Params
		if params == nil {
			params = []any{}
		}
		requests[i] = rpcRequest{Version: "2.0", ID: first + uint64(i), Method: call.Method, Params: params}
	}
	var body any = requests
	if len(requests) == 1 {
		body = requests[0]
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", calls[0].Method, err)
	}
	return text, nil
}

// spanMethods are the methods that spans name; others would give them no bound.
var spanMethods = map[string]bool{
	"eth_blockNumber": true, "eth_call": true, "eth_chainId": true, "eth_estimateGas": true,
	"eth_feeHistory": true, "eth_gasPrice": true, "eth_getBalance": true, "eth_getBlockByHash": true,
	"eth_getBlockByNumber": true, "eth_getCode": true, "eth_getLogs": true, "eth_getTransactionByHash": true,
	"eth_getTransactionReceipt": true, "eth_simulateV1": true,
	"getBlock": true, "getBlocks": true, "getGenesisHash": true, "getMultipleAccounts": true, "getSignaturesForAddress": true,
	"getSlot": true, "getTransaction": true,
}

// spanMethod is the method that all calls share, else _OTHER (OpenTelemetry's word for it).
func spanMethod(calls []*Call) string {
	method := calls[0].Method
	for _, call := range calls {
		if call.Method != method || !spanMethods[method] {
			return "_OTHER"
		}
	}
	return method
}
