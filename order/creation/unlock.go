package creation

import (
	"errors"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Reasons why orders cannot be unlocked by one message.
var (
	ErrNotOwed  = errors.New("the order does not wait for its unlock")
	ErrNotAlike = errors.New("one message unlocks 10 orders at most, of one unlock authority and one pair of chains; from Solana 7, of one give token")
)

// The functions of DlnDestination by which an unlock authority gets itself, or another address, paid on the give chain.
const (
	sendEvmUnlock         = "sendEvmUnlock(bytes32,address,uint256)"
	sendBatchEvmUnlock    = "sendBatchEvmUnlock(bytes32[],address,uint256)"
	sendSolanaUnlock      = "sendSolanaUnlock(" + onchain.OrderTuple + ",bytes32,uint256,uint64,uint64)"
	sendBatchSolanaUnlock = "sendBatchSolanaUnlock(" + onchain.OrderTuple + "[],bytes32,uint256,uint64,uint64)"
)

// Unlock is a message from the take chain that makes the give chain pay for delivered orders. It pays nothing for its
// execution.
type Unlock struct {
	IDs         []order.ID
	Terms       []order.Terms // of each
	Authority   chain.Address // sender of the message
	Beneficiary chain.Address // on the give chain
}

// NewUnlock returns the message for one or more orders. Errors are ErrNotOwed and ErrNotAlike.
func NewUnlock(orders []*order.Order, beneficiary chain.Address) (Unlock, error) {
	u := Unlock{Beneficiary: beneficiary}
	for _, o := range orders {
		if o.State != order.StateFulfilled || o.Fulfilled == nil {
			return Unlock{}, ErrNotOwed
		}
		u.IDs, u.Terms, u.Authority = append(u.IDs, o.ID), append(u.Terms, o.Terms), o.Fulfilled.Fact.UnlockAuthority
	}
	for i, t := range u.Terms {
		first := u.Terms[0]
		if orders[i].Fulfilled.Fact.UnlockAuthority != u.Authority || t.Give.Chain != first.Give.Chain || t.Take.Chain != first.Take.Chain ||
			t.Give.Chain == chain.Solana && t.Give.Token != first.Give.Token || len(orders) > order.MostUnlocked(t.Give.Chain) {
			return Unlock{}, ErrNotAlike
		}
	}
	return u, nil
}

// Owed returns ErrNotOwed unless all orders are in state StateFulfilled on the take chain.
func (u Unlock) Owed(states []order.StoredState) error {
	for _, stored := range states {
		if stored.State != order.StateFulfilled {
			return ErrNotOwed
		}
	}
	return nil
}

// Data returns the calldata for the take chain's DlnDestination. For Solana it contains each order, with the hash of
// its external call in place of the call (dln-contracts, getOrderIdWithExternalCallHash).
func (u Unlock) Data() []byte {
	if u.Terms[0].Give.Chain != chain.Solana {
		if len(u.IDs) == 1 {
			return words.Call(sendEvmUnlock, u.IDs[0], u.Beneficiary, 0)
		}
		return words.Call(sendBatchEvmUnlock, u.list(), u.Beneficiary, 0)
	}
	var orders words.List
	for _, t := range u.Terms {
		var call []byte
		if hash := onchain.CallHashOf(t); t.HasExternalCall() {
			call = hash[:]
		}
		orders = append(orders, orderWords(t, call))
	}
	beneficiary := chain.Hash(u.Beneficiary.Bytes())
	if len(orders) == 1 {
		return words.Call(sendSolanaUnlock, orders[0], beneficiary, 0, 0, 0)
	}
	return words.Call(sendBatchSolanaUnlock, orders, beneficiary, 0, 0, 0)
}

func (u Unlock) list() (ids words.List) {
	for _, id := range u.IDs {
		ids = append(ids, id)
	}
	return ids
}
