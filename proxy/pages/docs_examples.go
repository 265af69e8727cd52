package pages

import (
	"crossgate/chain"
	"crossgate/proxy/orders"
	"crossgate/proxy/reference"
)

// exampleValues are the newest order, the newest one with a taker, and the newest swap. What no list has is left out.
func (p *Views) exampleValues(newest, swaps *orders.Listed) reference.Values {
	values := reference.Values{}
	if newest != nil {
		for _, r := range newest.Records {
			o := r.Order.Order
			taker := chain.Address{}
			if o.Fulfilled != nil {
				taker = o.Fulfilled.Fact.UnlockAuthority
			}
			if values["orderId"] != "" && (taker.IsAbsent() || values["takerAddress"] != "") {
				continue
			}
			creation := o.Created.At.Tx.Format(p.Chains.Family(o.Terms.Give.Chain))
			values["orderId"], values["creationTxHash"] = o.ID.String(), creation
			values["orderIds.hash"], values["orderIdTexts.hash"] = creation, creation
			if !taker.IsAbsent() {
				values["takerAddress"] = taker.Format(p.Chains.Family(o.Terms.Take.Chain))
				values.SetBody("unlockList", map[string]any{"unlockAuthorities": values["takerAddress"], "take": 5})
			}
			values.SetBody("orderList", map[string]any{"giveChainIds": []chain.ID{o.Terms.Give.Chain}, "take": 5})
		}
	}
	if swaps != nil && len(swaps.Records) > 0 {
		made := swaps.Records[0].Swap.Swap
		values["swapById.id"], values["swapByTransaction.id"] = made.ID.String(), made.At.Chain.String()
		values["swapByTransaction.hash"] = made.At.Tx.Format(p.Chains.Family(made.At.Chain))
	}
	return values
}
