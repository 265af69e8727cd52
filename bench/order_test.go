package bench

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/token"
)

var usdc = token.Token{
	Decimals: 6, Name: "USD Coin", Symbol: "USDC",
	LogoURI: "https://tokens.debridge.finance/Logo/8453/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913/big/token-logo.png",
}

// BenchmarkFold folds the seven events of a complete life into an order.
func BenchmarkFold(b *testing.B) {
	events := life()
	b.ReportAllocs()
	for b.Loop() {
		if _, told := order.Fold(events); !told {
			b.Fatal("no order")
		}
	}
}

func fetch(b testing.TB, client *http.Client, url string, buffer []byte) []byte {
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Error(err)
		return nil
	}
	answer, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer answer.Body.Close()
	into := bytes.NewBuffer(buffer[:0])
	if _, err := into.ReadFrom(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		b.Errorf("status %d, %v", answer.StatusCode, err)
	}
	return into.Bytes()
}

// newOrderServer returns a server with one order. It formats the request log as in production, but discards it.
func newOrderServer(change ...func(*proxy.Options)) (*proxy.Server, error) {
	return newServerWith(nil, change...)
}

// newServerWith is newOrderServer with a feed of events.
func newServerWith(f *feed.Feed, change ...func(*proxy.Options)) (*proxy.Server, error) {
	o := proxy.Options{
		Chains: chain.Documented(),
		Index:  func() proxy.Index { return oneOrder{} },
		Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)),
	}
	for _, each := range change {
		each(&o)
	}
	server, err := proxy.New(o)
	if err == nil {
		orders.Mount(server, f, func() orders.Options { return orders.Options{Orders: oneOrder{}, Tokens: oneToken{}} })
	}
	return server, err
}

// oneOrder is an index of one order, which is final, without chains.
type oneOrder struct{ *query.Index }

// Find implements orders.Finder.
func (oneOrder) Find(context.Context, chain.TxHash) ([]query.Found, order.Basis, error) {
	found := query.Found{Order: claimed(), Basis: order.Basis{At: time.Now()}}
	for _, id := range []chain.ID{found.Terms.Give.Chain, found.Terms.Take.Chain} {
		found.Basis.Chains = append(found.Basis.Chains, order.ChainBasis{Chain: id, Final: true})
	}
	return []query.Found{found}, found.Basis, nil
}

// Basis implements proxy.Index.
func (oneOrder) Basis() order.Basis { return order.Basis{At: time.Now(), All: true} }

// oneToken reports every token as USDC.
type oneToken struct{}

func (oneToken) USD(context.Context, ...token.Key) map[token.Key]*big.Rat { return nil }

func (oneToken) Lookup(_ context.Context, _ chain.ID, addresses ...chain.Address) ([]token.Token, error) {
	return slices.Repeat([]token.Token{usdc}, len(addresses)), nil
}

// serve answers on a loopback port until the benchmark ends.
func serve(b testing.TB, handler http.Handler) (url string) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	server := &http.Server{Handler: handler}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	b.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return "http://" + listener.Addr().String()
}

// claimed returns an order from Base to Polygon, fulfilled and paid long ago.
func claimed() *order.Order {
	folded, _ := order.Fold(life())
	return folded
}

// life returns the events of that order: each side's in sequence, as an index keeps them.
func life() []order.Event {
	terms := order.Terms{
		Nonce: 1_784_948_708_910, Maker: account(1), Receiver: account(2),
		Give:        order.Offer{Chain: 8453, Token: account(3), Amount: chain.NewAmount(17_992_800)},
		Take:        order.Offer{Chain: 137, Token: account(4), Amount: chain.NewAmount(17_279_551)},
		Authorities: order.Authorities{GivePatch: account(1), Order: account(2), AllowedTaker: account(5)},
	}
	paid := terms.Take.Amount
	facts := []struct {
		chain chain.ID
		fact  order.Fact
	}{
		{8453, order.Created{
			Terms: terms, FixFee: chain.NewAmount(1e15), PercentFee: chain.NewAmount(7200), ReferralCode: 31_805,
			Affiliate: &order.Affiliate{Beneficiary: account(6), Amount: chain.NewAmount(1800)},
		}},
		{8453, order.GiveIncreased{Final: chain.NewAmount(18_000_000), FinalPercentFee: chain.NewAmount(7203)}},
		{137, order.TakeDecreased{Final: chain.NewAmount(17_000_000)}},
		{137, order.Fulfilled{Terms: terms, ActualAmount: &paid, Taker: account(5), UnlockAuthority: account(5)}},
		{137, order.ExternalCall{Step: order.CallExecuted}},
		{137, order.Sent{Kind: order.Unlock, Beneficiary: account(5), Submission: hash(7)}},
		{8453, order.Claimed{Kind: order.Unlock, Beneficiary: account(5), Paid: terms.Give.Amount, Submission: hash(7)}},
	}
	events := make([]order.Event, len(facts))
	for i, f := range facts {
		events[i] = order.Event{Order: hash(9), At: at(f.chain, byte(i+1)), Fact: f.fact}
	}
	return events
}

func at(id chain.ID, step byte) order.At {
	return order.At{
		Chain: id, Tx: chain.NewTxHash(bytes.Repeat([]byte{step}, 32)), Block: 30_000_000 + uint64(step), BlockHash: hash(step),
		Time: 1_784_948_713 + uint64(step), Initiator: account(5),
	}
}

func account(b byte) chain.Address { return chain.NewAddress(bytes.Repeat([]byte{b}, 20)) }

func hash(b byte) chain.Hash { return chain.Hash(bytes.Repeat([]byte{b}, 32)) }
