package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// Parts of a list: the documented most, and what a client gets who does not say.
const (
	mostListed    = 100
	usuallyListed = 20
)

// partOfList asks for some of the orders that a filter holds of.
type partOfList struct {
	Filter     index.Filter
	Skip, Take uint64
	Mode       listMode
}

// listMode says what is listed.
type listMode string

const (
	crossChain listMode = "CrossChain" // orders
	sameChain  listMode = "SameChain"  // swaps within a chain
	mixed      listMode = "Mixed"      // both
)

// orderListRoute lists orders by a filter, newest first.
func (s *Orders) orderListRoute() route[partOfList] {
	return s.listRoute("/api/Orders/filteredList", parseOrderList, s.loadOrderList)
}

// unlockListRoute lists what takers need to unlock their orders.
func (s *Orders) unlockListRoute() route[partOfList] {
	return s.listRoute("/api/Orders/getForUnlockAuthorities", parseUnlockList, s.loadUnlockList)
}

func (s *Orders) listRoute(
	path string, parse func(*bodyMembers) (partOfList, error), load func(context.Context, partOfList) ([]jsonBody, cache.Life, error),
) route[partOfList] {
	return route[partOfList]{
		paths:   []string{path},
		methods: []string{http.MethodPost},
		dialect: tracking,
		cost:    listCost,
		limit:   s.limit,
		parse: func(c *gin.Context) (partOfList, error) {
			m, err := readMembers(c)
			if err != nil {
				return partOfList{}, err
			}
			return parse(m)
		},
		key:     listKey,
		load:    load,
		indexed: true,
		shared:  true,
	}
}

// listKey is a key of every member of a question.
func listKey(path string, q partOfList) cache.Key {
	text, err := json.Marshal(q)
	if err != nil {
		panic("proxy: a filter that JSON cannot hold: " + err.Error())
	}
	return cache.KeyOf(path, text)
}

// parseOrderList reads a filter. The members of a body hold together; none is required.
func parseOrderList(m *bodyMembers) (partOfList, error) {
	q := parsePart(m)
	f := &q.Filter
	f.TakeChains = m.chains("takeChainIds")
	f.Calls = words(m, "externalCallStates", allCalls, order.ExternalCallState.String)
	f.TradeType = m.word("orderTradeType", index.TradeTypes())
	f.Since, _ = m.number("blockTimestampFrom", 53)
	until, isUntil := m.number("blockTimestampTo", 53)
	if f.Until = until; isUntil && until == 0 {
		m.mistake("blockTimestampTo must be greater than 0")
	}
	f.Maker, f.Creator, f.Fulfiller = m.address("maker"), m.address("creator"), m.address("fulfiller")
	f.GiveAuthority, f.OrderAuthority = m.address("orderAuthorityInSourceChain"), m.address("orderAuthorityInDestinationChain")
	if code, given := m.number("referralCode", 32); given {
		f.ReferralCode = new(uint32)
		*f.ReferralCode = uint32(code)
	}
	search := m.text("filter")
	if f.Search = parseSearch(search); chain.ChecksumFails(search) {
		m.mistake("filter has a wrong EIP-55 checksum; check its digits")
	}
	if mode := m.word("filterMode", allModes); mode != "" {
		q.Mode = listMode(mode)
	}
	return q, m.err()
}

// parseUnlockList reads the shorter body of the takers' list.
func parseUnlockList(m *bodyMembers) (partOfList, error) {
	q := parsePart(m)
	if len(q.Filter.UnlockAuthorities) == 0 && len(m.wrong) == 0 {
		m.mistake("unlockAuthorities must be one string with addresses joined by a space")
	}
	return q, m.err()
}

// parsePart reads what both lists know.
func parsePart(m *bodyMembers) partOfList {
	q := partOfList{Take: usuallyListed, Mode: crossChain}
	q.Skip, _ = m.number("skip", 53)
	if take, given := m.number("take", 53); given {
		q.Take = min(take, mostListed)
	}
	if q.Take == 0 {
		m.mistake("take must be greater than 0")
	}
	q.Filter.GiveChains = m.chains("giveChainIds")
	q.Filter.States = words(m, "orderStates", allStates, order.State.String)
	q.Filter.UnlockAuthorities = m.addresses("unlockAuthorities")
	return q
}

// What lists can be asked for.
var (
	allModes  = []string{string(crossChain), string(sameChain), string(mixed)}
	allStates = []order.State{
		order.StateCreated, order.StateFulfilled, order.StateSentUnlock, order.StateClaimedUnlock,
		order.StateOrderCancelled, order.StateSentOrderCancel, order.StateClaimedOrderCancel,
	}
	allCalls = []order.ExternalCallState{
		order.NoExtCall, order.AwaitingOrderFulfillment, order.AwaitingExecution, order.Executing, order.Completed,
		order.Failed, order.CancelledCall, order.OrderCancelled,
	}
)

// parseSearch reads a text as everything that it can be; nil for none. Hex is read in any case, and hashes and ids also
// without 0x, as TRON writes hashes.
func parseSearch(text string) *index.Search {
	if text == "" {
		return nil
	}
	if digits, capital := strings.CutPrefix(text, "0X"); capital {
		text = "0x" + digits
	}
	s := &index.Search{}
	if a, _, err := chain.ParseAnyAddress(text); err == nil {
		s.Address = a
	}
	if tx, err := chain.ParseTxHash(text); err == nil {
		s.Tx = tx
		if raw := tx.Bytes(); len(raw) == len(s.Order) {
			s.Order = order.ID(raw)
		}
	}
	return s
}

func (s *Orders) loadOrderList(ctx context.Context, q partOfList) ([]jsonBody, cache.Life, error) {
	switch q.Mode {
	case sameChain:
		return s.loadSwapList(ctx, q)
	case mixed:
		return s.loadMixedList(ctx, q)
	}
	return s.loadList(ctx, q, func(l index.List) ([]byte, []chain.ID, error) {
		tokens, unread, err := s.tokensInTime(ctx, tokensOfAll(l.Orders))
		return s.encoder.AppendOrderList(nil, recordsOf(l.Orders, tokens), l.Total), unread, err
	})
}

func recordsOf(orders []*order.Order, tokens map[token.Key]token.Token) []wire.Record {
	records := make([]wire.Record, len(orders))
	for i, o := range orders {
		records[i] = recordOf(o, tokens)
	}
	return records
}

// loadMixedList lists orders and swaps in one sequence.
func (s *Orders) loadMixedList(ctx context.Context, q partOfList) ([]jsonBody, cache.Life, error) {
	listed, basis, err := s.options.Orders.ListMixed(ctx, q.Filter, q.Skip, q.Take)
	if err != nil {
		return nil, noLife, err
	}
	b := jsonBody{basis: basis}
	var orders []*order.Order
	var swaps []order.Swap
	for _, e := range listed.Items {
		if e.Swap != nil {
			swaps, b.orders = append(swaps, *e.Swap), append(b.orders, e.Swap.ID)
		} else {
			orders, b.orders = append(orders, e.Order), append(b.orders, e.Order.ID)
		}
	}
	tokens, unread, err := s.tokensInTime(ctx, append(tokensOfAll(orders), tokensOfSwaps(swaps)...))
	if err != nil {
		return nil, noLife, err
	}
	ofOrders, ofSwaps := recordsOf(orders, tokens), recordsOfSwaps(swaps, tokens)
	records := make([]wire.MixedRecord, len(listed.Items))
	for i, e := range listed.Items {
		if e.Swap != nil {
			records[i].Swap, ofSwaps = &ofSwaps[0], ofSwaps[1:]
		} else {
			records[i].Order, ofOrders = &ofOrders[0], ofOrders[1:]
		}
	}
	b.text = string(s.encoder.AppendMixedList(nil, records, listed.Total))
	return b.without(unread, movingLife)
}

func (s *Orders) loadUnlockList(ctx context.Context, q partOfList) ([]jsonBody, cache.Life, error) {
	return s.loadList(ctx, q, func(l index.List) ([]byte, []chain.ID, error) {
		return s.encoder.AppendUnlockList(nil, l.Orders, l.Total), nil, nil
	})
}

func (s *Orders) loadList(
	ctx context.Context, q partOfList, encode func(index.List) (text []byte, unread []chain.ID, err error),
) ([]jsonBody, cache.Life, error) {
	listed, basis, err := s.options.Orders.List(ctx, q.Filter, q.Skip, q.Take)
	if err != nil {
		return nil, noLife, err
	}
	text, unread, err := encode(listed)
	if err != nil {
		return nil, noLife, err
	}
	b := jsonBody{text: string(text), basis: basis}
	for _, o := range listed.Orders {
		b.orders = append(b.orders, o.ID)
	}
	return b.without(unread, movingLife)
}
