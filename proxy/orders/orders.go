package orders

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

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

// Finder is the part of query.Index that finds orders. Every answer comes with its basis, and can be kept while that
// holds.
type Finder interface {
	Find(context.Context, chain.TxHash) ([]query.Found, order.Basis, error)
	IDsIn(context.Context, chain.TxHash) ([]order.ID, order.At, order.Basis, error)
	FindIn(ctx context.Context, tx chain.TxHash, ids ...order.ID) ([]query.Found, order.Basis, error)
	ByID(context.Context, order.ID) (query.Found, error)
	Locked(context.Context, chain.Address) ([]order.LockedChain, order.Basis, error)
	List(ctx context.Context, k list.Kind, f list.Filter, skip, take uint64) (query.List, order.Basis, error)
}

// SwapFinder is the part of the order index that finds swaps within a chain.
type SwapFinder interface {
	FindSwaps(context.Context, chain.ID, chain.TxHash) ([]query.FoundSwap, order.Basis, error)
	SwapByID(context.Context, order.ID) (query.FoundSwap, error)
}

// Statistics is the part of the order index that counts events per UNIX day; ranges are inclusive.
type Statistics interface {
	Daily(ctx context.Context, from, to uint64) (days, before []order.DailyStatistics, basis order.Basis, err error)
	AllTime(ctx context.Context) (order.Statistics, order.Basis, error)
	DeliveryTimes(ctx context.Context, from, to uint64) ([]order.DeliveryTimes, order.Basis, error)
}

// Options are the sources that orders are read from.
type Options struct {
	Orders     Finder
	Swaps      SwapFinder
	Statistics Statistics
	// Venues returns the results of venues on these days, most frequent winners first.
	Venues func(ctx context.Context, from, to uint64) ([]quote.VenueDay, error)
	Tokens Names
}

// Names looks up the metadata and prices of tokens (token.Directory).
type Names interface {
	// Lookup returns tokens' metadata in sequence, zero for tokens without any, or an error if the chain is unreadable.
	Lookup(context.Context, chain.ID, ...chain.Address) ([]token.Token, error)
	// USD returns the price of one whole token, for those whose price is known.
	USD(context.Context, ...token.Key) map[token.Key]*big.Rat
}

// Orders serves orders, swaps within a chain, and statistics.
type Orders struct {
	server   *proxy.Server
	Options  func() Options // returns the current ones
	chains   chain.Registry
	encoder  wire.Encoder
	feed     *feed.Feed
	orderTxs txsByID[chain.TxHash]
	swapTxs  txsByID[swapTx]
}

// txsKept is how many transactions are remembered by order, and by swap: at most twice as many.
const txsKept = 1 << 14

// Mount adds the paths of orders to a server. Each request reads from the current options.
func Mount(server *proxy.Server, log *feed.Feed, options func() Options) *Orders {
	chains := server.Options.Chains
	s := &Orders{server: server, Options: options, chains: chains, feed: log, encoder: wire.Encoder{Chains: chains}}
	s.orderTxs.Limit, s.swapTxs.Limit = txsKept, txsKept
	s.OrdersRoute().Mount(server)
	s.OrderRoute().Mount(server)
	s.EventsRoute().Mount(server)
	s.mountFaces()
	s.OrderListRoute().Mount(server)
	s.batchRoute().Mount(server)
	s.listRoute("/api/Orders/getForUnlockAuthorities", parseUnlockList, s.loadUnlockList).Mount(server)
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
	Index int // in log order, from 0
}

// OrdersRoute answers with the order that a transaction created. The documented answer has room for one order and means
// the first; others are selected by index. All orders of a transaction are loaded together.
func (s *Orders) OrdersRoute() proxy.Route[Creation] {
	return proxy.Route[Creation]{
		Paths: []string{"/api/Orders/creationTxHash/:creationTxHash"},
		Parse: parseCreation,
		Key:   func(path string, q Creation) cache.Key { return txKey(path, q.Tx) },
		Load:  s.loadOrders,
		Choose: func(q Creation, orders []proxy.Body) (*proxy.Body, error) {
			return choose(q.Index, orders, proxy.OrderOutOfRange, "orders that the transaction created")
		},
		Indexed: true,
		Follow:  followed(s, s.OrdersRoute, s.goneOf),
		Learn:   func(q Creation, bodies []proxy.Body) { s.orderTxs.learn(q.Tx, bodies) },
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

// ParseIndex parses the only parameter of lookups. Others, such as access tokens, are tolerated.
func ParseIndex(rawQuery string) (int, error) {
	if rawQuery == "" { // a hit of the cache allocates nothing here
		return 0, nil
	}
	q := proxy.ReadQuery(rawQuery)
	given := q.All("index")
	if given == nil {
		return 0, nil
	}
	index, err := strconv.ParseUint(strings.Join(given, ","), 10, 31)
	if err != nil {
		return 0, proxy.InvalidParameters.Because("index must be one whole number, 0 for the transaction's first order")
	}
	return int(index), nil
}

func txKey(path string, tx chain.TxHash) cache.Key {
	var space [64]byte // holds the longest hash, so that a hit allocates nothing here
	return cache.KeyOf(path, tx.AppendTo(space[:0]))
}

func (s *Orders) loadOrders(ctx context.Context, q Creation) ([]proxy.Body, cache.Life, error) {
	orders, searched, err := s.Options().Orders.Find(ctx, q.Tx)
	if other, is := errors.AsType[*query.NotCreatedError](err); is {
		s.orderTxs.remember(q.Tx, other.Orders...)
	}
	if err != nil {
		return nil, proxy.NoLife, proxy.Searched(err, searched)
	}
	for _, o := range orders {
		s.orderTxs.remember(q.Tx, o.ID)
	}
	return s.encodeOrders(ctx, orders)
}

func choose(index int, bodies []proxy.Body, outOfRange proxy.Kind, what string) (*proxy.Body, error) {
	if index >= len(bodies) {
		return nil, outOfRange.Because(fmt.Sprintf("index must be below %d, the number of %s", len(bodies), what))
	}
	return &bodies[index], nil
}

// seriesLink returns the Link header of the order at index among count: the first and last of the series and the orders
// next to this one (RFC 8288, registered relations). The targets are relative, since this server need not be at the
// root of its host.
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
