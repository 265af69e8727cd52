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
	"crossgate/order/list"
	"crossgate/proxy/wire"
)

// Parts of a list: the documented most, and what a client gets who does not say.
const (
	mostListed    = 100
	usuallyListed = 20
)

// partOfList asks for some of the orders that a filter holds of.
type partOfList struct {
	Filter     list.Filter
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
func (s *Server) orderListRoute() route[partOfList] {
	return s.listRoute("/api/Orders/filteredList", parseOrderList, s.loadOrderList)
}

// unlockListRoute lists what takers need to unlock their orders.
func (s *Server) unlockListRoute() route[partOfList] {
	return s.listRoute("/api/Orders/getForUnlockAuthorities", parseUnlockList, s.loadUnlockList)
}

func (s *Server) listRoute(
	path string, parse func(*bodyMembers) (partOfList, error), load func(context.Context, partOfList) ([]jsonBody, cache.Life, error),
) route[partOfList] {
	return route[partOfList]{
		paths:   []string{path},
		methods: []string{http.MethodPost},
		dialect: tracking,
		cost:    listCost,
		limit:   s.options.OrderLimit,
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
	f.TradeType = m.word("orderTradeType", list.TradeTypes())
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
func parseSearch(text string) *list.Search {
	if text == "" {
		return nil
	}
	if digits, capital := strings.CutPrefix(text, "0X"); capital {
		text = "0x" + digits
	}
	s := &list.Search{}
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

// kinds are what the index lists, by modes.
var kinds = map[listMode]list.Kind{crossChain: list.Orders, sameChain: list.Swaps, mixed: list.Both}

func (s *Server) loadOrderList(ctx context.Context, q partOfList) ([]jsonBody, cache.Life, error) {
	listed, basis, err := s.options.Orders.List(ctx, kinds[q.Mode], q.Filter, q.Skip, q.Take)
	if err != nil {
		return nil, noLife, err
	}
	orders, swaps, ids := parted(listed)
	tokens, unread, err := s.tokensInTime(ctx, append(tokensOfAll(orders), tokensOfSwaps(swaps)...))
	if err != nil {
		return nil, noLife, err
	}
	ofSwaps := recordsOfSwaps(swaps, tokens)
	records := make([]wire.Listed, len(listed.Items))
	for i, each := range listed.Items {
		if each.Swap != nil {
			records[i].Swap, ofSwaps = &ofSwaps[0], ofSwaps[1:]
		} else {
			record := recordOf(each.Order, tokens)
			records[i].Order = &record
		}
	}
	b := jsonBody{text: string(s.encoder.AppendList(nil, records, listed.Total)), basis: basis, orders: ids}
	return b.without(unread, movingLife)
}

// parted separates orders from swaps.
func parted(l index.List) (orders []*order.Order, swaps []order.Swap, ids []order.ID) {
	for _, each := range l.Items {
		if each.Swap != nil {
			swaps, ids = append(swaps, *each.Swap), append(ids, each.Swap.ID)
		} else {
			orders, ids = append(orders, each.Order), append(ids, each.Order.ID)
		}
	}
	return orders, swaps, ids
}

func (s *Server) loadUnlockList(ctx context.Context, q partOfList) ([]jsonBody, cache.Life, error) {
	listed, basis, err := s.options.Orders.List(ctx, list.Orders, q.Filter, q.Skip, q.Take)
	if err != nil {
		return nil, noLife, err
	}
	orders, _, ids := parted(listed)
	b := jsonBody{text: string(s.encoder.AppendUnlockList(nil, orders, listed.Total)), basis: basis, orders: ids}
	return b.without(nil, movingLife)
}
