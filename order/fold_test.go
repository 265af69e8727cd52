package order_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"crossgate/chain"
	"crossgate/order"
)

const (
	giveChain chain.ID = 1
	takeChain chain.ID = 137
)

// compare lets cmp compare the unexported fields of package chain.
var compare = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b chain.TxHash) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Amount) bool { return a.Cmp(b) == 0 }),
}

func address(text string) chain.Address { return chain.NewAddress([]byte(text)) }

func terms() order.Terms {
	return order.Terms{
		Nonce: 1,
		Maker: address("maker"),
		Give:  order.Offer{Chain: giveChain, Token: address("give token"), Amount: chain.NewAmount(1000)},
		Take:  order.Offer{Chain: takeChain, Token: address("take token"), Amount: chain.NewAmount(900)},
	}
}

func termsWithCall() order.Terms {
	t := terms()
	t.ExternalCall, t.Authorities.Order = []byte{1}, address("authority")
	return t
}

func on(id chain.ID, block uint64, log uint, fact order.Fact) order.Event {
	return order.Event{
		Order: order.ID{1},
		At:    order.At{Chain: id, Block: block, LogIndex: log, Time: 1000 + block},
		Fact:  fact,
	}
}

// Steps of an order's life, and their places.
var (
	created       = on(giveChain, 10, 0, order.Created{Terms: terms(), PercentFee: chain.NewAmount(4)})
	giveIncreased = on(giveChain, 11, 0, order.GiveIncreased{Final: chain.NewAmount(1100), FinalPercentFee: chain.NewAmount(5)})
	giveAgain     = on(giveChain, 11, 3, order.GiveIncreased{Final: chain.NewAmount(1200), FinalPercentFee: chain.NewAmount(6)})
	takeDecreased = on(takeChain, 5, 0, order.TakeDecreased{Final: chain.NewAmount(800)})
	fulfilled     = on(takeChain, 20, 1, order.Fulfilled{Terms: terms(), Taker: address("taker")})
	sentUnlock    = on(takeChain, 21, 0, order.Sent{Kind: order.Unlock, Submission: chain.Hash{2}})
	claimedUnlock = on(giveChain, 30, 0, order.Claimed{Kind: order.Unlock, Submission: chain.Hash{2}})
	cancelled     = on(takeChain, 20, 0, order.Cancelled{})
	sentCancel    = on(takeChain, 21, 0, order.Sent{Kind: order.Cancel})
	claimedCancel = on(giveChain, 31, 0, order.Claimed{Kind: order.Cancel})
)

func call(block uint64, step order.ExternalCallStep) order.Event {
	return on(takeChain, block, 0, order.ExternalCall{Step: step})
}

func TestFoldTellsTheFurthestState(t *testing.T) {
	tests := []struct {
		name   string
		events []order.Event
		want   order.State
	}{
		{"created", []order.Event{created}, order.StateCreated},
		{"fulfilled", []order.Event{created, fulfilled}, order.StateFulfilled},
		{"fulfilment seen first", []order.Event{fulfilled}, order.StateFulfilled},
		{"unlock sent", []order.Event{created, fulfilled, sentUnlock}, order.StateSentUnlock},
		{"unlock claimed", []order.Event{created, fulfilled, sentUnlock, claimedUnlock}, order.StateClaimedUnlock},
		{"claim seen before the take chain", []order.Event{created, claimedUnlock}, order.StateClaimedUnlock},
		{"cancelled", []order.Event{created, cancelled}, order.StateOrderCancelled},
		{"cancel sent", []order.Event{created, sentCancel}, order.StateSentOrderCancel},
		{"cancel sent after its mark", []order.Event{created, cancelled, sentCancel}, order.StateSentOrderCancel},
		{"cancel claimed", []order.Event{created, sentCancel, claimedCancel}, order.StateClaimedOrderCancel},
	}
	for _, test := range tests {
		o, ok := order.Fold(test.events)
		if !ok || o.State != test.want {
			t.Errorf("%s: state %v, %v, want %v", test.name, o.State, ok, test.want)
		}
	}
}

func TestFoldNeedsTerms(t *testing.T) {
	for _, events := range [][]order.Event{nil, {sentUnlock}, {claimedUnlock, takeDecreased}} {
		if o, ok := order.Fold(events); ok {
			t.Errorf("Fold(%v) = %v, want nothing", events, o)
		}
	}
}

func TestFoldKnowsNoFeeWithoutAnEventThatTellsIt(t *testing.T) {
	if o, _ := order.Fold([]order.Event{fulfilled}); o.FinalPercentFee != nil {
		t.Errorf("fee %v of an order whose creation was not seen, want none", o.FinalPercentFee)
	}
	if o, _ := order.Fold([]order.Event{fulfilled, giveIncreased}); o.FinalPercentFee == nil {
		t.Error("no fee of an order whose patch tells it")
	}
}

func TestFoldTakesTheLastPatch(t *testing.T) {
	o, _ := order.Fold([]order.Event{giveAgain, created, takeDecreased, giveIncreased})
	if o.GiveFinal != chain.NewAmount(1200) || *o.FinalPercentFee != chain.NewAmount(6) || o.TakeFinal != chain.NewAmount(800) {
		t.Errorf("final amounts %v, %v, fee %v, want 1200, 800, 6", o.GiveFinal, o.TakeFinal, o.FinalPercentFee)
	}
	o, _ = order.Fold([]order.Event{created})
	if o.GiveFinal != chain.NewAmount(1000) || *o.FinalPercentFee != chain.NewAmount(4) || o.TakeFinal != chain.NewAmount(900) {
		t.Errorf("amounts without patches %v, %v, fee %v, want 1000, 900, 4", o.GiveFinal, o.TakeFinal, o.FinalPercentFee)
	}
}

func fallenBack(by chain.Address) order.Event {
	return on(takeChain, 26, 0, order.ExternalCall{Step: order.CallFallenBack, By: by})
}

func TestFoldTellsTheStateOfTheCall(t *testing.T) {
	created := on(giveChain, 10, 0, order.Created{Terms: termsWithCall()})
	fulfilled := on(takeChain, 20, 1, order.Fulfilled{Terms: termsWithCall()})
	tests := []struct {
		name   string
		events []order.Event
		want   order.ExternalCallState
	}{
		{"not fulfilled", []order.Event{created}, order.AwaitingOrderFulfillment},
		{"fulfilled", []order.Event{created, fulfilled}, order.AwaitingExecution},
		{"registered", []order.Event{created, call(20, order.CallRegistered), fulfilled}, order.AwaitingExecution},
		{"begun", []order.Event{created, fulfilled, call(20, order.CallBegun)}, order.Executing},
		{"executed", []order.Event{created, fulfilled, call(20, order.CallRegistered), call(25, order.CallExecuted)}, order.Completed},
		{"failed", []order.Event{created, fulfilled, call(20, order.CallFailed)}, order.Failed},
		{"call cancelled", []order.Event{created, fulfilled, call(20, order.CallRegistered), call(25, order.CallCancelled)}, order.CancelledCall},
		{"fallen back by the order's authority", []order.Event{created, fulfilled, fallenBack(address("authority"))}, order.CancelledCall},
		{"fallen back by somebody else", []order.Event{created, fulfilled, fallenBack(address("somebody"))}, order.Failed},
		{"fallen back by nobody knows whom", []order.Event{created, fulfilled, fallenBack(chain.Address{})}, order.Failed},
		{"begun, then fallen back", []order.Event{created, fulfilled, call(21, order.CallBegun), fallenBack(address("somebody"))}, order.Failed},
		{"order cancelled", []order.Event{created, sentCancel}, order.OrderCancelled},
	}
	for _, test := range tests {
		if o, _ := order.Fold(test.events); o.Call != test.want {
			t.Errorf("%s: call state %v, want %v", test.name, o.Call, test.want)
		}
	}
	if o, _ := order.Fold([]order.Event{on(giveChain, 10, 0, order.Created{Terms: terms()})}); o.Call != order.NoExtCall {
		t.Errorf("order without call: call state %v, want NoExtCall", o.Call)
	}
}

func TestFoldIgnoresSequenceAndRepetition(t *testing.T) {
	life := []order.Event{
		created, giveIncreased, giveAgain, takeDecreased, fulfilled, sentUnlock, claimedUnlock,
		cancelled, sentCancel, claimedCancel,
		call(19, order.CallRegistered), call(22, order.CallExecuted), fallenBack(address("somebody")),
	}
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfNDistinct(rapid.SampledFrom(life), 1, -1, func(e order.Event) order.At { return e.At }).Draw(t, "events")
		want, told := order.Fold(events)
		repetitions := rapid.SliceOf(rapid.SampledFrom(events)).Draw(t, "repetitions")
		shuffled := rapid.Permutation(slices.Concat(events, repetitions)).Draw(t, "sequence")
		got, ok := order.Fold(shuffled)
		if ok != told {
			t.Fatalf("Fold of the shuffled events: %v, of the plain ones: %v", ok, told)
		}
		if diff := cmp.Diff(want, got, compare); diff != "" {
			t.Fatalf("shuffled events fold to another order (-plain +shuffled):\n%s", diff)
		}
	})
}

func TestStepsListsWhatHappened(t *testing.T) {
	for _, life := range [][]order.Event{{created, fulfilled, sentUnlock, claimedUnlock}, {created, cancelled, sentCancel, claimedCancel}} {
		var want []order.At
		for _, each := range life {
			want = append(want, each.At)
		}
		o, _ := order.Fold([]order.Event{life[3], life[1], life[0], life[2]})
		if diff := cmp.Diff(want, o.Steps(), compare); diff != "" {
			t.Errorf("Steps (-want +got):\n%s", diff)
		}
	}
}

// TestFoldOfADeliveryAlone: the terms come from the delivery, and both chains' newest blocks are known.
func TestFoldOfADeliveryAlone(t *testing.T) {
	o, hasTerms := order.Fold([]order.Event{fulfilled, sentUnlock, claimedUnlock})
	if !hasTerms || o.Created != nil || !cmp.Equal(o.Terms, terms(), compare) {
		t.Fatalf("Fold = %+v, %t, want the terms of the delivery", o, hasTerms)
	}
	if o.GiveBlock != 30 || o.TakeBlock != 21 {
		t.Errorf("read up to blocks %d and %d, want 30 and 21", o.GiveBlock, o.TakeBlock)
	}
}

func TestReceivedIsWithoutFees(t *testing.T) {
	swap := order.Swapped{AmountOut: chain.NewAmount(1000), Fee: chain.NewAmount(4)}
	if got := swap.Received(); got != chain.NewAmount(996) {
		t.Errorf("Received = %s, want 996", got)
	}
	swap.Affiliate = &order.Affiliate{Amount: chain.NewAmount(10)}
	if got := swap.Received(); got != chain.NewAmount(986) {
		t.Errorf("Received beside an affiliate = %s, want 986", got)
	}
}

func TestStatesHaveTheirDocumentedNames(t *testing.T) {
	states := map[order.State]string{
		order.None: "None", order.StateCreated: "Created", order.StateFulfilled: "Fulfilled",
		order.StateSentUnlock: "SentUnlock", order.StateOrderCancelled: "OrderCancelled",
		order.StateSentOrderCancel: "SentOrderCancel", order.StateClaimedUnlock: "ClaimedUnlock",
		order.StateClaimedOrderCancel: "ClaimedOrderCancel",
	}
	for state, want := range states {
		if got := state.String(); got != want {
			t.Errorf("state %d is called %s, want %s", state, got, want)
		}
		final := want == "ClaimedUnlock" || want == "ClaimedOrderCancel"
		if state.IsFinal() != final {
			t.Errorf("%s.IsFinal() = %v", want, state.IsFinal())
		}
	}
	for call, want := range map[order.ExternalCallState]string{
		order.NoExtCall: "NoExtCall", order.AwaitingOrderFulfillment: "AwaitingOrderFulfillment",
		order.AwaitingExecution: "AwaitingExecution", order.Executing: "Executing", order.Completed: "Completed",
		order.Failed: "Failed", order.CancelledCall: "Cancelled", order.OrderCancelled: "OrderCancelled",
	} {
		if got := call.String(); got != want {
			t.Errorf("call state %d is called %s, want %s", call, got, want)
		}
		isOpen := slices.Contains([]order.ExternalCallState{order.AwaitingOrderFulfillment, order.AwaitingExecution, order.Executing}, call)
		if call.IsFinal() == isOpen {
			t.Errorf("%s.IsFinal() = %t", want, call.IsFinal())
		}
	}
}

// TestABasisOfTwoIsTheWeakerOfEachChain: a chain in only one of them keeps its basis.
func TestABasisOfTwoIsTheWeakerOfEachChain(t *testing.T) {
	known := order.Basis{Chains: []order.ChainBasis{{Chain: 1, Final: true}, {Chain: 10, Final: true}}}
	weak := order.Basis{Chains: []order.ChainBasis{{Chain: 137, Final: true}, {Chain: 1, Single: true, Unread: true}}}
	both := known.And(weak)
	if one := both.Of(1); len(both.Chains) != 3 || one.Final || !one.Single || !one.Unread || !both.Of(10).Final || !both.Of(137).Final {
		t.Errorf("And = %+v, want chain 1 neither final nor read, of one endpoint, and the others final", both.Chains)
	}
}

func TestDifferingBlocks(t *testing.T) {
	at := func(block uint64, said string) order.Place { return order.Place{Block: block, Said: said} }
	for name, test := range map[string]struct {
		a, b []order.Place
		want []uint64
	}{
		"nothing":         {},
		"another order":   {[]order.Place{at(1, "x"), at(2, "y")}, []order.Place{at(2, "y"), at(1, "x")}, nil},
		"one lacks":       {[]order.Place{at(1, "x"), at(2, "y")}, []order.Place{at(1, "x")}, []uint64{2}},
		"other lacks":     {nil, []order.Place{at(3, "x"), at(1, "x")}, []uint64{1, 3}},
		"says other":      {[]order.Place{at(5, "x")}, []order.Place{at(5, "y")}, []uint64{5}},
		"told once twice": {[]order.Place{at(5, "x"), at(5, "x")}, []order.Place{at(5, "x")}, []uint64{5}},
	} {
		if got := order.DifferingBlocks(test.a, test.b); !slices.Equal(got, test.want) {
			t.Errorf("%s: DifferingBlocks() = %v, want %v", name, got, test.want)
		}
	}
}

func TestAccumulateHasEveryPairOnTheLastDay(t *testing.T) {
	at := func(day uint64, take uint64, s order.Statistics) order.DailyStatistics {
		d := order.DailyStatistics{Day: day, Give: 1, Take: 10, Statistics: s}
		if take != 10 {
			d.Take = 56
		}
		return d
	}
	one := order.Statistics{Created: 1, Fulfilled: 1, Creators: 1, NewCreators: 1, Given: order.USD{Micros: 5, Orders: 1}}
	again := order.Statistics{Created: 2, Active: 2, Creators: 1, Unpriced: 2}
	running := order.Accumulate(
		[]order.DailyStatistics{at(0, 10, one)},
		[]order.DailyStatistics{at(7, 10, again), at(8, 56, one), at(8, 10, one)}, 6, 9)
	three := order.Statistics{Created: 3, Fulfilled: 1, Active: 2, Unpriced: 2, Creators: 1, NewCreators: 1, Given: order.USD{Micros: 5, Orders: 1}}
	four := order.Statistics{Created: 4, Fulfilled: 2, Active: 2, Unpriced: 2, Creators: 2, NewCreators: 2, Given: order.USD{Micros: 10, Orders: 2}}
	want := []order.DailyStatistics{at(6, 10, one), at(7, 10, three), at(8, 10, four), at(8, 56, one), at(9, 10, four), at(9, 56, one)}
	if diff := cmp.Diff(want, running); diff != "" {
		t.Errorf("running totals (-want +got):\n%s", diff)
	}
}
