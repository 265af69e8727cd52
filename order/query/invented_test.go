package query

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/store"
)

const secondsOfDay = 86_400

// invented makes up orders, with few enough chains, people and times to coincide often.
type invented struct {
	*rand.Rand
	chains []chain.ID
	people []chain.Address
	number uint64
	taker  chain.Address // delivers a third of the orders, if set
}

func newInvented(seed uint64) *invented {
	v := &invented{Rand: rand.New(rand.NewPCG(seed, 1)), chains: []chain.ID{1, 10, 56, 137, 8453, 42161, 7565164, 100000014}}
	for n := range 200 {
		length := 20
		if n%5 == 0 {
			length = 32 // as on Solana
		}
		v.people = append(v.people, chain.NewAddress(fmt.Appendf(nil, "person no. %0*d", length-11, n)))
	}
	return v
}

// somebody returns a person, mostly one of the same few.
func (v *invented) somebody() chain.Address {
	return v.people[int(float64(len(v.people))*v.Float64()*v.Float64()*v.Float64())]
}

const inventedBegin = 1_700_000_000

// events returns the events of an order at some stage. Most of them are on a few of the chains.
func (v *invented) events() []order.Event {
	v.number++
	var id order.ID
	binary.BigEndian.PutUint32(id[:], v.Uint32())
	binary.BigEndian.PutUint64(id[24:], v.number)
	some := func() chain.ID { return v.chains[int(float64(len(v.chains))*v.Float64()*v.Float64())] }
	terms := order.Terms{
		Nonce: v.number, Maker: v.somebody(), Receiver: v.somebody(),
		Give:        order.Offer{Chain: some(), Token: v.people[0], Amount: chain.NewAmount(v.number)},
		Take:        order.Offer{Chain: some(), Token: v.people[1], Amount: chain.NewAmount(v.number)},
		Authorities: order.Authorities{GivePatch: v.somebody(), Order: v.somebody()},
	}
	signer := v.somebody()
	if v.IntN(4) > 0 { // as is usual
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
	if !v.taker.IsAbsent() && v.IntN(3) == 0 {
		fulfilled.Taker, fulfilled.UnlockAuthority = v.taker, v.taker
	}
	course := []order.Fact{created, fulfilled, order.Sent{Kind: order.Unlock}, order.Claimed{Kind: order.Unlock}}
	switch v.IntN(10) {
	case 0:
		course = []order.Fact{created, order.Sent{Kind: order.Cancel}, order.Claimed{Kind: order.Cancel}}
	case 1:
		course = course[1:] // its creation is unknown
	}
	course = course[:len(course)-min(v.IntN(2*len(course)), len(course)-1)%len(course)]
	var events []order.Event
	at := inventedBegin + uint64(v.IntN(100))*secondsOfDay/2 + uint64(v.IntN(3))*7
	for step, fact := range course {
		on := terms.Take.Chain
		if order.SideOf(fact) == order.GiveSide {
			on = terms.Give.Chain
		}
		initiator := v.somebody()
		if _, is := fact.(order.Created); is {
			initiator = signer
		}
		tx := order.ID{2: byte(step)}
		binary.BigEndian.PutUint64(tx[8:], v.number/2) // two orders share transactions
		events = append(events, order.Event{Order: id, Fact: fact, At: order.At{
			Chain: on, Tx: chain.NewTxHash(tx[:]), Block: v.number, LogIndex: uint(4*v.number) + uint(step), Time: at, Initiator: initiator,
		}})
	}
	return events
}

// filter returns a filter whose conditions are met by some order.
func (v *invented) filter(orders []*order.Order) (f list.Filter, skip, take uint64) {
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
		f.Search = []*list.Search{
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

// scale returns the extent of a test: CROSSGATE_FILTERS, which make soak sets, or usual.
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

// fillInvented stores made-up orders and returns them.
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
		apply(t, db, events, nil)
	}
	return orders
}

// inventedSwaps makes up swaps of few people on few chains within two weeks.
type inventedSwaps struct{ *rand.Rand }

const firstOfSwaps = 1_700_000_000

func (v inventedSwaps) someone() chain.Address {
	return chain.NewAddress([]byte(fmt.Sprintf("someone of twenty %02d", v.IntN(30))))
}

func (v inventedSwaps) chain() chain.ID { return chain.ID(1 + v.IntN(4)) }

func (v inventedSwaps) time() uint64 { return firstOfSwaps + v.Uint64N(14*secondsOfDay) }

func (v inventedSwaps) id() (id order.ID) {
	id[0], id[1] = byte(v.IntN(256)), byte(v.IntN(256))
	return id
}

func (v inventedSwaps) fill(t *testing.T, db *store.DB, count int) (swaps []order.Swap) {
	t.Helper()
	var events []order.Event
	for i := range count {
		id := v.id()
		id[31], id[30] = byte(i), byte(i>>8)
		s := order.Swap{ID: id, At: order.At{
			Chain: v.chain(), Block: uint64(i), Time: v.time(), Tx: chain.NewTxHash(id[:]), LogIndex: 1,
		}, Fact: order.Swapped{Sender: v.someone(), Recipient: v.someone(), ReferralCode: uint32(v.IntN(5))}}
		if v.IntN(3) == 0 {
			s.Fact.Affiliate = &order.Affiliate{Beneficiary: v.someone(), Amount: chain.NewAmount(1)}
		}
		if i > 0 && v.IntN(10) == 0 { // some share their second
			s.At.Time = swaps[i-1].At.Time
		}
		swaps, events = append(swaps, s), append(events, s.Event())
	}
	apply(t, db, events, nil)
	return swaps
}

// filter returns a filter with few conditions.
func (v inventedSwaps) filter(swaps []order.Swap) (f list.Filter) {
	for range v.IntN(4) {
		switch v.IntN(12) {
		case 0, 1:
			f.GiveChains = []chain.ID{v.chain(), v.chain()}[:1+v.IntN(2)]
		case 2:
			f.TakeChains = []chain.ID{v.chain(), v.chain()}[:1+v.IntN(2)]
		case 3, 4:
			f.Since = v.time()
		case 5, 6:
			f.Until = v.time()
		case 7:
			f.Maker = v.someone()
		case 8:
			f.Creator = v.someone()
		case 9:
			f.ReferralCode = new(uint32)
			*f.ReferralCode = uint32(v.IntN(6))
		case 10:
			s := swaps[v.IntN(len(swaps))]
			f.Search = []*list.Search{
				{Address: v.someone()}, {Order: s.ID}, {Tx: s.At.Tx}, {Order: order.ID(s.At.Tx.Bytes()), Tx: s.At.Tx}, {},
			}[v.IntN(5)]
		case 11:
			f.States = []order.State{order.StateCreated, order.StateFulfilled}[:1+v.IntN(2)]
		}
	}
	if v.IntN(20) == 0 {
		f.Calls = []order.ExternalCallState{order.NoExtCall}
	}
	if v.IntN(40) == 0 {
		f.Fulfiller = v.someone()
	}
	return f
}

// filterOfBoth returns a filter without conditions that apply only to orders, or only to swaps.
func (v inventedSwaps) filterOfBoth() (f list.Filter) {
	if v.IntN(3) == 0 {
		f.Since = v.time()
	}
	if v.IntN(4) > 0 { // most of the orders are newer than the swaps
		f.Until = v.time()
	}
	if v.IntN(3) == 0 {
		f.GiveChains = []chain.ID{1, v.chain(), 56}[:1+v.IntN(3)]
	}
	if v.IntN(4) == 0 {
		f.States = []order.State{order.StateFulfilled, order.StateClaimedUnlock}[:1+v.IntN(2)]
	}
	if v.IntN(4) == 0 {
		f.ReferralCode = new(uint32) // 0, which many have
	}
	return f
}
