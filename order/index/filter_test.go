package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// holds is what a filter means, of one order.
func (f Filter) holds(o *order.Order) bool {
	created := o.Created
	if created == nil {
		return false
	}
	var affiliate, fulfiller, unlockAuthority chain.Address
	var fulfilledIn chain.TxHash
	if created.Fact.Affiliate != nil {
		affiliate = created.Fact.Affiliate.Beneficiary
	}
	if o.Fulfilled != nil {
		fulfiller, unlockAuthority, fulfilledIn = o.Fulfilled.Fact.Taker, o.Fulfilled.Fact.UnlockAuthority, o.Fulfilled.At.Tx
	}
	among := o.Terms.Authorities
	switch {
	case len(f.GiveChains) > 0 && !slices.Contains(f.GiveChains, o.Terms.Give.Chain),
		len(f.TakeChains) > 0 && !slices.Contains(f.TakeChains, o.Terms.Take.Chain),
		len(f.States) > 0 && !slices.Contains(f.States, o.State),
		len(f.Calls) > 0 && !slices.Contains(f.Calls, o.Call),
		f.TradeType != "" && f.TradeType != tradeType(o),
		created.At.Time < f.Since, f.Until > 0 && created.At.Time > f.Until,
		!f.Maker.IsAbsent() && f.Maker != o.Terms.Maker,
		!f.Creator.IsAbsent() && f.Creator != created.At.Initiator,
		!f.Fulfiller.IsAbsent() && f.Fulfiller != fulfiller,
		len(f.UnlockAuthorities) > 0 && !slices.Contains(f.UnlockAuthorities, unlockAuthority),
		!f.GiveAuthority.IsAbsent() && f.GiveAuthority != among.GivePatch,
		!f.OrderAuthority.IsAbsent() && f.OrderAuthority != among.Order,
		f.ReferralCode != nil && *f.ReferralCode != created.Fact.ReferralCode:
		return false
	}
	if s := f.Search; s != nil {
		byAddress := !s.Address.IsAbsent() && slices.Contains(
			[]chain.Address{o.Terms.Maker, o.Terms.Receiver, among.GivePatch, among.Order, affiliate}, s.Address)
		byTx := !s.Tx.IsAbsent() && (s.Tx == created.At.Tx || s.Tx == fulfilledIn)
		return byAddress || byTx || s.Order == o.ID
	}
	return true
}

// recount is what List must answer about orders.
func recount(orders []*order.Order, f Filter, skip, take uint64) (ids []order.ID, total uint64) {
	var matching []*order.Order
	for _, o := range orders {
		if f.holds(o) {
			matching = append(matching, o)
		}
	}
	slices.SortFunc(matching, func(a, b *order.Order) int {
		return cmp.Or(cmp.Compare(b.Created.At.Time, a.Created.At.Time), bytes.Compare(a.ID[:], b.ID[:]))
	})
	total = uint64(len(matching))
	for _, o := range matching[min(skip, total):min(skip+take, total)] {
		ids = append(ids, o.ID)
	}
	return ids, total
}

// invented makes orders up: their chains, people and times are few enough to meet each other.
type invented struct {
	*rand.Rand
	chains []chain.ID
	people []chain.Address
	number uint64
}

func newInvented(seed uint64) *invented {
	v := &invented{Rand: rand.New(rand.NewPCG(seed, 1)), chains: []chain.ID{1, 10, 56, 137, 8453, 42161, 7565164, 100000014}}
	for n := range 200 {
		length := 20
		if n%5 == 0 {
			length = 32 // of Solana
		}
		v.people = append(v.people, chain.NewAddress(fmt.Appendf(nil, "person no. %0*d", length-11, n)))
	}
	return v
}

// somebody is often one of the same few.
func (v *invented) somebody() chain.Address {
	return v.people[int(float64(len(v.people))*v.Float64()*v.Float64()*v.Float64())]
}

const inventedBegin = 1_700_000_000

// events are those of an order that has come some way. Most of what happens, happens on few of the chains.
func (v *invented) events() []order.Event {
	v.number++
	id := order.ID{1: byte(v.IntN(256))}
	binary.BigEndian.PutUint64(id[24:], v.number)
	some := func() chain.ID { return v.chains[int(float64(len(v.chains))*v.Float64()*v.Float64())] }
	terms := order.Terms{
		Nonce: v.number, Maker: v.somebody(), Receiver: v.somebody(),
		Give:        order.Offer{Chain: some(), Token: v.people[0], Amount: chain.NewAmount(v.number)},
		Take:        order.Offer{Chain: some(), Token: v.people[1], Amount: chain.NewAmount(v.number)},
		Authorities: order.Authorities{GivePatch: v.somebody(), Order: v.somebody()},
	}
	signer := v.somebody()
	if v.IntN(4) > 0 { // as mostly
		signer, terms.Authorities.GivePatch, terms.Authorities.Order = terms.Maker, terms.Maker, terms.Receiver
		if v.IntN(2) == 0 {
			terms.Receiver, terms.Authorities.Order = terms.Maker, terms.Maker
		}
	}
	if v.IntN(8) == 0 {
		terms.ExternalCall = []byte{1}
	}
	created := order.Created{Terms: terms, ReferralCode: uint32(v.IntN(4)) * 10_000}
	if v.IntN(3) == 0 {
		created.Affiliate = &order.Affiliate{Beneficiary: v.somebody(), Amount: chain.NewAmount(1)}
	}
	if v.IntN(2) == 0 {
		created.Metadata = make([]byte, 67)
		created.Metadata[0] = 1
	}
	fulfilled := order.Fulfilled{Terms: terms, Taker: v.somebody(), UnlockAuthority: v.somebody()}
	course := []order.Fact{created, fulfilled, order.Sent{Kind: order.Unlock}, order.Claimed{Kind: order.Unlock}}
	switch v.IntN(10) {
	case 0:
		course = []order.Fact{created, order.Sent{Kind: order.Cancel}, order.Claimed{Kind: order.Cancel}}
	case 1:
		course = course[1:] // its creation was not seen
	}
	course = course[:len(course)-min(v.IntN(2*len(course)), len(course)-1)%len(course)]
	var events []order.Event
	at := inventedBegin + uint64(v.IntN(100))*secondsOfDay/2 + uint64(v.IntN(3))*7
	for step, fact := range course {
		on := terms.Take.Chain
		if isOfGiveSide(fact) {
			on = terms.Give.Chain
		}
		initiator := v.somebody()
		if _, is := fact.(order.Created); is {
			initiator = signer
		}
		tx := order.ID{2: byte(step)}
		binary.BigEndian.PutUint64(tx[8:], v.number/2) // two orders share their transactions
		events = append(events, order.Event{Order: id, Fact: fact, At: order.At{
			Chain: on, Tx: chain.NewTxHash(tx[:]), Block: v.number, LogIndex: uint(4*v.number) + uint(step), Time: at, Initiator: initiator,
		}})
	}
	return events
}

// filter asks for what some order has, as far as it asks for anything.
func (v *invented) filter(orders []*order.Order) (f Filter, skip, take uint64) {
	o := orders[v.IntN(len(orders))]
	maybe := func(one int, set func()) {
		if v.IntN(one) == 0 && o.Created != nil {
			set()
		}
	}
	others := func() *order.Order { return orders[v.IntN(len(orders))] }
	maybe(3, func() { f.GiveChains = []chain.ID{o.Terms.Give.Chain, others().Terms.Give.Chain}[:1+v.IntN(2)] })
	maybe(3, func() { f.TakeChains = []chain.ID{o.Terms.Take.Chain, others().Terms.Take.Chain}[:1+v.IntN(2)] })
	maybe(3, func() { f.States = []order.State{o.State, others().State, order.State(1 + v.IntN(7))}[:1+v.IntN(3)] })
	maybe(8, func() { f.Calls = []order.ExternalCallState{o.Call, others().Call}[:1+v.IntN(2)] })
	maybe(12, func() { f.TradeType = "Market" })
	maybe(4, func() { f.Since = o.Created.At.Time - uint64(v.IntN(3*secondsOfDay)) })
	maybe(4, func() { f.Until = o.Created.At.Time + uint64(v.IntN(3*secondsOfDay)) })
	maybe(8, func() { f.Maker = o.Terms.Maker })
	maybe(12, func() { f.Creator = o.Created.At.Initiator })
	maybe(16, func() { f.GiveAuthority = o.Terms.Authorities.GivePatch })
	maybe(16, func() { f.OrderAuthority = o.Terms.Authorities.Order })
	maybe(8, func() { f.ReferralCode = &o.Created.Fact.ReferralCode })
	if o.Fulfilled != nil {
		maybe(16, func() { f.Fulfiller = o.Fulfilled.Fact.Taker })
		maybe(12, func() {
			f.UnlockAuthorities = []chain.Address{o.Fulfilled.Fact.UnlockAuthority, v.somebody()}[:1+v.IntN(2)]
		})
	}
	maybe(8, func() {
		f.Search = []*Search{
			{Address: o.Terms.Receiver},
			{Address: v.somebody()},
			{Tx: o.Created.At.Tx},
			{Order: o.ID},
			{},
			{Order: o.ID, Tx: o.Created.At.Tx, Address: o.Terms.Maker},
		}[v.IntN(6)]
	})
	skip = []uint64{0, 0, uint64(v.IntN(30)), uint64(v.IntN(len(orders)))}[v.IntN(4)]
	return f, skip, uint64(1 + v.IntN(100))
}

// checkFilters compares lists with a recount, and returns how many of them are not empty.
func checkFilters(t *testing.T, db *store.DB, orders []*order.Order, v *invented, filters int) (found int) {
	t.Helper()
	s := orderStore{DB: db}
	for range filters {
		f, skip, take := v.filter(orders)
		got, err := s.list(t.Context(), f, skip, take)
		if err != nil {
			t.Fatalf("list(%+v): %v", f, err)
		}
		want, total := recount(orders, f, skip, take)
		var ids []order.ID
		for _, o := range got.Orders {
			ids = append(ids, o.ID)
		}
		if got.Total != total || !slices.Equal(ids, want) {
			t.Fatalf("list(%+v, %d, %d) = %d of %d orders, want %d of %d or others", f, skip, take, len(ids), got.Total, len(want), total)
		}
		found += min(len(ids), 1)
	}
	return found
}

// scale is how much of something a test does: more of it in make soak.
func scale(t *testing.T, usual int) int {
	t.Helper()
	text, isSet := os.LookupEnv("CROSSGATE_FILTERS")
	if !isSet {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("CROSSGATE_FILTERS: %v", err)
	}
	return n
}

// TestListsEqualARecount asks both databases for random combinations of filters: about the golden ledgers' orders,
// among ten times as many others as there are filters, up to a number that they have long seen all of.
func TestListsEqualARecount(t *testing.T) {
	const mostInvented = 10_000
	filters := scale(t, 300)
	for name, db := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newInvented(7)
			var orders []*order.Order
			t.Run("golden", func(t *testing.T) { orders = followGolden(t, db) })
			orders = append(orders, fillInvented(t, db, v, min(10*filters, mostInvented))...)
			found := checkFilters(t, db, orders, v, filters)
			if found < filters/4 {
				t.Errorf("%d of %d lists have orders: the filters ask for too much", found, filters)
			}
			t.Logf("%d orders, %d filters, %d lists with orders, none different", len(orders), filters, found)
		})
	}
}

// fillInvented stores orders that are made up, and returns them.
func fillInvented(t *testing.T, db *store.DB, v *invented, count int) (orders []*order.Order) {
	t.Helper()
	for len(orders) < count {
		var events []order.Event
		for range min(2000, count-len(orders)) {
			of := v.events()
			events = append(events, of...)
			o, _ := order.Fold(of)
			orders = append(orders, o)
		}
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			_, err := addEvents(t.Context(), tx, events, nil)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return orders
}

// followGolden reads the golden ledgers into a store and returns their orders.
func followGolden(t *testing.T, db *store.DB) (orders []*order.Order) {
	t.Helper()
	x := New(db, goldenSources(t), quietly(Options{Chains: chain.Documented()}))
	byID := map[order.ID][]order.Event{}
	for _, source := range x.sources {
		events, err := source.Events(t.Context(), 0, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			byID[e.Order] = append(byID[e.Order], e)
		}
	}
	followAll(t, x)
	for _, events := range byID {
		if o, hasTerms := order.Fold(events); hasTerms {
			orders = append(orders, o)
		}
	}
	return orders
}
