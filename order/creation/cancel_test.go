package creation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
)

// vectorOrder is an order in the arguments of the vectors.
type vectorOrder struct {
	MakerOrderNonce, GiveChainID, GiveAmount, TakeChainID, TakeAmount                    chain.Amount
	MakerSrc, GiveTokenAddress, TakeTokenAddress, ReceiverDst, GivePatchAuthoritySrc     hexBytes
	OrderAuthorityAddressDst, AllowedTakerDst, AllowedCancelBeneficiarySrc, ExternalCall hexBytes
}

func (o vectorOrder) terms() order.Terms {
	number := func(a chain.Amount) uint64 { n, _ := a.Uint64(); return n }
	return order.Terms{
		Nonce: number(o.MakerOrderNonce), Maker: chain.NewAddress(o.MakerSrc),
		Give:     order.Offer{Chain: chain.ID(number(o.GiveChainID)), Token: chain.NewAddress(o.GiveTokenAddress), Amount: o.GiveAmount},
		Take:     order.Offer{Chain: chain.ID(number(o.TakeChainID)), Token: chain.NewAddress(o.TakeTokenAddress), Amount: o.TakeAmount},
		Receiver: chain.NewAddress(o.ReceiverDst),
		Authorities: order.Authorities{
			GivePatch: chain.NewAddress(o.GivePatchAuthoritySrc), Order: chain.NewAddress(o.OrderAuthorityAddressDst),
			AllowedTaker: chain.NewAddress(o.AllowedTakerDst), CancelBeneficiary: chain.NewAddress(o.AllowedCancelBeneficiarySrc),
		},
		ExternalCall: o.ExternalCall,
	}
}

// TestCancelsAreThoseThatTheContractsTook encodes the calldata of the recorded cancels, apart from what they offer
// keepers and from beneficiaries that the maker chose differently.
func TestCancelsAreThoseThatTheContractsTook(t *testing.T) {
	compared := map[string]int{}
	for _, c := range readVectors(t, "orders-vectors-A.json") {
		if c.Call.Function != "sendEvmOrderCancel" && c.Call.Function != "sendSolanaOrderCancel" || c.Result.Status != "success" {
			continue
		}
		var o vectorOrder
		must.Do(t, json.Unmarshal(c.Call.Args["_order"], &o))
		got := must.Get(creation.CancelData(o.terms()))(t)
		want := bytes.Clone(c.Tx.Data)
		const selector, word = 4, 32
		fixed := 5 // words of the head: order, beneficiary, execution fee, rewards
		if c.Call.Function == "sendEvmOrderCancel" {
			fixed = 3
		}
		copy(want[selector+word:selector+fixed*word], got[selector+word:])
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", c.ID, got, want)
		}
		compared[c.Call.Function]++
	}
	if compared["sendEvmOrderCancel"] < 8 || compared["sendSolanaOrderCancel"] < 1 {
		t.Errorf("%v cancels were compared, want 8 and 1 at least", compared)
	}
}

func TestCancelOfACallOfWhichOnlyTheHashIsKnown(t *testing.T) {
	terms := order.Terms{ExternalCallHash: chain.Hash{1}}
	if _, err := creation.CancelData(terms); !errors.Is(err, creation.ErrUnknownCall) {
		t.Errorf("CancelData() = %v, want ErrUnknownCall", err)
	}
	zero := chain.NativeCoin(chain.EVM)
	for _, terms := range []order.Terms{
		{}, {Authorities: order.Authorities{GivePatch: zero}}, {Authorities: order.Authorities{GivePatch: chain.NewAddress([]byte{7}), CancelBeneficiary: zero}},
	} {
		if err := creation.CanCancel(terms, order.StateCreated); !errors.Is(err, creation.ErrNoPayee) {
			t.Errorf("CanCancel() = %v, want ErrNoPayee", err)
		}
	}
	allowed := chain.NewAddress([]byte{7})
	if got := creation.Beneficiary(order.Terms{Authorities: order.Authorities{GivePatch: allowed}}); got != allowed {
		t.Errorf("Beneficiary() = %s, want who may patch", got)
	}
}

// TestCallsAreCancelledByTheirHash encodes the calldata of an external call's recorded cancel, and computes its ID.
func TestCallsAreCancelledByTheirHash(t *testing.T) {
	for _, c := range readVectors(t, "orders-vectors-A.json") {
		if c.ID != "A-506-ext-cancel" {
			continue
		}
		var token, authority chain.Address
		var hash chain.Hash
		call := creation.RegisteredCall{}
		for name, into := range map[string]any{
			"_orderId": &call.Order, "_tokenAmount": &call.Amount, "_externalCallHash": &hash, "_tokenAddress": &token, "_callAuthority": &authority,
		} {
			must.Do(t, json.Unmarshal(c.Call.Args[name], into))
		}
		call.Terms = order.Terms{ExternalCallHash: hash, Take: order.Offer{Token: token}, Authorities: order.Authorities{Order: authority}}
		got, want := call.CancelData(), bytes.Clone(c.Tx.Data)
		copy(want[4+4*32:4+5*32], got[4+4*32:]) // in which the tokens go to another address
		if !bytes.Equal(got, want) {
			t.Errorf("%x, want %x", got, want)
		}
		return
	}
	t.Error("the vectors have no cancel of an external call")
}

// unlockOf returns the message that pays a beneficiary for orders.
func unlockOf(t *testing.T, beneficiary chain.Address, authority chain.Address, ids []order.ID, terms ...order.Terms) creation.Unlock {
	t.Helper()
	var orders []*order.Order
	for i, id := range ids {
		o := &order.Order{ID: id, State: order.StateFulfilled, Fulfilled: &order.Seen[order.Fulfilled]{Fact: order.Fulfilled{UnlockAuthority: authority}}}
		if o.Terms.Give.Chain = 137; len(terms) > 0 {
			o.Terms = terms[i]
		}
		orders = append(orders, o)
	}
	return must.Get(creation.NewUnlock(orders, beneficiary))(t)
}

// TestUnlocksAreThoseThatTheContractsTook encodes the calldata of recorded unlocks, apart from what they offer keepers.
func TestUnlocksAreThoseThatTheContractsTook(t *testing.T) {
	compared := map[string]int{}
	for _, c := range readVectors(t, "orders-vectors-A.json") {
		fees, isKnown := map[string]int{"sendEvmUnlock": 1, "sendBatchEvmUnlock": 1, "sendSolanaUnlock": 3}[c.Call.Function]
		if !isKnown || c.Result.Status != "success" {
			continue
		}
		var o vectorOrder
		var terms []order.Terms
		ids, beneficiary := make([]order.ID, 1), hexBytes(nil)
		for name, into := range map[string]any{"_order": &o, "_orderId": &ids[0], "_orderIds": &ids, "_beneficiary": &beneficiary} {
			if raw := c.Call.Args[name]; raw != nil {
				must.Do(t, json.Unmarshal(raw, into))
			}
		}
		if c.Call.Function == "sendSolanaUnlock" {
			terms = []order.Terms{o.terms()}
		}
		got := unlockOf(t, chain.NewAddress(beneficiary), chain.Address{}, ids, terms...).Data()
		want := bytes.Clone(c.Tx.Data)
		const selector, word = 4, 32 // the beneficiary is followed by fees: execution fee, rewards
		copy(want[selector+2*word:selector+(2+fees)*word], got[selector+2*word:])
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", c.ID, got, want)
		}
		compared[c.Call.Function]++
	}
	if compared["sendEvmUnlock"] < 10 || compared["sendBatchEvmUnlock"] < 1 || compared["sendSolanaUnlock"] < 1 {
		t.Errorf("%v unlocks were compared, want 10, 1 and 1 at least", compared)
	}
}

// TestUnlocksForSolanaHaveTheHashOfACall: DlnDestination's unlocks want it in the place of the call, like patches
// (golden/create, rule 22), so that orders which are known without their call are paid, too.
func TestUnlocksForSolanaHaveTheHashOfACall(t *testing.T) {
	var called order.Terms
	called.Give.Chain, called.ExternalCall = chain.Solana, bytes.Repeat([]byte("call"), 20)
	hashed := called
	hashed.ExternalCall, hashed.ExternalCallHash = nil, onchain.CallHash(called.ExternalCall)
	for _, count := range []int{1, 2} {
		data := func(t *testing.T, terms order.Terms) []byte {
			return unlockOf(t, chain.NewAddress(make([]byte, 32)), chain.Address{}, make([]order.ID, count), slices.Repeat([]order.Terms{terms}, count)...).Data()
		}
		got := data(t, called)
		if !bytes.Equal(got, data(t, hashed)) || bytes.Contains(got, called.ExternalCall) || bytes.Count(got, hashed.ExternalCallHash[:]) != count {
			t.Errorf("%d orders: %x, want the hash %s in the place of the call", count, got, hashed.ExternalCallHash)
		}
	}
}

// TestOneMessageUnlocksOrdersThatAreAlike: the contracts would pay nobody, or someone else, for others.
func TestOneMessageUnlocksOrdersThatAreAlike(t *testing.T) {
	for name, row := range map[string]struct {
		give   chain.ID
		count  int
		change func(last *order.Order)
		want   error
	}{
		"alike":                         {137, 10, func(*order.Order) {}, nil},
		"too many":                      {137, 11, func(*order.Order) {}, creation.ErrNotAlike},
		"alike on Solana":               {chain.Solana, 7, func(*order.Order) {}, nil},
		"too many on Solana":            {chain.Solana, 8, func(*order.Order) {}, creation.ErrNotAlike},
		"another state":                 {137, 2, func(o *order.Order) { o.State = order.StateSentUnlock }, creation.ErrNotOwed},
		"a delivery that nobody saw":    {137, 2, func(o *order.Order) { o.Fulfilled = nil }, creation.ErrNotOwed},
		"another authority":             {137, 2, func(o *order.Order) { o.Fulfilled.Fact.UnlockAuthority = other }, creation.ErrNotAlike},
		"another give chain":            {137, 2, func(o *order.Order) { o.Terms.Give.Chain = 10 }, creation.ErrNotAlike},
		"another take chain":            {137, 2, func(o *order.Order) { o.Terms.Take.Chain = 10 }, creation.ErrNotAlike},
		"another give token":            {137, 2, func(o *order.Order) { o.Terms.Give.Token = other }, nil},
		"another give token, on Solana": {chain.Solana, 2, func(o *order.Order) { o.Terms.Give.Token = other }, creation.ErrNotAlike},
	} {
		var orders []*order.Order
		for n := range row.count {
			o := &order.Order{ID: order.ID{byte(n)}, State: order.StateFulfilled, Fulfilled: &order.Seen[order.Fulfilled]{Fact: order.Fulfilled{UnlockAuthority: maker}}}
			o.Terms.Give.Chain, o.Terms.Take.Chain = row.give, 1
			orders = append(orders, o)
		}
		row.change(orders[row.count-1])
		u, err := creation.NewUnlock(orders, token)
		if !errors.Is(err, row.want) || err == nil && (len(u.IDs) != row.count || u.IDs[row.count-1] != orders[row.count-1].ID || u.Authority != maker || u.Beneficiary != token) {
			t.Errorf("%s: %+v, %v, want %v", name, u, err, row.want)
		}
	}
}

// TestUnlocksOnSolanaAreThoseOfTheClient compares each account with the one that the protocol's own client uses. Many
// of them are chain constants, which also appear in public programs (debridge-finance/debridge-solana-sdk).
func TestUnlocksOnSolanaAreThoseOfTheClient(t *testing.T) {
	m := creation.SolanaMessage{
		At: chain.Contracts{
			DlnDestination: solana.MustAccount("dst5MGcFPoBeREFAA5E3tU5ij8m5uVYwkzkSAbsLbNo"),
			Gate:           solana.MustAccount("DEbrdGj3HsRsAzx6uH4MKyREKxVAfBydijLUF3ygsFfh"),
		},
		Wrapped: solana.MustAccount("So11111111111111111111111111111111111111112"),
		Fees:    solana.MustAccount("5MgAaNomDg4Y88v7gJ7LSWAyoLpDfcfbXZGQQnFddjJT"),
		Sender:  solana.MustAccount("FsiBNh2KcPrjZFMF7EBCWpUpAo95DfrMXB2U2XrqSFWF"),
	}
	beneficiary := chain.NewAddress(bytes.Repeat([]byte{0xbe}, 20))
	ids := []order.ID{order.ID(bytes.Repeat([]byte{1}, 32)), order.ID(bytes.Repeat([]byte{2}, 32))}
	var made strings.Builder
	for name, ids := range map[string][]order.ID{"one": ids[:1], "two": ids} {
		u := unlockOf(t, beneficiary, m.Sender, ids)
		raw := must.Get(solana.Draft{FeePayer: m.Sender, Instructions: m.Unlock(u)}.Compile())(t)
		made.Reset()
		for _, in := range must.Get(must.Get(solana.ParseUnsigned(raw))(t).Draft(nil))(t).Instructions {
			fmt.Fprintf(&made, "0x%x\n", in.Data)
			for _, a := range in.Accounts {
				role := map[bool]string{true: "s"}[a.Signer] + map[bool]string{true: "w"}[a.Writable]
				fmt.Fprintln(&made, strings.TrimSpace(a.Address.Format(chain.SVM)+" "+role))
			}
		}
		_, want, _ := strings.Cut(string(must.Get(os.ReadFile("testdata/solana_unlocks.txt"))(t)), "\n"+name+"\n")
		want, _, _ = strings.Cut(want, "\n\n")
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(made.String())); diff != "" {
			t.Errorf("%s (-client's +ours):\n%s", name, diff)
		}
	}
}

// TestMessageFeesOfAChainGoFirst decodes the settings in their real layout, and truncated at each byte.
func TestMessageFeesOfAChainGoFirst(t *testing.T) {
	payee := bytes.Repeat([]byte{0xfe}, 32)
	settings := bytes.Join([][]byte{
		make([]byte, 8+1+32+32), payee, {2, 0, 0, 0}, make([]byte, 40), {1, 0, 0, 0}, make([]byte, 20), {1}, make([]byte, 8+24), {7, 0, 0, 0, 0, 0, 0, 0},
	}, nil)
	for name, test := range map[string]struct {
		support []byte
		fee     uint64
		err     error
	}{
		"the fee for all":   {append(make([]byte, 8), 1, 0, 0, 20, 0), 7, nil},
		"its own":           {append(make([]byte, 8), 1, 1, 5, 0, 0, 0, 0, 0, 0, 0), 5, nil},
		"not a chain":       {append(make([]byte, 8), 0, 0), 0, creation.ErrNoMessages},
		"of no settings":    {nil, 0, creation.ErrNoMessages},
		"a fee that is cut": {append(make([]byte, 8), 1, 1, 5), 0, creation.ErrNoMessages},
	} {
		f, err := creation.ReadMessageFees(settings, test.support)
		if !errors.Is(err, test.err) || f.Amount != chain.NewAmount(test.fee) || err == nil && !bytes.Equal(f.To.Bytes(), payee) {
			t.Errorf("%s: %+v, %v, want %d, %v", name, f, err, test.fee, test.err)
		}
	}
	for cut := range settings {
		if f, err := creation.ReadMessageFees(settings[:cut], append(make([]byte, 8), 1, 0)); !errors.Is(err, creation.ErrNoMessages) {
			t.Errorf("settings cut at %d: %+v, %v", cut, f, err)
		}
	}
}
