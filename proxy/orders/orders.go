package orders

import (
	"context"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/wire"
	"crossgate/quote"
	"crossgate/token"
)

// Finder is the order index as far as it knows orders (query.Index). Every answer comes with its basis, and can be kept
// while that holds.
type Finder interface {
	// Find returns the orders that a transaction created, in log order, and the basis of the search, also beside an
	// error: order.ErrNotFound, order.ErrNoOrder, *query.NotCreatedError, *query.UnreachableError, *query.BusyError,
	// query.ErrUnavailable.
	Find(context.Context, chain.TxHash) ([]query.Found, order.Basis, error)
	// IDsIn returns the orders that a transaction is any step of, those that it created first, and where it is; the
	// errors are those of Find.
	IDsIn(context.Context, chain.TxHash) ([]order.ID, order.At, order.Basis, error)
	// FindIn returns those of IDsIn with some ids, without any all of them.
	FindIn(ctx context.Context, tx chain.TxHash, ids ...order.ID) ([]query.Found, order.Basis, error)
	// ByID returns one order; order.ErrNotFound, with the basis of the search, when it was not indexed;
	// query.ErrUnavailable when that cannot be known.
	ByID(context.Context, order.ID) (query.Found, error)
	// Locked returns the locked assets of a taker; query.ErrEmpty or query.ErrUnavailable when that cannot be known.
	Locked(context.Context, chain.Address) ([]order.LockedChain, order.Basis, error)
	// List returns a part of the orders, the swaps within a chain, or both that match a filter; query.ErrEmpty,
	// query.ErrUnavailable when that cannot be known.
	List(ctx context.Context, k list.Kind, f list.Filter, skip, take uint64) (query.List, order.Basis, error)
}

// SwapFinder is the order index as far as it knows swaps within a chain.
type SwapFinder interface {
	// FindSwaps returns the swaps that a transaction made within its chain, at least one in log order, and the basis of
	// the search, also beside an error: those of Find, order.ErrNoSwap in place of order.ErrNoOrder.
	FindSwaps(context.Context, chain.ID, chain.TxHash) ([]query.FoundSwap, order.Basis, error)
	// SwapByID is ByID of a swap.
	SwapByID(context.Context, order.ID) (query.FoundSwap, error)
}

// Statistics counts what happened on UNIX days, both included; query.ErrEmpty, stats.ErrUncounted or
// query.ErrUnavailable when that cannot be known.
type Statistics interface {
	// Daily returns statistics by day and pair of chains, in this sequence, and what each pair had before.
	Daily(ctx context.Context, from, to uint64) (days, before []order.DailyStatistics, basis order.Basis, err error)
	// AllTime returns the statistics of all orders.
	AllTime(ctx context.Context) (order.Statistics, order.Basis, error)
	// DeliveryTimes returns how long the orders took that were created in these days, by pair of chains.
	DeliveryTimes(ctx context.Context, from, to uint64) ([]order.DeliveryTimes, order.Basis, error)
}

// Options are what orders are read from.
type Options struct {
	Orders     Finder
	Swaps      SwapFinder
	Statistics Statistics
	// Venues returns what became of venues in these days, those that won most often first.
	Venues func(ctx context.Context, from, to uint64) ([]quote.VenueDay, error)
	Tokens Names
}

// Names knows what tokens are called and what they are worth (token.Directory).
type Names interface {
	// Lookup returns metadata of a chain's tokens in sequence, zero for a token without; an unread chain is an error.
	Lookup(context.Context, chain.ID, ...chain.Address) ([]token.Token, error)
	// USD returns the price of one whole token, for those tokens whose price is known.
	USD(context.Context, ...token.Key) map[token.Key]*big.Rat
}

// Orders answers about orders, swaps within a chain, and statistics.
type Orders struct {
	server    *proxy.Server
	Options   func() Options // the current ones
	chains    chain.Registry
	limit     time.Duration
	encoder   wire.Encoder
	feed      *feed.Feed // nil: there is none
	creations creations[chain.TxHash]
	swapTxs   creations[swapTx]
}

// Mount adds the paths of orders to a server. It reads from the options that are current at each request.
func Mount(server *proxy.Server, log *feed.Feed, options func() Options) *Orders {
	chains := server.Options.Chains
	s := &Orders{server: server, Options: options, chains: chains, limit: server.Options.OrderLimit, feed: log, encoder: wire.Encoder{Chains: chains}}
	s.OrdersRoute().Mount(server)
	s.OrderRoute().Mount(server)
	s.EventsRoute().Mount(server)
	s.mountFaces()
	s.OrderListRoute().Mount(server)
	s.BatchRoute().Mount(server)
	s.unlockListRoute().Mount(server)
	s.SwapTxRoute().Mount(server)
	s.SwapIDRoute().Mount(server)
	s.LockedRoute().Mount(server)
	s.DailyRoute().Mount(server)
	s.allTimeRoute().Mount(server)
	s.DeliveryTimesRoute().Mount(server)
	s.VenuesRoute().Mount(server)
	return s
}

// Creation asks for one of the orders that a transaction created.
type Creation struct {
	Tx    chain.TxHash
	Index int // among them, in log order from 0
}

// OrdersRoute answers what became of the order that a transaction created. The documented answer has room
// for one order and means the first; the others have an index. All orders of a transaction are loaded
// together.
func (s *Orders) OrdersRoute() proxy.Route[Creation] {
	return proxy.Route[Creation]{
		Paths: []string{"/api/Orders/creationTxHash/:creationTxHash"},
		Parse: parseCreation,
		Key:   func(path string, q Creation) cache.Key { return txKey(path, q.Tx) },
		Load: func(ctx context.Context, q Creation) ([]proxy.Body, cache.Life, error) {
			return s.loadOrders(ctx, q.Tx)
		},
		Choose: func(q Creation, orders []proxy.Body) (*proxy.Body, error) {
			return choose(q.Index, orders, proxy.OrderOutOfRange, "orders that the transaction created")
		},
		Indexed: true,
		Follow:  followed(s, s.OrdersRoute),
		Learn:   func(q Creation, bodies []proxy.Body) { s.creations.learn(q.Tx, bodies) },
		Sought:  func(q Creation) chain.TxHash { return q.Tx },
	}
}

func parseCreation(c *gin.Context) (Creation, error) {
	tx, err := ParseTxHash(c.Param("creationTxHash"), proxy.Tracking)
	if err != nil {
		return Creation{}, err
	}
	index, err := ParseIndex(c.Request.URL.RawQuery)
	return Creation{tx, index}, err
}

func ParseTxHash(text string, d proxy.Dialect) (chain.TxHash, error) {
	hash, err := chain.ParseTxHash(text)
	if err != nil {
		return chain.TxHash{}, d.Malformed(proxy.MalformedHash, err)
	}
	return hash, nil
}

// ParseIndex reads the only parameter of lookups. Others, such as access tokens, are tolerated.
func ParseIndex(rawQuery string) (int, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return 0, proxy.InvalidParameters.Because("the query is not properly URL-encoded")
	}
	given, isGiven := values["index"]
	if !isGiven {
		return 0, nil
	}
	index, err := strconv.ParseUint(strings.Join(given, ","), 10, 31)
	if err != nil {
		return 0, proxy.InvalidParameters.Because("index must be one whole number, 0 for the transaction's first order")
	}
	return int(index), nil
}

func txKey(path string, tx chain.TxHash) cache.Key {
	var space [64]byte // of the longest hash, so that a hit allocates nothing here
	return cache.KeyOf(path, tx.AppendTo(space[:0]))
}

func (s *Orders) loadOrders(ctx context.Context, tx chain.TxHash) ([]proxy.Body, cache.Life, error) {
	orders, _, err := s.ordersOf(ctx, tx)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	return s.encodeOrders(ctx, orders)
}

// choose returns the body at an index among those of one transaction.
func choose(index int, bodies []proxy.Body, outOfRange proxy.Kind, what string) (*proxy.Body, error) {
	if index >= len(bodies) {
		return nil, outOfRange.Because(fmt.Sprintf("index must be below %d, the number of %s", len(bodies), what))
	}
	return &bodies[index], nil
}

// seriesLink is the Link header of the order at index among several: where the series begins and ends and
// which orders are next to this one (RFC 8288, relations of its registry). The targets are relative, since
// this server need not be at the root of its host.
func seriesLink(index, count int) []string {
	if count == 1 {
		return nil
	}
	last := count - 1
	links := make([]string, 0, 4)
	add := func(relation string, to int) {
		links = append(links, fmt.Sprintf(`<?index=%d>; rel="%s"`, to, relation))
	}
	if index > 0 {
		add("first", 0)
		add("prev", index-1)
	}
	if index < last {
		add("next", index+1)
		add("last", last)
	}
	return []string{strings.Join(links, ", ")}
}
