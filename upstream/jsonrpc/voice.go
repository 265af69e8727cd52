package jsonrpc

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"crossgate/upstream"
)

// How long a caller waits for a second voice: usualWitness times the endpoint's usual latency, but at least
// leastWitness and at most half of the remaining time. If none is heard, a result is returned as one endpoint's word.
const (
	usualWitness = 3
	leastWitness = 1200 * time.Millisecond
)

// sameGaps is how often two endpoints must have lacked the same things to count as one voice.
const sameGaps = 2

// voices are the providers behind the endpoints of a pool: two endpoints of one provider cannot confirm each other.
type voices struct {
	mu     sync.Mutex
	of     map[string]string // voice by endpoint
	lacked map[[2]string]int // things that two endpoints both lacked
}

func newVoices(endpoints []*upstream.Endpoint) *voices {
	v := &voices{of: make(map[string]string), lacked: make(map[[2]string]int)}
	for _, e := range endpoints {
		v.of[e.Name()] = e.Provider()
	}
	return v
}

func (v *voices) isOne(a, b string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return a == b || v.of[a] == v.of[b] && v.of[a] != ""
}

// SameGaps records that two endpoints both lacked something that was proven to exist. After sameGaps times they count
// as one provider under two names.
func (c *Client) SameGaps(a, b string) {
	v := c.voices
	v.mu.Lock()
	defer v.mu.Unlock()
	pair := [2]string{min(a, b), max(a, b)}
	if v.lacked[pair]++; a == b || v.lacked[pair] < sameGaps {
		return
	}
	for name, voice := range v.of {
		if voice == v.of[b] {
			v.of[name] = v.of[a]
		}
	}
}

// Avoiding returns a client that asks the endpoints with these names, and others of their providers, after all others:
// for a second reading, or because they were wrong.
func (c *Client) Avoiding(names ...string) *Client {
	made := *c
	for _, e := range c.pool.Endpoints() {
		isAvoided := slices.ContainsFunc(names, func(name string) bool { return c.voices.isOne(e.Name(), name) })
		if isAvoided && !slices.Contains(made.avoided, e.Name()) {
			made.avoided = append(slices.Clip(made.avoided), e.Name())
		}
	}
	return &made
}

// Preferring returns a client that asks the endpoint of that name before all others; the same client if there is none.
func (c *Client) Preferring(name string) *Client {
	made := *c
	made.avoided = nil
	for _, e := range c.pool.Endpoints() {
		if e.Name() != name {
			made.avoided = append(made.avoided, e.Name())
		}
	}
	if made.AvoidsAll() {
		return c
	}
	return &made
}

// Avoids reports whether the client avoids an endpoint.
func (c *Client) Avoids(endpoint string) bool { return slices.Contains(c.avoided, endpoint) }

// AvoidsAll reports whether the client avoids every endpoint.
func (c *Client) AvoidsAll() bool { return len(c.avoided) == len(c.pool.Endpoints()) }

// corroborate asks other voices about the results that calls doubt. An undoubted result replaces a doubted one, an
// equal doubted one confirms it, and two others that agree on a different one replace it.
func (c *Client) corroborate(ctx context.Context, calls []*Call) {
	for {
		var doubted []*Call
		for _, call := range calls {
			if call.Err == nil && call.isDoubted && !call.isSettled && call.Seconded == "" {
				call.hears(call.By)
				doubted = append(doubted, call)
			}
		}
		if len(doubted) == 0 {
			return
		}
		heard := doubted[0].heard // calls that have heard other endpoints get their turn later
		doubted = slices.DeleteFunc(doubted, func(call *Call) bool { return !slices.Equal(call.heard, heard) })
		witness := c.witness(doubted, heard)
		if witness == nil {
			for _, call := range doubted {
				call.isSettled = true // as well as possible
			}
			continue
		}
		c.hear(ctx, witness, doubted)()
	}
}

// besides asks another voice about calls that are Twice while the first one is asked; take applies its answers.
func (c *Client) besides(ctx context.Context, calls []*Call) (take func()) {
	twice := slices.DeleteFunc(slices.Clone(calls), func(call *Call) bool { return !call.Twice })
	if len(twice) > 0 {
		if first := c.pool.Next(kindOf(calls), c.avoided, c.suits(calls)); first != nil {
			if witness := c.witness(twice, []string{first.Name()}); witness != nil {
				return c.hear(ctx, witness, twice)
			}
		}
	}
	return func() {}
}

// hears records that an endpoint has nothing more to say about a call's result.
func (c *Call) hears(endpoint string) {
	if !slices.Contains(c.heard, endpoint) {
		c.heard = append(c.heard, endpoint)
	}
}

// Confirm asks other voices about the result that a call has; see Call.Says.
func (c *Client) Confirm(ctx context.Context, call *Call, says func(result any) string) {
	call.Twice, call.Says = true, says
	call.heard, call.unlike, call.isDoubted, call.isSettled = nil, nil, true, false
	c.corroborate(ctx, []*Call{call})
}

// Contradicting are the endpoints that said something else than the result.
func (c *Call) Contradicting() []string { return c.Unlike(c.isSame) }

// Unlike are the endpoints that returned a result which is not the same.
func (c *Call) Unlike(isSame func(a, b any) bool) (names []string) {
	for _, each := range c.unlike {
		if !isSame(each.Out, c.Out) {
			names = append(names, each.By)
		}
	}
	return names
}

// copied returns the same call with room for another result.
func (c *Call) copied() *Call {
	other := *c
	other.Out = reflect.New(reflect.TypeOf(c.Out).Elem()).Interface()
	return &other
}

// errUnheard is why an absence is not reported.
var errUnheard = errors.New("only one endpoint reports this, and no other answered")

// Unheard returns an error if only one endpoint reports a doubted result although another voice can be expected to
// answer.
func (c *Client) Unheard(call *Call) error {
	if call.IsSingle() && c.witness([]*Call{call}, []string{call.By}) != nil {
		return errUnheard
	}
	return nil
}

// witness returns an endpoint of a different voice than heard that may answer calls now; nil if there is none.
func (c *Client) witness(calls []*Call, heard []string) *upstream.Endpoint {
	suits := c.suits(calls[:1])
	isNew := func(e *upstream.Endpoint) bool {
		return suits(e) && e.MayBeProbed() && !slices.ContainsFunc(heard, func(name string) bool { return c.voices.isOne(e.Name(), name) })
	}
	if next := c.pool.Next(kindOf(calls), c.avoided, isNew); next != nil && isNew(next) {
		return next
	}
	return nil
}

// Again makes each call that an endpoint said to fail everywhere at one of another provider, if one can be expected to
// answer. A result counts.
func (c *Client) Again(ctx context.Context, calls ...*Call) {
	for _, call := range calls {
		if said, is := errors.AsType[*Error](call.Err); !is || said.class() != 0 {
			continue
		}
		again := call.copied()
		if witness := c.witness([]*Call{call}, []string{call.By}); witness != nil {
			c.alone[witness].Each(ctx, again)
		}
		if again.Err == nil {
			call.take(again)
			call.Err = nil
		}
	}
}

// OneByOne has endpoints of different providers that can be expected to answer asked each by itself, until one of them
// is enough.
func (c *Client) OneByOne(method string, isEnough func(alone *Client) bool) {
	var asked []string
	for {
		witness := c.witness([]*Call{{Method: method}}, asked)
		if witness == nil || isEnough(c.alone[witness]) {
			return
		}
		asked = append(asked, witness.Name())
	}
}

// hear asks one endpoint about doubted calls; take waits for it, and has them take what it says.
func (c *Client) hear(caller context.Context, witness *upstream.Endpoint, doubted []*Call) (take func()) {
	again := make([]*Call, len(doubted))
	for i, call := range doubted {
		again[i] = call.copied()
	}
	ctx, cancel := witnessTime(caller, witness)
	var asking sync.WaitGroup
	asking.Go(func() { c.alone[witness].Each(ctx, again...) })
	return func() {
		if !slices.ContainsFunc(doubted, func(call *Call) bool { return call.Err == nil }) {
			cancel()
		}
		asking.Wait()
		cancel()
		for i, call := range doubted {
			if call.Err != nil || c.voices.isOne(call.By, witness.Name()) {
				continue // the witness has answered the call itself
			}
			call.hears(call.By)
			call.hears(witness.Name())
			said := again[i]
			switch {
			case said.Err != nil:
				isShort := upstream.WorkOf(caller) == upstream.Searching && (upstream.IsShort(said.Err) || caller.Err() != nil)
				if isShort { // a search must not end for lack of budget
					call.Err = said.Err
				}
			case !said.isDoubted:
				call.keep()
				call.take(said)
				call.isDoubted = false
			case call.isSame(call.Out, said.Out):
				call.Seconded = said.By
			default:
				call.differ(said)
			}
		}
	}
}

// keep keeps the call's own result, the first of those that are not the Same.
func (c *Call) keep() {
	if len(c.unlike) == 0 {
		own := c.copied()
		own.take(c)
		c.unlike = append(c.unlike, own)
	}
}

// differ records another equally doubted result, and takes one on which two agree, unless a third has more: two
// endpoints can both be behind, or lack the same.
func (c *Call) differ(said *Call) {
	switch {
	case c.Says != nil && c.Says(said.Out) == "":
		return
	case c.Says != nil && c.Says(c.Out) == "":
		c.take(said)
		return
	}
	c.keep()
	others := c.unlike
	c.unlike = append(c.unlike, said)
	isSame := func(other *Call) bool { return c.isSame(other.Out, said.Out) }
	if i := slices.IndexFunc(others, isSame); i >= 0 && (c.ByMajority || c.isSame(c.sum(said.Out, c.Out), said.Out)) {
		c.take(others[i])
		c.Seconded = said.By
	} else if sum := c.sum(c.Out, said.Out); sum == said.Out {
		c.take(said)
	} else {
		c.set(sum)
	}
}

func (c *Call) isSame(a, b any) bool {
	switch {
	case c.Says != nil:
		return c.Says(a) == c.Says(b)
	case c.Same != nil:
		return c.Same(a, b)
	}
	return isNull(a) == isNull(b)
}

// sum returns a result with whatever another one has in addition.
func (c *Call) sum(a, b any) any {
	switch {
	case c.Add != nil:
		return c.Add(a, b)
	case c.Same == nil && c.Says == nil && isNull(a):
		return b
	}
	return a
}

// isNull reports whether a result, given as a pointer, is null.
func isNull(result any) bool {
	value := reflect.ValueOf(result).Elem()
	return value.Kind() == reflect.Pointer && value.IsNil()
}

func (c *Call) take(other *Call) {
	c.set(other.Out)
	c.By = other.By
}

func (c *Call) set(result any) { reflect.ValueOf(c.Out).Elem().Set(reflect.ValueOf(result).Elem()) }

// witnessTime limits how long a caller waits for a second voice.
func witnessTime(ctx context.Context, e *upstream.Endpoint) (context.Context, context.CancelFunc) {
	limit := max(leastWitness, usualWitness*e.Health().Usual)
	deadline, isLimited := ctx.Deadline()
	if isBackground := upstream.WorkOf(ctx) == upstream.Background; isBackground && !isLimited {
		return context.WithCancel(ctx)
	} else if isBackground || isLimited && time.Until(deadline)/2 < limit {
		limit = time.Until(deadline) / 2
	}
	return context.WithTimeout(ctx, limit)
}
