package venue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"testing"

	"crossgate/chain"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/sandbox"
	node "crossgate/sandbox/jsonrpc"
	"crossgate/token"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
)

// TestNoMutationPassesThePublicRouter alters venues' calldata, which is wrapped into calls of the public router, with a
// node that simulates, one that has only eth_call, and none. What is handed out runs on the chain: unless it reverts,
// the recipient, who is the sender or another account, gets the minimum of the answer, a stranger gets nothing, and no
// more than the input is taken. Nothing of it stays in the router unless the answer is marked as unsimulated.
func TestNoMutationPassesThePublicRouter(t *testing.T) {
	eachInWorld(t, routeMutants)
}

// routeMutants alters a venue's transactions on the first chain where the public router calls it.
func routeMutants(t *testing.T, world *sandbox.World, v quote.Venue) {
	t.Helper()
	if v.Profile().Wraps {
		t.Skip("wrapping does not go through the public router")
	}
	for _, c := range world.Chains() {
		if _, served := v.Profile().Routers[c.Facts.ID]; !served || len(c.Pools) == 0 || c.Facts.Contracts.Router.IsAbsent() {
			continue
		}
		made := 0
		swaps := toSenderAndOther(executedSwaps(t, c, world.Accounts()[0]))
		nodes := []string{c.EVMRPC, plainNode(t, c.EVMRPC), ""}
		for i, s := range swaps {
			tried := nodes
			if os.Getenv("CROSSGATE_MUTATIONS") == "" { // each kind of swap has another node at another venue
				tried = nodes[(i+len(v.Profile().Name))%len(nodes):][:1]
			}
			for _, node := range tried {
				if newRoutedMutants(t, v, c, s, node).mutate(t, mutations(t, fewMutations/10)/(len(tried)*len(swaps))+1) {
					made++
				}
			}
		}
		if made > 0 {
			return
		}
	}
	t.Skip("the public router calls it nowhere in the sandbox")
}

// spoiler is a venue whose calldata is altered.
type spoiler struct {
	quote.Venue
	mutant // of the transaction that it built last
	number int
	what   string // the alteration; empty: none yet
}

// Build implements quote.Venue.
func (v *spoiler) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	tx, err := v.Venue.Build(ctx, s, q)
	if err != nil || v.number < 0 {
		return tx, err
	}
	v.swap, v.quote, v.tx, v.minimum = s, q, tx, q.AmountOut.MulDiv(9_950, 10_000)
	if len(tx.Data) < 36 {
		return tx, nil // nothing to alter
	}
	tx.Data, v.what = v.change(v.number)
	return tx, nil
}

// routedMutants asks a gateway whose only venue is a spoiler.
type routedMutants struct {
	venue     *spoiler
	estimator *quote.Estimator
	request   quote.Request
	outer     mutant // of the transaction that is handed out
	router    chain.Address
}

// plainNode is a node that does not know eth_simulateV1.
func plainNode(t *testing.T, behind string) string {
	t.Helper()
	server := httptest.NewServer(node.Altered(node.At(behind), func(call node.Request, _ int) string {
		if call.Method == "eth_simulateV1" {
			return `"error":{"code":-32601,"message":"the method eth_simulateV1 does not exist/is not available"}`
		}
		return ""
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// newRoutedMutants returns the mutants of a swap, with a simulating node if its URL is given.
func newRoutedMutants(t *testing.T, v quote.Venue, c *sandbox.Chain, s quote.Swap, simulating string) *routedMutants {
	t.Helper()
	chainNode := jsonrpc.New(pooltest.At(t, c.EVMRPC))
	at := evm.New(c.Facts, chainNode)
	spoiled := &spoiler{Venue: v, mutant: mutant{venue: v, random: rand.New(rand.NewPCG(1, 2))}}
	kind := quote.Chain{Guard: swap.Guard{}, Router: swap.NewRouter(at), Execution: quote.PreferRouter}
	if simulating != "" {
		kind.Simulator = swap.NewSimulator(evm.New(c.Facts, jsonrpc.New(pooltest.At(t, simulating))))
	}
	own := map[token.Key]token.Token{}
	for _, side := range []quote.Side{s.In, s.Out} {
		own[token.Key{Chain: c.Facts.ID, Address: side.Address}] = side.Token
	}
	slippage := s.SlippagePercent
	return &routedMutants{
		venue: spoiled, router: c.Facts.Contracts.Router,
		estimator: quote.New(quote.Options{
			Registry: chain.Documented(), Venues: []quote.Venue{spoiled}, Chains: map[chain.ID]quote.Chain{c.Facts.ID: kind},
			Tokens: token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented(), Own: own}),
			Logger: slog.New(slog.DiscardHandler),
		}),
		request: quote.Request{
			Chain: c.Facts.ID, TokenIn: s.In.Address, TokenOut: s.Out.Address, AmountIn: s.In.Amount,
			Sender: s.Sender, Recipient: s.Recipient, SlippagePercent: &slippage,
		},
		outer: mutant{venue: v, swap: s, node: chainNode, spender: c.Facts.Contracts.Router},
	}
}

// mutate asks for a number of swaps. It returns false if the venue makes none through the router.
func (m *routedMutants) mutate(t *testing.T, times int) bool {
	t.Helper()
	m.venue.number = -1 // the venue's own
	own, err := m.estimator.Estimate(t.Context(), m.request)
	if err != nil || own.Way != quote.Routed {
		return false
	}
	m.run(t, own, true)
	for m.venue.number = range times {
		got, err := m.estimator.Estimate(t.Context(), m.request)
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", m.venue.what, err)
			}
			continue
		}
		if got.Way != quote.Routed || got.Tx.To != m.router {
			t.Errorf("%s: handed out a transaction to %s", m.venue.what, got.Tx.To)
			continue
		}
		m.run(t, got, false)
	}
	return true
}

// run executes what was handed out. An unaltered transaction must succeed.
func (m *routedMutants) run(t *testing.T, got quote.Estimate, mustSucceed bool) {
	t.Helper()
	m.outer.tx = got.Tx
	is := m.outer.outcome(t, got.Tx.Data)
	what := fmt.Sprintf("%s of %s to %s", m.venue.what, m.outer.swap.In.Token.Symbol, m.outer.swap.Out.Token.Symbol)
	switch {
	case !is.succeeds && mustSucceed:
		t.Errorf("%s: the venue's own transaction fails", what)
	case !is.succeeds:
	case got.MinOut.IsZero() || is.received.Cmp(got.MinOut) < 0:
		t.Errorf("%s: handed out, and the recipient gets %s of %s", what, is.received, got.MinOut)
	case is.taken.Cmp(m.outer.swap.In.Amount) > 0:
		t.Errorf("%s: handed out, and takes %s of %s", what, is.taken, m.outer.swap.In.Amount)
	case is.robs(m.outer.swap.In.Amount, got.MinOut):
		t.Errorf("%s: handed out, and a stranger gets %s and %s", what, is.stolenIn, is.stolenOut)
	case !got.Unsimulated && !is.left.IsZero():
		t.Errorf("%s: handed out, and leaves %s of %s in the public router", what, is.left, m.outer.swap.In.Amount)
	}
}
