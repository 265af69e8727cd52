package onchain_test

import (
	"maps"
	"math/big"
	"testing"

	"crossgate/chain"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/onchain"
)

// recordedSwap is a call of the real router, with its logs and changed balances.
type recordedSwap struct {
	ID     string
	Result struct{ Status string }
	Logs   []struct {
		Address hexBytes
		Topics  []chain.Hash
		Data    hexBytes
	}
	BalanceChanges []struct {
		Role, Delta    string
		Account, Token hexBytes
	}
}

// holding identifies an account's balance of a token.
type holding struct{ account, token chain.Address }

// TestDecodeReadsRecordedSwaps expects a swap from every successful call of the real router and from no other, with the
// amounts that moved between accounts.
func TestDecodeReadsRecordedSwaps(t *testing.T) {
	var known struct {
		Chains []struct {
			Contracts struct {
				Router hexBytes
				Tokens struct{ FOT struct{ Address hexBytes } } // burns a hundredth of each transfer
			}
			Vectors []recordedSwap
		}
	}
	recorded.JSON(t, "golden/router/router-vectors-A.json", &known)
	swaps := 0
	for _, on := range known.Chains {
		at := contracts
		at.Router = chain.NewAddress(on.Contracts.Router)
		for _, v := range on.Vectors {
			found, err := onchain.Decode(at, v.logs())
			if err != nil {
				t.Fatalf("%s: %v", v.ID, err)
			}
			if v.Result.Status != "success" {
				if len(found) != 0 {
					t.Errorf("%s failed, and %+v was found", v.ID, found)
				}
				continue
			}
			if len(found) != 1 {
				t.Errorf("%s: %d swaps, want 1", v.ID, len(found))
				continue
			}
			swaps++
			swap := found[0].Fact.(order.Swapped)
			burns := swap.TokenOut == chain.NewAddress(on.Contracts.Tokens.FOT.Address)
			if got, want := moved(swap, v.treasury(), burns), v.moved(at.Router); !maps.Equal(got, want) {
				t.Errorf("%s: %+v moves %v, the accounts %v", v.ID, swap, got, want)
			}
		}
	}
	if swaps != 150 {
		t.Errorf("%d swaps, want the 150 that were recorded", swaps)
	}
}

func (v recordedSwap) logs() (logs []onchain.Log) {
	for i, l := range v.Logs {
		logs = append(logs, onchain.Log{Address: chain.NewAddress(l.Address), Topics: l.Topics, Data: l.Data, Index: uint(i)})
	}
	return logs
}

func (v recordedSwap) treasury() (account chain.Address) {
	for _, each := range v.BalanceChanges {
		if each.Role == "treasury" {
			account = chain.NewAddress(each.Account)
		}
	}
	return account
}

// moved returns the changes of balances, except for the router's.
func (v recordedSwap) moved(router chain.Address) map[holding]string {
	changes := make(map[holding]string)
	for _, each := range v.BalanceChanges {
		if account := chain.NewAddress(each.Account); account != router && each.Delta != "0" {
			changes[holding{account, chain.NewAddress(each.Token)}] = each.Delta
		}
	}
	return changes
}

// moved returns the changes of balances that a decoded swap implies.
func moved(s order.Swapped, treasury chain.Address, burns bool) map[holding]string {
	sums := make(map[holding]*big.Int)
	add := func(account, token chain.Address, amount *big.Int) {
		key := holding{account, token}
		if sums[key] == nil {
			sums[key] = new(big.Int)
		}
		sums[key].Add(sums[key], amount)
	}
	receive := func(account chain.Address, amount chain.Amount) {
		got := amount.Big()
		if burns {
			got.Sub(got, new(big.Int).Div(got, big.NewInt(100)))
		}
		add(account, s.TokenOut, got)
	}
	add(s.Sender, s.TokenIn, new(big.Int).Neg(s.AmountIn.Big()))
	receive(s.Recipient, s.Received())
	receive(treasury, s.Fee)
	if s.Affiliate != nil {
		receive(s.Affiliate.Beneficiary, s.Affiliate.Amount)
	}
	changes := make(map[holding]string)
	for key, sum := range sums {
		if sum.Sign() != 0 {
			changes[key] = sum.String()
		}
	}
	return changes
}
