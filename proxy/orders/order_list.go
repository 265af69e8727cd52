package orders

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// Limits of a list: the documented maximum and the default.
const (
	mostListed    = 100
	usuallyListed = 20
)

// Part asks for a part of the orders that match a filter.
type Part struct {
	Filter     list.Filter
	Skip, Take uint64
	Mode       ListMode
}

// ListMode selects orders, swaps or both.
type ListMode string

const (
	CrossChain ListMode = "CrossChain" // orders
	SameChain  ListMode = "SameChain"  // swaps within a chain
	mixed      ListMode = "Mixed"      // both
)

// OrderListRoute lists orders by a filter, newest first.
func (s *Orders) OrderListRoute() proxy.Route[Part] {
	return s.listRoute("/api/Orders/filteredList", ParseOrderList, s.loadOrderList)
}

func (s *Orders) listRoute(
	path string, parse func(*Members) (Part, error), load func(context.Context, Part) ([]proxy.Body, cache.Life, error),
) proxy.Route[Part] {
	return proxy.Route[Part]{
		Paths:   []string{path},
		Methods: []string{http.MethodPost},
		Dialect: proxy.Tracking,
		Cost:    proxy.ListCost,
		Parse: func(c *gin.Context) (Part, error) {
			m, err := readMembers(c)
			if err != nil {
				return Part{}, err
			}
			return parse(m)
		},
		Key:     func(path string, q Part) cache.Key { return proxy.KeyOf(path, q) },
		Load:    load,
		Indexed: true,
		Stored:  true,
		Sought:  Part.soughtTx,
	}
}

// ParseOrderList reads a filter. An order must match all members given; none is required.
func ParseOrderList(m *Members) (Part, error) {
	q := parsePart(m)
	f := &q.Filter
	f.TakeChains = m.chains("takeChainIds")
	f.Calls = words(m, "externalCallStates", allCalls, order.ExternalCallState.String)
	f.TradeType = m.word("orderTradeType", list.TradeTypes())
	f.Since, _ = m.Number("blockTimestampFrom", longestNumber)
	until, isUntil := m.Number("blockTimestampTo", longestNumber)
	if f.Until = until; isUntil && until == 0 {
		m.Mistake("blockTimestampTo must be greater than 0")
	}
	f.Maker, f.Creator, f.Fulfiller = m.address("maker"), m.address("creator"), m.address("fulfiller")
	f.GiveAuthority, f.OrderAuthority = m.address("orderAuthorityInSourceChain"), m.address("orderAuthorityInDestinationChain")
	if code, given := m.ReferralCode(); given {
		f.ReferralCode = &code
	}
	f.Receiver, f.GiveToken, f.TakeToken = m.address("receiver"), m.address("giveTokenAddress"), m.address("takeTokenAddress")
	f.Given = m.amounts("giveAmount", f.GiveToken, "giveTokenAddress")
	f.Taken = m.amounts("takeAmount", f.TakeToken, "takeTokenAddress")
	f.USD = list.Amounts{From: m.usd("usdFrom"), To: m.usd("usdTo")}
	if sort := m.word("sort", list.Sorts); sort != list.Sorts[0] {
		f.Sort = list.Sort(sort)
	}
	search := m.text("filter")
	if f.Search = ParseSearch(search); chain.ChecksumFails(search) {
		m.Mistake("filter has a wrong EIP-55 checksum; check its digits")
	}
	if mode := m.word("filterMode", allModes); mode != "" {
		q.Mode = ListMode(mode)
	}
	return q, m.err()
}

// parseUnlockList reads the shorter filter of the list for takers.
func parseUnlockList(m *Members) (Part, error) {
	q := parsePart(m)
	if len(q.Filter.UnlockAuthorities) == 0 && len(m.Wrong) == 0 {
		m.Mistake("unlockAuthorities must be one string with addresses joined by a space")
	}
	return q, m.err()
}

// parsePart reads the members that both lists share.
func parsePart(m *Members) Part {
	q := Part{Take: usuallyListed, Mode: CrossChain}
	q.Skip, _ = m.Number("skip", longestNumber)
	if take, given := m.Number("take", longestNumber); given {
		q.Take = min(take, mostListed)
	}
	if q.Take == 0 {
		m.Mistake("take must be greater than 0")
	}
	q.Filter.GiveChains = m.chains("giveChainIds")
	q.Filter.States = words(m, "orderStates", AllStates, order.State.String)
	q.Filter.UnlockAuthorities = m.addresses("unlockAuthorities")
	return q
}

// Values that the members of a list filter may take.
var (
	allModes  = []string{string(CrossChain), string(SameChain), string(mixed)}
	AllStates = []order.State{
		order.None, order.StateCreated, order.StateFulfilled, order.StateSentUnlock, order.StateClaimedUnlock,
		order.StateOrderCancelled, order.StateSentOrderCancel, order.StateClaimedOrderCancel,
	}
	allCalls = []order.ExternalCallState{
		order.NoExtCall, order.AwaitingOrderFulfillment, order.AwaitingExecution, order.Executing, order.Completed,
		order.Failed, order.CancelledCall, order.OrderCancelled,
	}
)

// ParseSearch parses a text as everything that it may be; hex in any case, also without 0x. An empty text is nil.
func ParseSearch(text string) *list.Search {
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

var kinds = map[ListMode]list.Kind{CrossChain: list.Orders, SameChain: list.Swaps, mixed: list.Both}

// Listed is a part of a list for pages.
type Listed struct {
	Records []wire.Listed
	Total   uint64 // of all parts
}

func (s *Orders) loadOrderList(ctx context.Context, q Part) ([]proxy.Body, cache.Life, error) {
	l, b, unread, err := s.List(ctx, q)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	b.Text, b.Value = string(s.encoder.AppendOrderList(nil, l.Records, l.Total)), l
	return b.Without(unread, proxy.MovingLife)
}

// List returns a part of a list, and the body of its answer without text. unread are the chains whose token metadata is
// missing.
func (s *Orders) List(ctx context.Context, q Part) (l Listed, b proxy.Body, unread []chain.ID, err error) {
	listed, basis, err := s.Options().Orders.List(ctx, kinds[q.Mode], q.Filter, q.Skip, q.Take)
	if tx := q.soughtTx(); !tx.IsAbsent() && (isUnindexed(err) || err == nil && listed.Total == 0) {
		listed, basis, err = s.listTransaction(ctx, tx, q.Skip, q.Take)
	}
	if err != nil {
		return l, b, nil, err
	}
	var keys []token.Key
	for _, e := range listed.Items {
		if e.Swap != nil {
			b.Orders, keys = append(b.Orders, e.Swap.ID), append(keys, tokensOfSwap(*e.Swap)...)
		} else {
			b.Orders, keys = append(b.Orders, e.Order.ID), append(keys, TokensOf(e.Order)...)
		}
	}
	tokens, unread, err := s.tokensInTime(ctx, keys)
	if err != nil {
		return l, b, nil, err
	}
	b.Basis = resting(basis, tokens, keys...)
	records := make([]wire.Listed, len(listed.Items))
	for i, e := range listed.Items {
		if e.Swap != nil {
			records[i].Swap = new(recordOfSwap(*e.Swap, tokens))
		} else {
			records[i].Order = new(recordOf(e.Order, tokens))
		}
	}
	return Listed{records, listed.Total}, b, unread, nil
}

// soughtTx returns the transaction of a list that searches for orders by nothing else: the chains may know its orders
// even if the index does not.
func (q Part) soughtTx() chain.TxHash {
	search := q.Filter.Search
	if search == nil || q.Mode == SameChain || !reflect.DeepEqual(q.Filter, list.Filter{Search: search, Sort: q.Filter.Sort}) {
		return chain.TxHash{}
	}
	return search.Tx
}

// listTransaction lists a transaction's orders when the index has none.
func (s *Orders) listTransaction(ctx context.Context, tx chain.TxHash, skip, take uint64) (l query.List, basis order.Basis, err error) {
	found, basis, err := s.Options().Orders.FindIn(ctx, tx)
	switch {
	case isWithout(err):
		return l, basis, nil
	case err != nil:
		return l, basis, proxy.Searched(err, basis)
	}
	basis = found[0].Basis
	for _, o := range found {
		s.orderTxs.remember(tx, o.ID)
		if basis = basis.And(o.Basis); o.Created == nil {
			continue
		}
		if l.Total >= skip && l.Total < skip+take {
			l.Items = append(l.Items, query.Item{Order: o.Order})
		}
		l.Total++
	}
	return l, basis, nil
}

func (s *Orders) loadUnlockList(ctx context.Context, q Part) ([]proxy.Body, cache.Life, error) {
	listed, basis, err := s.Options().Orders.List(ctx, list.Orders, q.Filter, q.Skip, q.Take)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	b, orders := proxy.Body{Basis: basis}, make([]*order.Order, len(listed.Items))
	for i, e := range listed.Items {
		orders[i], b.Orders = e.Order, append(b.Orders, e.Order.ID)
	}
	b.Text = string(s.encoder.AppendUnlockList(nil, orders, listed.Total))
	return []proxy.Body{b}, proxy.MovingLife, nil
}
