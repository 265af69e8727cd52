package proxy

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/order/list"
	"crossgate/order/stats"
)

// Orders is the order index (index.Index). Every answer comes with its basis: what it was read from, by which it can
// be kept until the basis no longer holds.
type Orders interface {
	// Find returns the orders that a transaction created, in log order, and what was searched for them, also beside an
	// error: order.ErrNotFound, order.ErrNoOrder, *index.UnreachableError, *index.BusyError, index.ErrUnavailable.
	Find(context.Context, chain.TxHash) ([]index.Found, index.Basis, error)
	// ByID returns one order; order.ErrNotFound when it was not indexed, and no order but the basis of what was
	// searched; index.ErrUnavailable when that cannot be known.
	ByID(context.Context, order.ID) (index.Found, error)
	// Locked returns what is locked for a taker; index.ErrEmpty or index.ErrUnavailable when that cannot be known.
	Locked(context.Context, chain.Address) ([]order.LockedChain, index.Basis, error)
	// Deliveries returns those of orders that are known as delivered; index.ErrUnavailable when that cannot be known.
	Deliveries(context.Context, []order.ID) (map[order.ID]index.Delivery, error)
	// List returns a part of the orders, or swaps within a chain, or both, that a filter matches; index.ErrEmpty,
	// index.ErrUnlisted, index.ErrWithoutSwaps or index.ErrUnavailable when that cannot be known.
	List(ctx context.Context, k list.Kind, f list.Filter, skip, take uint64) (index.List, index.Basis, error)
	// FindSwaps returns the swaps that a transaction made within its chain, at least one in log order, and what was
	// searched for them, also beside an error: those of Find, order.ErrNoSwap in place of order.ErrNoOrder.
	FindSwaps(context.Context, chain.ID, chain.TxHash) ([]index.FoundSwap, index.Basis, error)
	// Unheard returns the chains that searches for a transaction which are under way have yet to hear.
	Unheard(chain.TxHash) []chain.ID
	// SwapByID is ByID of a swap.
	SwapByID(context.Context, order.ID) (index.FoundSwap, error)
	// Daily returns statistics by day and pair of chains, in this sequence, for UNIX days from one to another, and what
	// each pair had before; index.ErrEmpty, stats.ErrUncounted or index.ErrUnavailable when that cannot be known.
	Daily(ctx context.Context, from, to uint64) (days, before []order.DailyStatistics, basis index.Basis, err error)
	// AllTime returns the statistics of all orders, with the errors of Daily.
	AllTime(ctx context.Context) (order.Statistics, index.Basis, error)
	// DeliveryTimes returns how long the orders took that were created in these days, by pair of chains, with the
	// errors of Daily.
	DeliveryTimes(ctx context.Context, from, to uint64) ([]order.DeliveryTimes, index.Basis, error)
	// Values returns what an order's amounts were worth at the time, and whether that was looked up;
	// index.ErrUnavailable when that cannot be known.
	Values(context.Context, order.ID) (v stats.Values, counted bool, err error)
	// Transaction returns a transaction of a chain, whole: order.ErrNotFound, *index.UnreachableError.
	Transaction(context.Context, chain.ID, chain.TxHash) (order.Transaction, error)
	// Tellers returns the names of the endpoints that told of a transaction with events, in the block with a hash; none
	// where that is not remembered.
	Tellers(chain.ID, chain.TxHash, chain.Hash) []string
	// Basis returns what an answer about everything would be read from now.
	Basis() index.Basis
	// Unready returns why other replicas should be asked instead of this one, nil when they need not.
	Unready() error
}

// creation asks for one of the orders that a transaction created.
type creation struct {
	tx    chain.TxHash
	index int // among them, in log order from 0
}

// ordersRoute answers what became of the order that a transaction created. The documented answer has room
// for one order and means the first; the others have an index. All orders of a transaction are loaded
// together.
func (s *Server) ordersRoute() route[creation] {
	return route[creation]{
		paths:   []string{"/api/Orders/creationTxHash/:creationTxHash"},
		dialect: tracking,
		limit:   s.options.OrderLimit,
		parse:   parseCreation,
		key:     func(path string, q creation) cache.Key { return txKey(path, q.tx) },
		load:    func(ctx context.Context, q creation) ([]jsonBody, cache.Life, error) { return s.loadOrders(ctx, q.tx) },
		choose:  chooseOrder,
		indexed: true,
		streams: "order",
		shared:  true,
		learn:   func(q creation, bodies []jsonBody) { s.creations.learn(q.tx, bodies) },
		sought:  func(q creation) chain.TxHash { return q.tx },
	}
}

func parseCreation(c *gin.Context) (creation, error) {
	tx, err := parseTxHash(c.Param("creationTxHash"), tracking)
	if err != nil {
		return creation{}, err
	}
	index, err := parseIndex(c.Request.URL.RawQuery)
	return creation{tx, index}, err
}

func parseTxHash(text string, d dialect) (chain.TxHash, error) {
	hash, err := chain.ParseTxHash(text)
	if err != nil {
		return chain.TxHash{}, d.malformed(malformedHash, err)
	}
	return hash, nil
}

// parseIndex reads the only parameter that lookups of orders have. Others are tolerated: clients send access
// tokens and cache busters.
func parseIndex(rawQuery string) (int, error) {
	if rawQuery == "" {
		return 0, nil
	}
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return 0, invalidParameters.because("the query is not properly URL-encoded")
	}
	given := values["index"]
	if len(given) == 0 {
		return 0, nil
	}
	index, err := strconv.ParseUint(given[0], 10, 31)
	if err != nil || len(given) > 1 {
		return 0, invalidParameters.because("index must be one whole number, 0 for the transaction's first order")
	}
	return int(index), nil
}

func txKey(path string, tx chain.TxHash) cache.Key {
	var space [64]byte // of the longest hash, so that a hit allocates nothing here
	return cache.KeyOf(path, tx.AppendTo(space[:0]))
}

func (s *Server) loadOrders(ctx context.Context, tx chain.TxHash) ([]jsonBody, cache.Life, error) {
	orders, _, err := s.ordersOf(ctx, tx)
	if err != nil {
		return nil, noLife, err
	}
	records, life, err := s.encodeOrders(ctx, orders)
	if err != nil {
		return nil, noLife, err
	}
	bodies := make([]jsonBody, len(records))
	for i, record := range records {
		bodies[i] = bodyOf(record, orders[i])
		bodies[i].link = seriesLink(i, len(bodies))
	}
	return bodies, life, nil
}

func chooseOrder(q creation, orders []jsonBody) (*jsonBody, error) {
	if q.index >= len(orders) {
		return nil, orderOutOfRange.because(fmt.Sprintf("index must be below %d, the number of orders that the transaction created", len(orders)))
	}
	return &orders[q.index], nil
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
