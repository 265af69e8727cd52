package creation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
)

// vectorOrder is an order in the calldata of the vectors.
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

// TestCancelsAreThoseThatTheContractsTook writes the calldata of the recorded cancels, but for what they offer keepers and
// for beneficiaries that the maker chose otherwise.
func TestCancelsAreThoseThatTheContractsTook(t *testing.T) {
	compared := map[string]int{}
	for _, c := range readVectors(t, "orders-vectors-A.json").Cases {
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

// TestCallsAreCancelledByTheirHash writes the calldata of the recorded cancel of an external call, and asks for its id.
func TestCallsAreCancelledByTheirHash(t *testing.T) {
	for _, c := range readVectors(t, "orders-vectors-A.json").Cases {
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
		copy(want[4+4*32:4+5*32], got[4+4*32:]) // there the tokens go to another one
		if !bytes.Equal(got, want) {
			t.Errorf("%x, want %x", got, want)
		}
		return
	}
	t.Error("the vectors have no cancel of an external call")
}
