package query

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/stats"
	"crossgate/store"
)

// madeUpPrices returns prices of some tokens at some hours.
func madeUpPrices(_ context.Context, wanted []stats.Priced) map[stats.Priced]*big.Rat {
	prices := make(map[stats.Priced]*big.Rat)
	for _, each := range wanted {
		if usd := madeUpPrice(each); usd != nil {
			prices[each] = usd
		}
	}
	return prices
}

func madeUpPrice(of stats.Priced) *big.Rat {
	n := int64(of.Chain)%7 + int64(of.At/3600)%5
	switch {
	case n == 3 || of.Token.IsNative() && of.Chain == 56:
		return nil
	case n == 4: // with which values are beyond 32 bits
		return big.NewRat(10_000, 1)
	}
	return big.NewRat(n+1, 3)
}

// recounted computes statistics order by order: by day and pair, and overall.
func recounted(orders []*order.Order) (days map[[3]uint64]order.Statistics, all order.Statistics) {
	days = make(map[[3]uint64]order.Statistics)
	known := make(map[[3]string]map[uint64]bool) // days of each creator, per pair and overall
	for _, o := range orders {
		if o.Created == nil {
			continue
		}
		key := [3]uint64{o.Created.At.Time / secondsOfDay, uint64(o.Terms.Give.Chain), uint64(o.Terms.Take.Chain)}
		row := days[key]
		addRecounted(&row, o)
		addRecounted(&all, o)
		days[key] = row
		for _, of := range [][3]string{
			{o.Created.At.Initiator.String(), o.Terms.Give.Chain.String(), o.Terms.Take.Chain.String()}, {o.Created.At.Initiator.String()},
		} {
			if known[of] == nil {
				known[of] = make(map[uint64]bool)
			}
			known[of][key[0]] = true
		}
	}
	for of, active := range known {
		if of[1] == "" {
			all.Creators++
			all.NewCreators++
			continue
		}
		first := ^uint64(0)
		for day := range active {
			first = min(first, day)
		}
		for key, row := range days {
			if chain.ID(key[1]).String() != of[1] || chain.ID(key[2]).String() != of[2] || !active[key[0]] {
				continue
			}
			row.Creators++
			if key[0] == first {
				row.NewCreators++
			}
			days[key] = row
		}
	}
	return days, all
}

func addRecounted(s *order.Statistics, o *order.Order) {
	isWhole := true
	value := func(a chain.Amount, id chain.ID, token chain.Address, at uint64) (int64, bool) {
		if a.IsZero() {
			return 0, true
		}
		usd := madeUpPrice(stats.Priced{Chain: id, Token: token, At: at - at%3600})
		if usd == nil {
			isWhole = false
			return 0, false
		}
		whole := new(big.Rat).Mul(usd, new(big.Rat).SetInt(new(big.Int).Mul(a.Big(), big.NewInt(1_000_000))))
		return new(big.Int).Div(whole.Num(), whole.Denom()).Int64(), true
	}
	add := func(to *order.USD, micros int64, isKnown bool) {
		if isKnown {
			to.Micros += micros
			to.Orders++
		}
	}
	at, give, take := o.Created.At.Time, o.Terms.Give, o.Terms.Take
	s.Created++
	given, isKnown := value(o.GiveFinal, give.Chain, give.Token, at)
	add(&s.Given, given, isKnown)
	fixed, isFixedKnown := value(o.Created.Fact.FixFee, give.Chain, chain.NewAddress(make([]byte, give.Token.Len())), at)
	share, isShareKnown := value(o.Created.Fact.PercentFee, give.Chain, give.Token, at)
	add(&s.Fee, fixed+share, isFixedKnown && isShareKnown)
	if a := o.Created.Fact.Affiliate; a != nil {
		paid, isKnown := value(a.Amount, give.Chain, give.Token, at)
		add(&s.Affiliate, paid, isKnown)
	}
	if o.Fulfilled != nil {
		s.Fulfilled++
		taken, isKnown := value(o.TakeFinal, take.Chain, take.Token, o.Fulfilled.At.Time)
		add(&s.Taken, taken, isKnown)
	}
	if o.State == order.StateCreated {
		s.Active++
	}
	if !isWhole {
		s.Unpriced++
	}
}

// countAll counts all uncounted orders.
func countAll(t *testing.T, db *store.DB, prices stats.PriceSource) {
	t.Helper()
	must.Do(t, newIndex(db, nil, quietly(follow.Options{Prices: prices})).CatchUpOnce(t.Context()))
}

// checkStatistics counts all uncounted orders, and compares the statistics with a recount.
func checkStatistics(t *testing.T, db *store.DB, events []order.Event) {
	t.Helper()
	countAll(t, db, madeUpPrices)
	byID := make(map[order.ID][]order.Event)
	for _, e := range events {
		byID[e.Order] = append(byID[e.Order], e)
	}
	var orders []*order.Order
	for _, each := range byID {
		if o, hasTerms := order.Fold(each); hasTerms {
			orders = append(orders, o)
		}
	}
	checkValues(t, db, orders)
	want, wantAll := recounted(orders)
	const since = inventedBegin/secondsOfDay + 20
	var wantBefore, gotBefore [2]int64 // orders created, and what was given for them
	for key, each := range want {
		if key[0] < since {
			wantBefore[0], wantBefore[1] = wantBefore[0]+int64(each.Created), wantBefore[1]+each.Given.Micros
		}
	}
	_, before, err := stats.Daily(t.Context(), db, since, 1<<40)
	for _, each := range before {
		gotBefore[0], gotBefore[1] = gotBefore[0]+int64(each.Created), gotBefore[1]+each.Given.Micros
	}
	if err != nil || gotBefore != wantBefore {
		t.Fatalf("statistics before day %d: %v, %v, want %v", since, gotBefore, err, wantBefore)
	}
	rows, _, err := stats.Daily(t.Context(), db, 0, 1<<40)
	must.Do(t, err)
	got := make(map[[3]uint64]order.Statistics)
	for _, each := range rows {
		got[[3]uint64{each.Day, uint64(each.Give), uint64(each.Take)}] = each.Statistics
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("statistics by day (-recounted +counted):\n%s", diff)
	}
	checkDeliveryTimes(t, db, orders)
	gotAll, err := stats.AllTime(t.Context(), db)
	if diff := cmp.Diff(wantAll, gotAll); err != nil || diff != "" {
		t.Fatalf("statistics of all time (-recounted +counted): %v\n%s", err, diff)
	}
	var differing int
	_, err = db.QueryRow(t.Context(), []any{&differing}, `SELECT count(*) FROM listed JOIN orders ON orders.id = listed.id
		JOIN order_values ON order_number = number WHERE usd <> COALESCE(given, -1)`)
	if err != nil || differing > 0 {
		t.Fatalf("%d orders are listed with another value than the statistics have, %v", differing, err)
	}
}

// checkValues compares what orders were worth one by one, and their deliveries, with a recount of each.
func checkValues(t *testing.T, db *store.DB, orders []*order.Order) {
	t.Helper()
	x := newIndex(db, nil, quietly(follow.Options{}))
	var ids []order.ID
	delivered := make(map[order.ID]order.Delivery)
	for _, o := range orders {
		if ids = append(ids, o.ID); o.Fulfilled != nil {
			delivered[o.ID] = order.Delivery{At: o.Fulfilled.At.Time, Give: o.GiveFinal, State: o.State}
		}
		var want order.Statistics
		if o.Created != nil {
			addRecounted(&want, o)
		}
		got, isCounted, err := x.Values(t.Context(), o.ID)
		if err != nil || isCounted != (o.Created != nil) {
			t.Fatalf("values of %s: %t, %v", o.ID, isCounted, err)
		}
		for _, each := range []struct {
			got  *int64
			want order.USD
		}{{got.Given, want.Given}, {got.Taken, want.Taken}, {got.Fee, want.Fee}, {got.Affiliate, want.Affiliate}} {
			if (each.got != nil) != (each.want.Orders > 0) || each.got != nil && *each.got != each.want.Micros {
				t.Fatalf("order %s: %v, want %+v", o.ID, each.got, each.want)
			}
		}
	}
	if got, err := x.Deliveries(t.Context(), ids); err != nil || !maps.Equal(delivered, got) {
		t.Fatalf("%d deliveries, %v: %v, want %v", len(got), err, got, delivered)
	}
}

// TestOrdersAreValuedAsTheyAre delivers one order while prices are requested, and raises one after it was counted.
func TestOrdersAreValuedAsTheyAre(t *testing.T) {
	raised := order.GiveIncreased{Final: chain.NewAmount(5000), FinalPercentFee: chain.NewAmount(100)}
	for _, row := range []struct {
		name                 string
		then                 order.Fact
		isMeanwhile          bool // stored between the request for prices and the count
		isAway               bool // no price is known after it
		given, takenFor, fee int64
	}{
		{"delivered", newDeal(1, 1, 137).fulfilled().fact, true, false, 1000, 900, 27},
		{"delivered while prices are away", newDeal(1, 1, 137).fulfilled().fact, false, true, 1000, -1, 27},
		{"raised", raised, false, false, 5000, -1, 107},
		{"raised while prices are away", raised, false, true, -1, -1, -1},
		{"corrected while prices are away", order.Created{Terms: newDeal(1, 1, 42).terms}, false, true, -1, -1, 0},
	} {
		onBoth(t, func(t *testing.T, db *store.DB) {
			d, told := newDeal(1, 1, 137), []order.Event(nil)
			tell := func(fact order.Fact) {
				told = append(told, order.Event{Order: d.id, Fact: fact, At: order.At{Chain: 1, Block: 1 + uint64(len(told)), Time: 1_000_000}})
				must.Get(ledger.Ledger{DB: db}.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error {
					c := ledger.Correction{Missing: told[len(told)-1:]}
					if _, is := fact.(order.Created); is {
						c.Wrong = told[:len(told)-1]
					}
					return tx.Correct(t.Context(), c)
				}))(t)
			}
			tell(order.Created{Terms: d.terms, FixFee: chain.NewAmount(7), PercentFee: chain.NewAmount(20)})
			isStored, isAway := false, false
			count := func() {
				countAll(t, db, func(_ context.Context, wanted []stats.Priced) map[stats.Priced]*big.Rat {
					if row.isMeanwhile && !isStored {
						isStored = true
						tell(row.then)
					}
					prices := make(map[stats.Priced]*big.Rat)
					for _, each := range wanted {
						if !isAway {
							prices[each] = big.NewRat(1, 1_000_000)
						}
					}
					return prices
				})
			}
			count()
			if !row.isMeanwhile {
				tell(row.then)
			}
			isAway = row.isAway
			count()
			v, _, err := stats.ValuesOf(t.Context(), db, d.id)
			got := [3]int64{-1, -1, -1}
			for i, micros := range []*int64{v.Given, v.Taken, v.Fee} {
				if micros != nil {
					got[i] = *micros
				}
			}
			if got != [3]int64{row.given, row.takenFor, row.fee} || err != nil {
				t.Errorf("%s: given, taken and fee are worth %d, %v, want %d, %d and %d", row.name, got, err, row.given, row.takenFor, row.fee)
			}
		})
	}
}

// TestListsAndStatisticsEqualARecount takes events of orders away and brings others, with a thousand and more of them,
// and counts in between.
func TestListsAndStatisticsEqualARecount(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		v := newInvented(13)
		var known, gone []order.Event
		rounds := min(scale(t, 8), 60)
		for round := range rounds {
			var added, taken []order.Event
			for range 1 + v.IntN(20) {
				added = append(added, withFees(v, v.events())...)
			}
			known = slices.DeleteFunc(known, func(e order.Event) bool {
				leaves := v.IntN(20) == 0
				if leaves {
					taken = append(taken, e)
				}
				return leaves
			})
			added = append(added, gone...) // on another branch they come again
			apply(t, db, added, taken)
			known, gone = append(known, added...), taken
			if round%5 == 0 {
				checkStatistics(t, db, known)
			}
		}
		if len(known) < 15*rounds {
			t.Errorf("%d events in %d rounds, want more", len(known), rounds)
		}
		checkStatistics(t, db, known)
		checkListed(t, db)
		apply(t, db, nil, known)
		checkStatistics(t, db, nil)
		for _, table := range []string{"daily_statistics", "order_values", "order_tokens", "stale_days", "uncounted"} {
			var rows int
			if _, err := db.QueryRow(t.Context(), []any{&rows}, `SELECT COUNT(*) FROM `+table); err != nil || rows != 0 {
				t.Errorf("%d rows of %s are left of nothing, %v", rows, table, err)
			}
		}
	})
}

// TestACreatorIsNewOnce counts one creator's orders of different pairs newest first, as in a backfill, and then removes
// the earliest.
func TestACreatorIsNewOnce(t *testing.T) {
	db := openStore(t)
	var events []order.Event
	for i, pair := range [][2]chain.ID{{1, 137}, {137, 1}, {1, 10}} {
		d := newDeal(byte(1+i), pair[0], pair[1])
		events = append(events, order.Event{Order: d.id, Fact: d.created().fact, At: order.At{
			Chain: pair[0], Tx: chain.NewTxHash([]byte{byte(1 + i)}), Block: uint64(9 - i), Time: inventedBegin + uint64(9-i)*secondsOfDay, Initiator: d.terms.Maker,
		}})
		apply(t, db, events[i:], nil)
		checkStatistics(t, db, events)
	}
	apply(t, db, nil, events[2:])
	checkStatistics(t, db, events[:2])
}

// TestWhatHappensToAnOrderThatWaitsIsCounted has its take amount lowered and the order cancelled, and both taken out again.
func TestWhatHappensToAnOrderThatWaitsIsCounted(t *testing.T) {
	db, d := openStore(t), newDeal(1, 1, 137)
	event := func(on chain.ID, log uint, fact order.Fact) order.Event {
		return order.Event{Order: d.id, Fact: fact, At: order.At{
			Chain: on, Tx: chain.NewTxHash([]byte{byte(log)}), Block: 9, LogIndex: log, Time: inventedBegin + 3600, Initiator: d.terms.Maker,
		}}
	}
	events := []order.Event{
		event(1, 1, d.created().fact),
		event(137, 2, order.TakeDecreased{Final: d.terms.Take.Amount.MulDiv(1, 100)}),
		event(137, 3, order.Sent{Kind: order.Cancel}),
	}
	for i := range events {
		apply(t, db, events[i:i+1], nil)
		checkStatistics(t, db, events[:i+1])
	}
	for i := len(events) - 1; i > 0; i-- {
		apply(t, db, nil, events[i:i+1])
		checkStatistics(t, db, events[:i])
	}
}

// withFees adds fees to creations, reserves some orders for one taker, and lowers the take amount of some waiting ones.
func withFees(v *invented, events []order.Event) []order.Event {
	for i, e := range events {
		created, is := e.Fact.(order.Created)
		if !is || v.IntN(3) == 0 {
			continue
		}
		created.FixFee, created.PercentFee = chain.NewAmount(uint64(v.IntN(3))), chain.NewAmount(uint64(v.IntN(4)))
		if v.IntN(4) == 0 {
			created.Terms.Authorities.AllowedTaker = v.somebody()
		}
		events[i].Fact = created
		if len(events) == 1 && v.IntN(2) == 0 {
			patch := order.Event{Order: e.Order, At: e.At, Fact: order.TakeDecreased{Final: created.Terms.Take.Amount.MulDiv(995, 1000)}}
			patch.At.Chain, patch.At.LogIndex = created.Terms.Take.Chain, e.At.LogIndex+1
			return append(events, patch)
		}
	}
	return events
}

// TestPricesThatWereAwayAreAskedForAgain counts an order while no price is known, and once more after a restart.
func TestPricesThatWereAwayAreAskedForAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		d := newDeal(1, 1, 137)
		apply(t, db, []order.Event{{Order: d.id, Fact: d.created().fact, At: order.At{Chain: 1, Block: 1, Time: uint64(time.Now().Unix())}}}, nil)
		for _, isKnown := range []bool{false, true} {
			x := newIndex(db, nil, quietly(follow.Options{Prices: func(_ context.Context, wanted []stats.Priced) map[stats.Priced]*big.Rat {
				prices := make(map[stats.Priced]*big.Rat)
				for _, each := range wanted {
					if isKnown {
						prices[each] = big.NewRat(1, 1000)
					}
				}
				return prices
			}}))
			must.Do(t, x.CatchUpOnce(t.Context()))
			if v, isCounted, err := x.Values(t.Context(), d.id); err != nil || !isCounted || (v.Given != nil) != isKnown {
				t.Errorf("prices are known: %t; the values are %+v, %t, %v", isKnown, v, isCounted, err)
			}
		}
	})
}

// TestStatisticsSayWhenTooMuchIsMissing leaves more orders uncounted than arrive within moments, or all of them.
func TestStatisticsSayWhenTooMuchIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		counted, waiting int
		want             error
	}{
		"no orders":        {0, 0, nil},
		"all but the last": {20, 3, nil},
		"none yet":         {0, 3, stats.ErrUncounted},
		"too many":         {20, 1010, stats.ErrUncounted},
	} {
		t.Run(name, func(t *testing.T) {
			db, v := openStore(t), newInvented(19)
			fillInvented(t, db, v, test.counted)
			countAll(t, db, nil)
			fillInvented(t, db, v, test.waiting)
			if _, err := stats.AllTime(t.Context(), db); err != test.want { //nolint:errorlint // it is returned as it is
				t.Errorf("all time: %v, want %v", err, test.want)
			}
		})
	}
}

// TestCatchUpLeavesNothingToCount counts what a restored backup may have left uncounted.
func TestCatchUpLeavesNothingToCount(t *testing.T) {
	db := openStore(t)
	orders := fillInvented(t, db, newInvented(9), 3*stats.AtOnce)
	x := newIndex(db, nil, quietly(follow.Options{}))
	if _, _, err := x.AllTime(t.Context()); !errors.Is(err, stats.ErrUncounted) {
		t.Errorf("before: %v, want stats.ErrUncounted", err)
	}
	if _, isCounted, err := x.Values(t.Context(), orders[0].ID); err != nil || isCounted {
		t.Errorf("before: the values of an order, %t, %v", isCounted, err)
	}
	must.Do(t, x.CatchUpOnce(t.Context()))
	if all, _, err := x.AllTime(t.Context()); err != nil || all.Created == 0 {
		t.Errorf("afterwards: %+v, %v", all, err)
	}
}
