package onchain_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
)

func compareValues() cmp.Option {
	return cmp.Comparer(func(a, b chain.Amount) bool { return a.Cmp(b) == 0 })
}

func compareTexts() cmp.Option {
	return cmp.Comparer(func(a, b chain.Address) bool { return a == b })
}

func TestDecodeReadsEveryEvent(t *testing.T) {
	recorded := recordedOrders(t)[4] // with an external call
	terms, id := recorded.Terms, recorded.ID
	affiliateFee := append(address("affiliate ..........").Bytes(), make([]byte, 32)...)
	affiliateFee[51] = 77
	solver, authority, beneficiary := address("solver .............."), address("unlock authority ...."), address("beneficiary .........")
	actual := chain.NewAmount(900)
	fees := func(metadata []byte, affiliate *order.Affiliate) order.Created {
		return order.Created{
			Terms: terms, FixFee: chain.NewAmount(5), PercentFee: chain.NewAmount(6), ReferralCode: 7,
			Affiliate: affiliate, Metadata: metadata,
		}
	}
	tests := []struct {
		name    string
		emitter chain.Address
		topic   string
		values  []any
		want    order.Fact
	}{
		{
			"creation", contracts.DlnSource, createdOrder,
			[]any{tupleOf(terms), id, affiliateFee, 5, 6, 7, []byte{1, 2, 3}},
			fees([]byte{1, 2, 3}, &order.Affiliate{Beneficiary: address("affiliate .........."), Amount: chain.NewAmount(77)}),
		},
		{
			"creation without metadata written", contracts.DlnSource, createdOrder,
			[]any{tupleOf(terms), id, []byte{}, 5, 6, 7, []byte{}},
			fees([]byte{}, nil),
		},
		{
			"creation before metadata existed", contracts.DlnSource, createdOrderLegacy,
			[]any{tupleOf(terms), id, affiliateFee[:51], 5, 6, 7},
			fees(nil, nil),
		},
		{
			"give patch", contracts.DlnSource, increasedGiveAmount,
			[]any{id, 11, 12},
			order.GiveIncreased{Final: chain.NewAmount(11), FinalPercentFee: chain.NewAmount(12)},
		},
		{
			"claim of an unlock", contracts.DlnSource, claimedUnlock,
			[]any{id, beneficiary, 13, authority},
			order.Claimed{Kind: order.Unlock, Beneficiary: beneficiary, Paid: chain.NewAmount(13)},
		},
		{
			"claim of a cancel", contracts.DlnSource, claimedOrderCancel,
			[]any{id, beneficiary, 13, authority},
			order.Claimed{Kind: order.Cancel, Beneficiary: beneficiary, Paid: chain.NewAmount(13)},
		},
		{
			"fulfilment", contracts.DlnDestination, fulfilledOrder,
			[]any{tupleOf(terms), id, 900, solver, authority},
			order.Fulfilled{Terms: terms, ActualAmount: &actual, Taker: solver, UnlockAuthority: authority},
		},
		{
			"fulfilment before actual amounts existed", contracts.DlnDestination, fulfilledOrderLegacy,
			[]any{tupleOf(terms), id, solver, authority},
			order.Fulfilled{Terms: terms, Taker: solver, UnlockAuthority: authority},
		},
		{
			"take patch", contracts.DlnDestination, decreasedTakeAmount,
			[]any{id, 14},
			order.TakeDecreased{Final: chain.NewAmount(14)},
		},
		{
			"sent unlock", contracts.DlnDestination, sentOrderUnlock,
			[]any{id, []byte("thirty-two bytes on the give chn"), hash("message")},
			order.Sent{Kind: order.Unlock, Beneficiary: chain.NewAddress([]byte("thirty-two bytes on the give chn")), Submission: hash("message")},
		},
		{
			"sent cancel", contracts.DlnDestination, sentOrderCancel,
			[]any{tupleOf(terms), id, beneficiary.Bytes(), hash("message")},
			order.Sent{Kind: order.Cancel, Beneficiary: beneficiary, Submission: hash("message")},
		},
		{
			"call registered", contracts.ExternalCallAdapter, externalCallRegistered,
			[]any{hash("call"), id, solver, authority, 1, []byte{1}},
			order.ExternalCall{Step: order.CallRegistered},
		},
		{
			"call registered, older spelling", contracts.ExternalCallAdapter, externallCallRegistered,
			[]any{hash("call"), id, solver, authority, 1, []byte{1}},
			order.ExternalCall{Step: order.CallRegistered},
		},
		{
			"call executed", contracts.ExternalCallAdapter, externalCallExecuted,
			[]any{id, true},
			order.ExternalCall{Step: order.CallExecuted},
		},
		{
			"call executed without success", contracts.ExternalCallAdapter, externalCallExecuted,
			[]any{id, false},
			order.ExternalCall{Step: order.CallFailed},
		},
		{
			"call failed", contracts.ExternalCallAdapter, externalCallFailed,
			[]any{id, []byte("reason")},
			order.ExternalCall{Step: order.CallFailed},
		},
		{
			"call cancelled", contracts.ExternalCallAdapter, externalCallCancelled,
			[]any{hash("call"), id, beneficiary, solver, 1},
			order.ExternalCall{Step: order.CallCancelled},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			log := newLog(t, test.emitter, test.topic, test.values...)
			log.Index = 9
			if !slices.Contains(onchain.Topics(), log.Topics[0]) {
				t.Errorf("Topics lacks %s", log.Topics[0])
			}
			found := must.Get(onchain.Decode(contracts, []onchain.Log{log}))(t)
			want := []onchain.Found{{Order: id, LogIndex: 9, Fact: test.want}}
			if diff := cmp.Diff(want, found, compareValues(), compareTexts()); diff != "" {
				t.Errorf("Decode (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeIgnoresOtherContracts(t *testing.T) {
	o := recordedOrders(t)[0]
	log := newLog(t, address("somebody else ......."), createdOrder, tupleOf(o.Terms), o.ID, []byte{}, 1, 2, 3, []byte{})
	for _, emitter := range []chain.Address{log.Address, contracts.DlnDestination, contracts.Gate, {}} {
		log.Address = emitter
		if found, err := onchain.Decode(contracts, []onchain.Log{log}); err != nil || len(found) != 0 {
			t.Errorf("creation told by %s: Decode = %v, %v, want nothing", emitter, found, err)
		}
	}
	if found, err := onchain.Decode(chain.Contracts{}, []onchain.Log{log}); err != nil || len(found) != 0 {
		t.Errorf("chain without contracts: Decode = %v, %v, want nothing", found, err)
	}
}

func TestDecodeRefusesAnIDThatTheTermsDoNotGive(t *testing.T) {
	o := recordedOrders(t)[0]
	log := newLog(t, contracts.DlnSource, createdOrder, tupleOf(o.Terms), hash("other"), []byte{}, 1, 2, 3, []byte{})
	_, err := onchain.Decode(contracts, []onchain.Log{log})
	if err == nil || !strings.Contains(err.Error(), "CreatedOrder") {
		t.Errorf("Decode: %v, want an error that names CreatedOrder", err)
	}
}

func TestDecodeRefusesTruncatedLogs(t *testing.T) {
	o := recordedOrders(t)[4]
	log := newLog(t, contracts.DlnSource, createdOrder, tupleOf(o.Terms), o.ID, []byte{}, 1, 2, 3, []byte("metadata"))
	whole := log.Data
	for length := range len(whole) - 24 { // after the metadata only padding is left
		log.Data = whole[:length]
		if found, err := onchain.Decode(contracts, []onchain.Log{log}); err == nil {
			t.Fatalf("Decode of %d of %d bytes = %v, want an error", length, len(whole), found)
		}
	}
}

func TestDecodeSkipsFulfilmentsOfImpossibleOrders(t *testing.T) {
	o := recordedOrders(t)[0]
	forged := tupleOf(o.Terms)
	forged[2] = new(big.Int).Lsh(big.NewInt(1), 200)
	logs := []onchain.Log{
		newLog(t, contracts.DlnDestination, fulfilledOrderLegacy, forged, hash("id"), contracts.Gate, contracts.Gate),
		newLog(t, contracts.DlnDestination, decreasedTakeAmount, o.ID, 14),
	}
	found, err := onchain.Decode(contracts, logs)
	if err != nil || len(found) != 1 {
		t.Errorf("Decode = %v, %v, want the second log alone", found, err)
	}
}

func TestDecodeTellsTheSubmissionOfEachClaim(t *testing.T) {
	claim := func(name string) onchain.Log {
		return newLog(t, contracts.DlnSource, claimedUnlock, hash(name), contracts.Gate, 1, contracts.Gate)
	}
	logs := []onchain.Log{
		claim("first of a batch"),
		claim("second of a batch"),
		newGateClaim(t, hash("message to another contract"), contracts.Router),
		newGateClaim(t, hash("batch"), contracts.DlnSource),
		claim("single"),
		newGateClaim(t, hash("single message"), contracts.DlnSource),
		claim("without report"),
	}
	found := must.Get(onchain.Decode(contracts, logs))(t)
	var got []chain.Hash
	for _, f := range found {
		got = append(got, f.Fact.(order.Claimed).Submission)
	}
	want := []chain.Hash{hash("batch"), hash("batch"), hash("single message"), {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("submissions (-want +got):\n%s", diff)
	}
}

func TestDecodeTellsTheSwapBeforeACreation(t *testing.T) {
	o := recordedOrders(t)[0]
	give := o.Terms.Give.Token
	created := newLog(t, contracts.DlnSource, createdOrder, tupleOf(o.Terms), o.ID, []byte{}, 1, 2, 3, []byte{})
	swap := func(emitter, out chain.Address, amount int) onchain.Log {
		return newLog(t, emitter, swapExecuted, contracts.Router, address("token in ............"), amount, out, 2*amount)
	}
	logs := []onchain.Log{
		swap(contracts.Router, give, 10),
		swap(contracts.Router, give, 20),
		swap(contracts.Router, address("another token ......."), 30),
		swap(address("somebody else ......."), give, 40),
		created,
		created,
		swap(contracts.Router, give, 50),
	}
	found, err := onchain.Decode(contracts, logs)
	if err != nil || len(found) != 2 {
		t.Fatalf("Decode = %v, %v, want two creations", found, err)
	}
	want := &order.Preswap{
		TokenIn: address("token in ............"), TokenOut: give,
		AmountIn: chain.NewAmount(20), AmountOut: chain.NewAmount(40),
	}
	if got := found[0].Fact.(order.Created).Preswap; got == nil || *got != *want {
		t.Errorf("first creation: preswap %v, want %v", got, want)
	}
	if got := found[1].Fact.(order.Created).Preswap; got != nil {
		t.Errorf("second creation: preswap %v, want none: the swap made the first order", got)
	}
}

func TestTopicsAreAscendingAndUnique(t *testing.T) {
	topics := onchain.Topics()
	ascending := slices.IsSortedFunc(topics, func(a, b chain.Hash) int { return slices.Compare(a[:], b[:]) })
	if !ascending || len(slices.Compact(slices.Clone(topics))) != len(topics) {
		t.Errorf("Topics() = %v", topics)
	}
	if !slices.Contains(topics, parseHash(t, gateClaimed)) {
		t.Error("Topics lacks the gate's Claimed")
	}
}
