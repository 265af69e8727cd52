package stories_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/venue"
)

// liar is a venue whose adapter believes what it must not.
type liar struct {
	quote.Venue
	quoted func(*quote.Quote)
	built  func(quote.Swap, *quote.Tx)
}

// Quote names the honest outcome to the adapter and another one to everybody else.
func (l liar) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	q, err := l.Venue.Quote(ctx, s)
	if err == nil && l.quoted != nil {
		told := q
		l.quoted(&told)
		told.Route = q
		return told, nil
	}
	return q, err
}

func (l liar) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	if honest, inflated := q.Route.(quote.Quote); inflated {
		q = honest
	}
	tx, err := l.Venue.Build(ctx, s, q)
	if err == nil && l.built != nil {
		l.built(s, &tx)
	}
	return tx, err
}

var thief = chain.NewAddress(bytes.Repeat([]byte{0xba}, 20))

// lies make the liar's offer the best of all, so that nothing but a check stops it.
var lies = map[string]liar{
	"an outcome that it does not pay": {},
	"another recipient": {built: func(s quote.Swap, tx *quote.Tx) {
		tx.Data = bytes.ReplaceAll(tx.Data, s.Recipient.Bytes(), thief.Bytes())
	}},
	"another router":  {built: func(_ quote.Swap, tx *quote.Tx) { tx.To = thief }},
	"more of a value": {built: func(_ quote.Swap, tx *quote.Tx) { tx.Value = tx.Value.Add(chain.NewAmount(1)) }},
	"a call that fails": {built: func(s quote.Swap, tx *quote.Tx) {
		tx.Data = append(append([]byte{0xde, 0xad, 0xbe, 0xef}, tx.Data[4:]...), s.Recipient.Bytes()...)
	}},
}

// inflate promises a tenth more than there is, and embellish less than the slippage of two stable tokens.
func inflate(q *quote.Quote)   { q.AmountOut = q.AmountOut.MulDiv(11, 10) }
func embellish(q *quote.Quote) { q.AmountOut = q.AmountOut.MulDiv(10_008, 10_000) }

// TestLiarsNeverWin lets each venue lie in each way against two that do not, on both ways of execution.
func TestLiarsNeverWin(t *testing.T) {
	sandboxtest.Executes(t)
	t.Parallel()
	world := sandboxtest.Shared(t)
	market := openMarket(t, world, 8453)
	for _, name := range market.names() {
		for what, lie := range lies {
			for _, execution := range []quote.Execution{quote.PreferRouter, quote.DirectOnly} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, what, execution), func(t *testing.T) {
					market.tempt(t, name, lie, execution)
				})
			}
		}
		for _, execution := range []quote.Execution{quote.PreferRouter, quote.DirectOnly} {
			t.Run(fmt.Sprintf("%s/a little more than it pays/%d", name, execution), func(t *testing.T) {
				market.flatter(t, name, execution)
			})
		}
	}
}

// bazaar is one chain of the sandbox with the venues that serve it.
type bazaar struct {
	chain  *sandbox.Chain
	venues []quote.Venue
	node   *evm.Chain
	sender chain.Address
}

func openMarket(t *testing.T, world *sandbox.World, id chain.ID) *bazaar {
	t.Helper()
	c := configOf(t, world)
	at := slices.IndexFunc(world.Chains(), func(c *sandbox.Chain) bool { return c.Facts.ID == id })
	made := &bazaar{chain: world.Chains()[at], sender: chain.NewAddress(world.Accounts()[0].Address.Bytes())}
	made.node = evm.New(made.chain.Facts, jsonrpc.New(poolAt(t, "node", made.chain.RPC)))
	for _, each := range c.Venues {
		o := venue.Options{
			Registry: chain.NewRegistry(made.chain.Facts), Key: each.Key.Reveal(), Settings: each.Settings,
			Contracts: func(ctx context.Context, _ chain.ID, to []chain.Address, data [][]byte) ([][]byte, error) {
				return made.node.CallAll(ctx, to, data)
			},
		}
		if len(each.Endpoints) > 0 {
			o.Pool = poolAt(t, each.Name, each.Endpoints[0].URL.Reveal())
		}
		v, err := venue.New(each.Name, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, served := v.Profile().Routers[id]; served && !v.Profile().Wraps {
			made.venues = append(made.venues, v)
		}
	}
	return made
}

func poolAt(t *testing.T, name, url string) *upstream.Pool {
	t.Helper()
	e, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: name, URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return upstream.NewPool(name, e)
}

func (b *bazaar) names() []string {
	var names []string
	for _, v := range b.venues {
		names = append(names, v.Profile().Name)
	}
	return names
}

// tempt asks for a swap with one venue lying about all that it pays, and in another way besides.
func (b *bazaar) tempt(t *testing.T, name string, lie liar, execution quote.Execution) {
	t.Helper()
	lie.quoted = inflate
	got := b.estimate(t, name, lie, execution)
	for _, one := range got.Asked {
		if one.Venue != name {
			continue
		}
		if one.Verdict == quote.Won || one.Verdict == quote.Refused && one.Err == nil {
			t.Errorf("verdict %d: %v, want it not to win, for a reason", one.Verdict, one.Err)
		}
	}
	if got.Compared[0].Name == name {
		t.Errorf("the liar is the best: %+v", got.Compared[0])
	}
}

// flatter asks for a swap with one venue promising more than it pays, by less than the slippage. Where its transaction
// enforces too little for the promise it is refused; else it counts with what it was seen to pay. Nobody gets less
// than the others pay for it.
func (b *bazaar) flatter(t *testing.T, name string, execution quote.Execution) {
	t.Helper()
	honest := b.estimate(t, name, liar{quoted: func(*quote.Quote) {}}, execution)
	others := b.estimate(t, name, liar{quoted: func(q *quote.Quote) { q.AmountOut = chain.NewAmount(1) }}, execution)
	got := b.estimate(t, name, liar{quoted: embellish}, execution)
	for _, one := range got.Asked {
		if one.Verdict == quote.Won && (one.Result == nil || !one.Result.Measured || one.Result.Received != got.Out.Amount) {
			t.Errorf("the answer names %s, the trial saw %+v", got.Out.Amount, one.Result)
		}
	}
	// Prices within two basis points of what was seen are not looked into.
	if got.Out.Amount.Cmp(others.Out.Amount.MulDiv(9_998, 10_000)) < 0 || got.Out.Amount.Cmp(honest.Out.Amount) > 0 {
		t.Errorf("%s with a flattering quote, %s with honest ones, %s by the others", got.Out.Amount, honest.Out.Amount, others.Out.Amount)
	}
}

// estimate asks for a swap with the liar in the place of the venue with its name, and two others.
func (b *bazaar) estimate(t *testing.T, name string, lie liar, execution quote.Execution) quote.Estimate {
	t.Helper()
	var venues []quote.Venue
	honest := 0
	for _, v := range b.venues {
		switch p := v.Profile(); {
		case p.Name == name:
			lie.Venue = v
			venues = append(venues, lie)
		case honest < 2 && len(p.Approves) == 0 && !p.Fallback:
			venues = append(venues, v)
			honest++
		}
	}
	id := b.chain.Facts.ID
	e := quote.New(quote.Options{
		Registry: chain.NewRegistry(b.chain.Facts), Venues: venues, Window: time.Minute, Logger: slog.New(slog.DiscardHandler),
		Tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: chain.NewRegistry(b.chain.Facts), Readers: map[chain.ID]token.Reader{id: b.node},
		}),
		Chains: map[chain.ID]quote.Chain{id: {
			Guard: swap.Guard{}, Router: swap.NewRouter(b.node), Simulator: patient{swap.NewSimulator(b.node)}, Execution: execution,
		}},
	})
	got, err := e.Estimate(t.Context(), b.request())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// patient is a simulator whose answer is waited for, however busy the machine is.
type patient struct{ quote.Simulator }

func (p patient) Simulate(ctx context.Context, s quote.Simulation) (quote.Result, error) {
	return p.Simulator.Simulate(context.WithoutCancel(ctx), s)
}

func (b *bazaar) request() quote.Request {
	r := quote.Request{
		Chain: b.chain.Facts.ID, AmountIn: chain.NewAmount(250_000_000), Sender: b.sender,
		Recipient: chain.NewAddress(bytes.Repeat([]byte{0x5e}, 20)),
	}
	for _, each := range b.chain.Tokens {
		switch each.Symbol {
		case "USDC":
			r.TokenIn = chain.NewAddress(each.Address.Bytes())
		case "DAI":
			r.TokenOut = chain.NewAddress(each.Address.Bytes())
		}
	}
	return r
}
