package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"go.uber.org/goleak"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/quote"
	"crossgate/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What the small world of these tests holds.
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

	// Cache-Control of what cannot change any more, and of what may with the next block.
	keptLong   = "public, max-age=3600, stale-while-revalidate=3600, stale-if-error=79200"
	keptAWhile = "public, max-age=2, stale-while-revalidate=2, stale-if-error=300"

	ordersPath = "/api/Orders/creationTxHash/"
	swapPath   = "/v1.0/chain/transaction"
	goodSwap   = swapPath + "?chainId=8453&tokenIn=" + usdcText + "&tokenInAmount=5000000&tokenOut=" + wethText + "&tokenOutRecipient=" + nobody
)

// world answers what a Server asks, and counts.
type world struct {
	orders     map[string][]*order.Order
	unindexed  map[order.ID]bool
	asked      atomic.Int64
	lastSwap   quote.Request
	lastFilter index.Filter
	lastPart   [2]uint64 // skip, take
	tokenList  *token.Directory
	log        bytes.Buffer

	values     map[order.ID]index.Values
	whole      map[string]order.Transaction // by hash
	tellers    map[string][]string          // by chain and hash
	deliveries map[order.ID]index.Delivery
	swaps      []order.Swap
	listedMode listMode // last asked for

	mu        sync.Mutex
	basis     []index.ChainBasis // ascending
	readWhole int                // times that a transaction was
}

func newWorld(t testing.TB) *world {
	usdc := token.Key{Chain: 8453, Address: address(t, usdcText)}
	w := &world{orders: map[string][]*order.Order{}}
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

// server returns a server over w that is closed at the end of the test.
func (w *world) server(t testing.TB, change ...func(*Options)) *Server {
	t.Helper()
	usdc := address(t, usdcText)
	o := Options{
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
			list: func(f index.Filter, skip, take uint64) (index.List, error) {
				w.asked.Add(1)
				w.lastFilter, w.lastPart, w.listedMode = f, [2]uint64{skip, take}, crossChain
				return index.List{Orders: slices.Concat(w.orders[claimedTx], w.orders[createdTx]), Total: 2}, nil
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
		Tokens:    w.tokenList,
		Chains:    chain.Documented(),
		Telemetry: Telemetry{Tracing: Tracing{Share: 1}},
		Logger:    slog.New(slog.NewJSONHandler(&w.log, nil)),
	}
	for _, c := range change {
		c(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if test, isTest := t.(*testing.T); isTest { // not what is measured, nor a fuzz target
		servedBy.Store(s, test)
		t.Cleanup(func() { servedBy.Delete(s) })
	}
	return s
}

// answering is Orders made of functions.
type answering struct {
	world   *world
	find    func(context.Context, chain.TxHash) ([]*order.Order, error)
	byID    func(context.Context, order.ID) (*order.Order, error)
	locked  func(context.Context, chain.Address) ([]order.LockedChain, error)
	list    func(f index.Filter, skip, take uint64) (index.List, error)
	isFinal func(*order.Order) bool
	unread  bool // chain 8453 reports everything from blocks that were not read

	withoutSwaps bool
	unready      error
}

// head ends what a chain reported from blocks that were not read.
func (w *world) head(id chain.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.basis {
		if c := &w.basis[i]; c.Chain == id {
			c.Epoch.End()
			c.Epoch = new(index.Epoch)
		}
	}
}

func (a *answering) Transaction(_ context.Context, id chain.ID, tx chain.TxHash) (order.Transaction, error) {
	a.world.mu.Lock()
	defer a.world.mu.Unlock()
	a.world.readWhole++
	read, known := a.world.whole[tx.String()]
	if !known || read.Chain != id {
		return order.Transaction{}, &index.UnreachableError{Chains: []chain.ID{id}, Err: errors.New("timeout")}
	}
	return read, nil
}

func (a *answering) Tellers(id chain.ID, tx chain.TxHash, _ chain.Hash) []string {
	return a.world.tellers[id.String()+" "+tx.String()]
}

func (a *answering) Unready() error { return a.unready }

func (a *answering) Basis() index.Basis {
	a.world.mu.Lock()
	defer a.world.mu.Unlock()
	b := index.Basis{At: time.Now(), All: true, Behind: time.Minute, Chains: slices.Clone(a.world.basis)}
	for i := range b.Chains {
		b.Chains[i].Unread = a.unread && b.Chains[i].Chain == 8453
	}
	return b
}

// found has the part of a basis that an order was read from.
func (a *answering) found(o *order.Order, from index.Basis) index.Found {
	b := index.Basis{At: from.At, Behind: from.Behind}
	for _, id := range []chain.ID{o.Terms.Take.Chain, o.Terms.Give.Chain} { // in the sequence of their ids
		c := index.ChainBasis{Chain: id}
		if at := slices.IndexFunc(from.Chains, func(c index.ChainBasis) bool { return c.Chain == id }); at >= 0 {
			c = from.Chains[at]
		}
		c.Final = a.isFinal(o)
		b.Chains = append(b.Chains, c)
	}
	return index.Found{Order: o, Basis: b}
}

func (a *answering) Find(ctx context.Context, tx chain.TxHash) (found []index.Found, searched index.Basis, err error) {
	searched = a.Basis()
	orders, err := a.find(ctx, tx)
	for _, o := range orders {
		found = append(found, a.found(o, searched))
	}
	return found, searched, err
}

func (a *answering) ByID(ctx context.Context, id order.ID) (index.Found, error) {
	searched := a.Basis()
	o, err := a.byID(ctx, id)
	if err != nil {
		return index.Found{Basis: searched}, err
	}
	return a.found(o, searched), nil
}

func (a *answering) Locked(ctx context.Context, who chain.Address) ([]order.LockedChain, index.Basis, error) {
	basis := a.Basis()
	locked, err := a.locked(ctx, who)
	return locked, basis, err
}

func (a *answering) Daily(_ context.Context, from, _ uint64) (days, before []order.DailyStatistics, basis index.Basis, err error) {
	row := order.DailyStatistics{Day: from, Give: 1, Take: 8453, Statistics: order.Statistics{Created: 2, Given: order.USD{Micros: 1_500_000, Orders: 1}}}
	return []order.DailyStatistics{row}, []order.DailyStatistics{row}, index.Basis{}, nil
}

func (a *answering) AllTime(context.Context) (order.Statistics, index.Basis, error) {
	return order.Statistics{Created: 2}, index.Basis{}, nil
}

func (a *answering) List(_ context.Context, f index.Filter, skip, take uint64) (index.List, index.Basis, error) {
	basis := a.Basis()
	listed, err := a.list(f, skip, take)
	return listed, basis, err
}

func (a *answering) DeliveryTimes(context.Context, uint64, uint64) ([]order.DeliveryTimes, index.Basis, error) {
	return []order.DeliveryTimes{{Give: 1, Take: 8453, Orders: 2, P50: 12, P95: 90}}, index.Basis{}, nil
}

func (a *answering) Deliveries(_ context.Context, ids []order.ID) (map[order.ID]index.Delivery, error) {
	known := map[order.ID]index.Delivery{}
	for _, id := range ids {
		if d, is := a.world.deliveries[id]; is {
			known[id] = d
		}
	}
	return known, nil
}

func (a *answering) Values(_ context.Context, id order.ID) (v index.Values, counted bool, err error) {
	v, counted = a.world.values[id]
	return v, counted, nil
}

// ordersOf are the orders that a server under test answers from.
func ordersOf(o *Options) *answering { return o.Orders.(*answering) }

// followed is a chain that is followed.
func followed(id chain.ID, lag index.Lag) index.ChainBasis {
	return index.ChainBasis{Chain: id, Followed: true, Lag: lag, Epoch: new(index.Epoch)}
}

// estimates serves every chain.
type estimates func(context.Context, quote.Request) (quote.Estimate, error)

func (e estimates) Serves(chain.ID) bool { return true }

func (e estimates) Estimate(ctx context.Context, r quote.Request) (quote.Estimate, error) {
	return e(ctx, r)
}

func (e estimates) Venues(context.Context, uint64, uint64) ([]quote.VenueDay, error) {
	return []quote.VenueDay{{Venue: "odos", Quoted: 8, Won: 4, Contested: 2, Gain: 5000}}, nil
}

// listing is a directory whose list is USDC on every chain.
type listing struct{ *token.Directory }

func (l listing) Listed(_ context.Context, id chain.ID) []token.Listing {
	usdc, _ := chain.ParseAddress(usdcText, chain.EVM)
	return []token.Listing{{Key: token.Key{Chain: id, Address: usdc}, Token: token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC"}}}
}

// estimate pays out one unit of tokenOut for each of tokenIn.
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
	hash, err := chain.ParseTxHash(tx)
	if err != nil {
		t.Fatal(err)
	}
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
	unlock, err := chain.ParseTxHash("0x" + strings.Repeat("c4", 32))
	if err != nil {
		t.Fatal(err)
	}
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
	a, err := chain.ParseAddress(text, chain.EVM)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func percent(t testing.TB, text string) decimal.Decimal {
	t.Helper()
	d, err := decimal.NewFromString(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// do sends a request of one header line, "Name: value", or none.
func do(s *Server, method, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, http.NoBody)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return serve(s, r)
}

func serve(s *Server, r *http.Request) *http.Response {
	recorder := httptest.NewRecorder()
	s.Handler().ServeHTTP(recorder, r)
	response := recorder.Result()
	if t, known := servedBy.Load(s); known {
		checkDocumented(t.(*testing.T), r, response, recorder.Body.Bytes())
	}
	return response
}

func get(s *Server, target string, headers ...string) *http.Response {
	return do(s, http.MethodGet, target, headers...)
}

// body reads an answer to its end, which ends the response.
func body(t testing.TB, response *http.Response) []byte {
	t.Helper()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return raw
}

// errorBody is an error as clients of either API read it.
type errorBody struct {
	ErrorCode    int    `json:"errorCode"`
	ErrorID      string `json:"errorId"`
	Message      string `json:"message"`
	ErrorMessage string `json:"errorMessage"`
	ReqID        string `json:"reqId"`
}

// wantError checks everything that holds for every error and returns its body.
func wantError(t testing.TB, response *http.Response, status int, id string) errorBody {
	t.Helper()
	raw := body(t, response)
	var e errorBody
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("error body %q: %v", raw, err)
	}
	if response.StatusCode != status || e.ErrorID != id {
		t.Fatalf("HTTP %d %s, want %d %s", response.StatusCode, raw, status, id)
	}
	if e.Message == "" || e.Message != e.ErrorMessage || e.ErrorCode == 0 || e.ReqID == "" || e.ReqID != response.Header.Get("X-Request-Id") {
		t.Errorf("incomplete error %s", raw)
	}
	if got := response.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("Content-Type = %q", got)
	}
	if got := response.Header.Get("Cache-Control"); got != "no-store" && !(got == "public, max-age=1" && status < 500) {
		t.Errorf("Cache-Control = %q, want no-store, or a second where the answer may change", got)
	}
	if retry := response.Header.Get("Retry-After"); (retry != "") != isRetryable(status) {
		t.Errorf("HTTP %d with Retry-After %q", status, retry)
	}
	return e
}
