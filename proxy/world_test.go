package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"go.uber.org/goleak"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/order/stats"
	"crossgate/proxy"
	"crossgate/proxy/creations"
	"crossgate/proxy/manage"
	"crossgate/proxy/orders"
	"crossgate/proxy/pages"
	"crossgate/proxy/pages/compare"
	"crossgate/proxy/swaps"
	"crossgate/quote"
	"crossgate/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The content of these tests' small world.
const (
	createdTx   = "0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1"
	claimedTx   = "0xc2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2"
	plainTx     = "0xc3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3"
	severalTx   = "0xc5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5"
	swappedTx   = "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"
	freshSwapTx = "0x5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b"
	unknownIs   = "0xc4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4"

	taker    = "0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1"
	nobody   = "0xd2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2"
	usdcText = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	wethText = "0x4200000000000000000000000000000000000006"

	// Cache-Control of answers that cannot change any more, and of those that may with the next block.
	keptLong   = "public, max-age=3600, stale-while-revalidate=3600, stale-if-error=79200"
	keptAWhile = "public, max-age=2, stale-while-revalidate=2, stale-if-error=300"

	ordersPath = "/api/Orders/creationTxHash/"
	swapPath   = "/v1.0/chain/transaction"
	goodSwap   = swapPath + "?chainId=8453&tokenIn=" + usdcText + "&tokenInAmount=5000000&tokenOut=" + wethText + "&tokenOutRecipient=" + nobody
)

// world answers a Server's requests and counts them.
type world struct {
	orders    map[string][]*order.Order
	unindexed map[order.ID]bool
	asked     atomic.Int64
	lastSwap  quote.Request
	tokenList *token.Directory
	log       bytes.Buffer
	logger    *slog.Logger // shared by all servers, to serialise writes to log

	values     map[order.ID]stats.Values
	tellers    map[string][]string // by chain, hash and block
	deliveries map[order.ID]order.Delivery
	swaps      []order.Swap

	mu       sync.Mutex
	lastList orders.Part        // the one requested last
	basis    []order.ChainBasis // sorted
}

func newWorld(t testing.TB) *world {
	usdc := token.Key{Chain: 8453, Address: address(t, usdcText)}
	w := &world{orders: map[string][]*order.Order{}}
	w.logger = slog.New(slog.NewJSONHandler(&w.log, nil))
	w.tokenList = token.NewDirectory(token.DirectoryOptions{
		Registry: chain.Documented(),
		Own: map[token.Key]token.Token{
			usdc: {Decimals: 6, Name: "USD Coin", Symbol: "USDC"},
			{Chain: 8453, Address: address(t, wethText)}: {Decimals: 18, Name: "Wrapped Ether", Symbol: "WETH"},
		},
		Prices: []token.PriceSource{func(context.Context, []token.Key) (map[token.Key]*big.Rat, error) {
			return map[token.Key]*big.Rat{usdc: big.NewRat(9999, 10_000)}, nil
		}},
	})
	now := uint64(time.Now().Unix())
	w.orders[createdTx] = []*order.Order{created(t, order.ID{7}, createdTx, now-10)}
	w.orders[claimedTx] = []*order.Order{claimed(t, claimedTx, now-86_400)}
	w.orders[plainTx] = nil
	for id := range byte(3) {
		w.orders[severalTx] = append(w.orders[severalTx], created(t, order.ID{10 + id}, severalTx, now-10))
	}
	w.swaps = []order.Swap{swapped(t, 1, swappedTx, now-86_400), swapped(t, 2, swappedTx, now-86_400), swapped(t, 3, freshSwapTx, now-10)}
	return w
}

// parts are the parts of a site.
type parts struct {
	proxy.Options
	Orders interface {
		proxy.Index
		orders.Finder
		orders.SwapFinder
		pages.Details
		orders.Statistics
	}
	Swaps interface {
		swaps.Estimator
		Venues(ctx context.Context, from, to uint64) ([]quote.VenueDay, error)
	}
	Tokens interface {
		orders.Names
		swaps.Lists
	}
	Logo func(ctx context.Context, url string) (contentType string, picture []byte, err error)
	Feed *feed.Feed

	Manage interface {
		manage.Forecaster
		manage.Settler
	}

	Appraiser manage.Appraiser

	Creations creations.Estimate // nil: orders are not priced
}

// site is a server with everything that it serves.
type site struct {
	*proxy.Server
	orders    *orders.Orders
	swaps     *swaps.Swaps
	estimator swaps.Estimator // which tests may replace
}

// OrdersChanged implements follow.Observer.
func (s *site) OrdersChanged(changes []order.Change) { s.orders.OrdersChanged(changes) }

// BranchChanged implements follow.Observer.
func (s *site) BranchChanged(id chain.ID) { s.orders.BranchChanged(id) }

func newSite(p parts) (*site, error) {
	p.Options.Index = func() proxy.Index { return p.Orders }
	s, err := proxy.New(p.Options)
	if err != nil {
		return nil, err
	}
	made := &site{Server: s, estimator: p.Swaps}
	made.orders = orders.Mount(s, p.Feed, func() orders.Options {
		return orders.Options{Orders: p.Orders, Swaps: p.Orders, Statistics: p.Orders, Venues: p.Swaps.Venues, Tokens: p.Tokens}
	})
	made.swaps = swaps.Mount(s, func() swaps.Options { return swaps.Options{Estimator: made.estimator, Tokens: p.Tokens} })
	created := creations.Mount(s, made.orders, p.Creations)
	shown := func() pages.Options { return pages.Options{Details: p.Orders, Tokens: p.Tokens, Logo: p.Logo} }
	pages.Mount(s, made.orders, made.swaps, shown)
	compare.Mount(s, made.swaps, created, shown)
	manage.Mount(s, made.orders, func() manage.Options {
		return manage.Options{
			Appraiser:   p.Appraiser,
			Forecasters: map[chain.ID]manage.Forecaster{8453: p.Manage, chain.Solana: p.Manage},
			Settlers:    map[chain.ID]manage.Settler{137: p.Manage, chain.Tron: p.Manage},
		}
	})
	return made, nil
}

// server returns a server over w that is closed at the end of the test.
func (w *world) server(t testing.TB, change ...func(*parts)) *site {
	t.Helper()
	usdc := address(t, usdcText)
	o := parts{
		Manage: managing{}, Appraiser: appraising(nil),
		Orders: &answering{
			world: w,
			find: func(_ context.Context, tx chain.TxHash) ([]*order.Order, error) {
				w.asked.Add(1)
				orders, known := w.orders[tx.String()]
				switch {
				case !known:
					return nil, order.ErrNotFound
				case len(orders) == 0:
					return nil, order.ErrNoOrder
				}
				return orders, nil
			},
			byID: func(_ context.Context, id order.ID) (*order.Order, error) {
				w.asked.Add(1)
				for _, orders := range w.orders {
					for _, o := range orders {
						if o.ID == id && !w.unindexed[id] {
							return o, nil
						}
					}
				}
				return nil, fmt.Errorf("find order %s: %w", id, order.ErrNotFound)
			},
			locked: func(_ context.Context, who chain.Address) ([]order.LockedChain, error) {
				w.asked.Add(1)
				if who.String() != taker {
					return nil, nil
				}
				l := order.Lock{Order: order.ID{7}, Give: order.Offer{Chain: 8453, Token: usdc, Amount: chain.NewAmount(17_992_800)}, TakeChain: 137}
				return order.Locked([]order.Lock{l}), nil
			},
			list: func(list.Filter, uint64, uint64) (query.List, error) {
				w.asked.Add(1)
				return listOf(slices.Concat(w.orders[claimedTx], w.orders[createdTx])...), nil
			},
			isFinal: func(o *order.Order) bool {
				return !slices.ContainsFunc(o.Steps(), func(at order.At) bool {
					return time.Since(time.Unix(int64(at.Time), 0)) < 6*time.Hour
				})
			},
		},
		Swaps: estimates(func(ctx context.Context, r quote.Request) (quote.Estimate, error) {
			w.asked.Add(1)
			w.lastSwap = r
			return w.estimate(ctx, r)
		}),
		Tokens:  w.tokenList,
		Options: proxy.Options{Chains: chain.Documented(), Telemetry: proxy.Telemetry{Traced: 1}, Logger: w.logger},
	}
	for _, c := range change {
		c(&o)
	}
	s := must.Get(newSite(o))(t)
	t.Cleanup(s.Close)
	if test, isTest := t.(*testing.T); isTest { // neither benchmarks nor fuzz targets
		servedBy.Store(s, test)
		t.Cleanup(func() { servedBy.Delete(s) })
	}
	return s
}

// asks records the list requested last.
func (w *world) asks(q orders.Part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastList = q
}

// head ends the validity of what a chain reported from unread blocks.
func (w *world) head(id chain.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.basis {
		if c := &w.basis[i]; c.Chain == id {
			c.Epoch.End()
			c.Epoch = new(order.Epoch)
		}
	}
}

// estimates serves every chain.
type estimates func(context.Context, quote.Request) (quote.Estimate, error)

func (e estimates) Serves(chain.ID) bool { return true }

func (e estimates) Balance(_ context.Context, id chain.ID, _, holder chain.Address) (chain.Amount, error) {
	if id != 8453 || holder.String() != nobody {
		return chain.Amount{}, quote.ErrUnsupportedChain
	}
	return chain.NewAmount(1_500_000), nil
}

func (e estimates) Estimate(ctx context.Context, r quote.Request) (quote.Estimate, error) {
	return e(ctx, r)
}

func (e estimates) Venues(context.Context, uint64, uint64) ([]quote.VenueDay, error) {
	return []quote.VenueDay{{Venue: "odos", Quoted: 8, Won: 4, Contested: 2, Gain: 5000}}, nil
}

// listing is a directory that lists USDC on every chain.
type listing struct{ *token.Directory }

func (l listing) Listed(_ context.Context, id chain.ID) []token.Listing {
	usdc, _ := chain.ParseAddress(usdcText, chain.EVM)
	return []token.Listing{{Key: token.Key{Chain: id, Address: usdc}, Token: token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC"}}}
}

// estimate pays one unit of tokenOut for each unit of tokenIn.
func (w *world) estimate(ctx context.Context, r quote.Request) (quote.Estimate, error) {
	c, _ := chain.Documented().Chain(r.Chain)
	tokens, err := w.tokenList.Lookup(ctx, r.Chain, r.TokenIn, r.TokenOut)
	if err != nil {
		return quote.Estimate{}, err
	}
	return quote.Estimate{
		Chain:  c,
		In:     quote.Priced{Side: quote.Side{Address: r.TokenIn, Token: tokens[0], Amount: r.AmountIn}},
		Out:    quote.Priced{Side: quote.Side{Address: r.TokenOut, Token: tokens[1], Amount: r.AmountIn}},
		MinOut: r.AmountIn,
		Tx:     quote.Tx{To: c.Contracts.Router, Data: r.Recipient.Bytes()},
	}, nil
}

func created(t testing.TB, id order.ID, tx string, at uint64) *order.Order {
	hash := must.Get(chain.ParseTxHash(tx))(t)
	o, _ := order.Fold([]order.Event{{Order: id, At: order.At{Chain: 8453, Tx: hash, Block: 1, Time: at}, Fact: order.Created{
		Terms: order.Terms{
			Maker: address(t, taker),
			Give:  order.Offer{Chain: 8453, Token: address(t, usdcText), Amount: chain.NewAmount(17_992_800)},
			Take:  order.Offer{Chain: 137, Token: chain.NativeCoin(chain.EVM), Amount: chain.NewAmount(1)},
		},
	}}})
	return o
}

func claimed(t testing.TB, tx string, at uint64) *order.Order {
	o := created(t, order.ID{8}, tx, at)
	unlock := must.Get(chain.ParseTxHash("0x" + strings.Repeat("c4", 32)))(t)
	o, _ = order.Fold([]order.Event{
		{Order: o.ID, At: o.Created.At, Fact: o.Created.Fact},
		{Order: o.ID, At: order.At{
			Chain: 8453, Block: 2, Time: at + 60, Tx: unlock, BlockHash: o.Created.At.BlockHash, Initiator: o.Created.At.Initiator,
		}, Fact: order.Claimed{Kind: order.Unlock}},
	})
	return o
}

func address(t testing.TB, text string) chain.Address {
	t.Helper()
	return must.Get(chain.ParseAddress(text, chain.EVM))(t)
}

func percent(t testing.TB, text string) decimal.Decimal {
	t.Helper()
	return must.Get(decimal.NewFromString(text))(t)
}

// followed returns the basis of a followed chain.
func followed(id chain.ID, lag order.Lag) order.ChainBasis {
	return order.ChainBasis{Chain: id, Followed: true, Lag: lag, Epoch: new(order.Epoch)}
}

// swapped returns a swap of USDC on Base to its wrapped coin.
func swapped(t testing.TB, number byte, tx string, at uint64) order.Swap {
	hash := must.Get(chain.ParseTxHash(tx))(t)
	return order.Swap{ID: order.ID{0x5a, number}, At: order.At{Chain: 8453, Tx: hash, Block: 7, BlockHash: chain.Hash{7}, Time: at}, Fact: order.Swapped{
		Sender: address(t, taker), Recipient: address(t, nobody),
		TokenIn: address(t, usdcText), AmountIn: chain.NewAmount(5_000_000),
		TokenOut: address(t, wethText), AmountOut: chain.NewAmount(2000), Fee: chain.NewAmount(2),
	}}
}

// foundSwap restricts a basis to the chain of a swap.
func (a *answering) foundSwap(s order.Swap, from order.Basis) query.FoundSwap {
	c := order.ChainBasis{Chain: s.At.Chain, Followed: true, Final: time.Since(time.Unix(int64(s.At.Time), 0)) > 6*time.Hour}
	return query.FoundSwap{Swap: s, Basis: order.Basis{At: from.At, Behind: from.Behind, Chains: []order.ChainBasis{c}}}
}

func (a *answering) FindSwaps(
	_ context.Context, id chain.ID, tx chain.TxHash,
) (found []query.FoundSwap, searched order.Basis, err error) {
	a.world.asked.Add(1)
	searched = order.Basis{At: time.Now(), Chains: []order.ChainBasis{{Chain: id, Followed: id == 8453}}}
	for _, s := range a.world.swaps {
		if s.At.Tx == tx && s.At.Chain == id {
			found = append(found, a.foundSwap(s, searched))
		}
	}
	switch {
	case tx.String() == plainTx && id == 8453:
		return nil, searched, order.ErrNoSwap
	case len(found) == 0:
		return nil, searched, order.ErrNotFound
	}
	return found, searched, nil
}

func (a *answering) SwapByID(_ context.Context, id order.ID) (query.FoundSwap, error) {
	a.world.asked.Add(1)
	for _, s := range a.world.swaps {
		if s.ID == id && !a.world.unindexed[id] {
			return a.foundSwap(s, a.Basis()), nil
		}
	}
	return query.FoundSwap{Basis: a.Basis()}, order.ErrNotFound
}
