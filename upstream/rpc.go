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

// RPC speaks JSON-RPC 2.0 over a pool (jsonrpc.org/specification). It is for calls that change nothing: they may be
// asked twice, and those that somebody asks already are not asked again. Who asks the same while another's call is
// under way, begun no more than joinFor ago and not outdated, waits for that one and judges what comes of it by its own
// Accept and Doubt; what is called latest may be as old as that. Safe for concurrent use.
type RPC struct {
	pool    *Pool
	lastID  *atomic.Uint64
	batch   *Width
	proof   *proof // nil: endpoints are taken for what they are configured as
	flights *flights
}

// NewRPC returns a client that asks the endpoints of p.
func NewRPC(p *Pool) *RPC {
	return &RPC{pool: p, lastID: new(atomic.Uint64), batch: NewWidth(largestBatch), flights: newFlights(p)}
}

// Name returns the pool's name.
func (r *RPC) Name() string { return r.pool.Name() }

// Call is one call and, afterwards, its outcome.
type Call struct {
	Method string
	Params []any
	Out    any   // pointer that the result is decoded into; nil drops the result
	Err    error // nil when Out is filled; else an *RPCError or an *Error is in its chain

	// Apart says that the result means the same whichever endpoint gives it and whatever calls beside it say, as a
	// transaction by its hash does. Such calls of a batch are joined one by one with what others ask. The rest is so
	// as a whole only: an endpoint's newest block vouches for the logs that it gave, not for another's.
	Apart bool

	// Fresh has the call made though another's is under way: the result is not older than the question, as that about a
	// chain's head must not be. Others may join it.
	Fresh bool

	// Accept, when not nil, sees a pointer to the decoded result before Out does. What it returns sends the
	// call to the next endpoint: an *Error under its class, any other as a bad answer. Accept, Doubt and Head write to
	// nothing but the result, and may be called after the caller has left, for others who wait for the same.
	Accept func(result any) error

	// Doubt, when not nil, sees a pointer to an accepted result. What it calls doubtful is believed only when a
	// second endpoint says something doubtful too, as far as there is more than one.
	Doubt func(result any) bool

	// Head, when not nil, sees a pointer to an accepted result and tells how far the endpoint's chain has come, if the
	// result says so; see CompareHeads.
	Head func(result any) (number uint64, told bool)

	text json.RawMessage // Params in JSON; nil: not made yet
}

// Call makes one call and decodes its result into out, a pointer. An error object that any endpoint would
// give is returned as an *RPCError; another one sends the call to the next endpoint, and what remains
// is an *Error with the *RPCError among its causes.
func (r *RPC) Call(ctx context.Context, method string, out any, params ...any) error {
	call := &Call{Method: method, Params: params, Out: out}
	if err := r.chunk(ctx, []*Call{call}, 0); err != nil {
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
		return r.chunk(ctx, calls, 0)
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
			if err := r.chunk(ctx, chunk, 0); err != nil {
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

// chunk makes calls in one HTTP request, as far as nobody else is making them; joined counts the flights that left
// them open before.
func (r *RPC) chunk(ctx context.Context, calls []*Call, joined int) error {
	seats, err := r.board(ctx, calls, joined < mostJoined)
	if err != nil {
		return fail(calls, err)
	}
	for _, s := range seats {
		r.flights.wait(ctx, s)
	}
	var lost []error
	for _, s := range seats {
		if err := r.arrive(ctx, s, joined); err != nil {
			lost = append(lost, err)
		}
	}
	if len(lost) == len(seats) {
		return lost[0]
	}
	return nil
}

// arrive sets the Err of each of a seat's calls by what came of the flight. Calls that its answers leave open, though
// they were enough for who began it, are made again.
func (r *RPC) arrive(ctx context.Context, s *seat, joined int) error {
	f := s.flight
	if s.left != nil {
		return fail(s.calls, r.leaving(s))
	}
	if f.panicked != nil && s.isFirst {
		panic(f.panicked)
	}
	fullest := s.fullest()
	isOpen := fullest == nil || fullest.open() > 0
	if isOpen && !s.isFirst && f.leavesHope(ctx) {
		return r.chunk(ctx, s.calls, joined+1)
	}
	if fullest == nil || isOpen && len(f.calls) == 1 {
		return r.lose(ctx, s.calls, f.err, joined)
	}
	fullest.deliver(s.calls, r.Name())
	return nil
}

// lose is the end of calls that nothing could be had for but err. Where no endpoint takes so many at once it halves
// them and remembers.
func (r *RPC) lose(ctx context.Context, calls []*Call, err error, joined int) error {
	var refused *batchRefusedError
	if !errors.As(err, &refused) {
		return fail(calls, fmt.Errorf("%s: %w", calls[0].Method, err))
	}
	r.batch.Refused(uint64(refused.size))
	if len(calls) == 1 {
		return r.chunk(ctx, calls, joined) // others, or a proof, had gone with it
	}
	half := (len(calls) + 1) / 2
	if first, second := r.chunk(ctx, calls[:half], joined), r.chunk(ctx, calls[half:], joined); first != nil {
		return second
	}
	return nil
}

// fail sets err as that of each call.
func fail(calls []*Call, err error) error {
	for _, call := range calls {
		call.Err = err
	}
	return err
}

// fly asks the endpoints for the calls of a flight, in one HTTP request each. An answer that leaves some of them open
// sends all of them on to the next endpoint.
func (r *RPC) fly(ctx context.Context, f *flight) {
	defer r.flights.land(f)
	defer func() { f.panicked = recover() }()
	f.err = errPanicked // unless something else is known
	f.err = r.pool.run(ctx, job{
		kind: spanMethod(f.calls), isRead: true, // there is no method here that changes anything
		ask: func(ctx context.Context, e *Endpoint, turn *turn) error {
			return r.prove(ctx, e, turn, f.calls, func(got replies) error {
				r.pool.hearHeads(e, f.calls, got.outcomes)
				return turn.hear(func() error {
					f.heard = append(f.heard, got)
					return f.weighed.hear(got.outcomes)
				})
			})
		},
	})
}

// send makes calls at one endpoint in one HTTP request and has hear judge the replies.
func (r *RPC) send(ctx context.Context, e *Endpoint, turn *turn, calls []*Call, hear func(replies) error) error {
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
		got, err := read(calls, response, first)
		if err != nil {
			return err
		}
		return hear(got)
	})
	return err
}

type rpcRequest struct {
	Version string          `json:"jsonrpc"`
	ID      uint64          `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// encode writes calls with ids from first on: an array, or a single object for a single call.
func encode(calls []*Call, first uint64) ([]byte, error) {
	requests := make([]rpcRequest, len(calls))
	for i, call := range calls {
		params, err := call.params()
		if err != nil {
			return nil, err
		}
		requests[i] = rpcRequest{Version: "2.0", ID: first + uint64(i), Method: call.Method, Params: params}
	}
	var body any = requests
	if len(requests) == 1 {
		body = requests[0]
	}
	return json.Marshal(body)
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
		return nil, fmt.Errorf("parameters of %s: %w", c.Method, err)
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
