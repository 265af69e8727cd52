package pages

import (
	"crossgate/chain"
	"crossgate/proxy/reference"
)

// Exemplary are the JSON of lists of which the reference takes its examples; nil: a list cannot be had at the moment.
type Exemplary struct{ Orders, Swaps []byte }

// exemplaryJSON is what examples need of a list of orders, or of swaps within a chain.
type exemplaryJSON struct {
	Orders []struct {
		OrderID         named
		Give            offerJSON `json:"giveOfferWithMetadata"`
		UnlockAuthority *named    `json:"unlockAuthorityDst"`
		Creation        named     `json:"createEventTransactionHash"`
	}
}

// Values are the newest order, the newest one with a taker, and the newest swap. What no list has is left out.
func (e Exemplary) Values() (reference.Values, error) {
	values := reference.Values{}
	orders, err := decodeIfAny[exemplaryJSON](e.Orders)
	if err != nil {
		return nil, err
	}
	for _, o := range orders.Orders {
		isFirst, isTaken := values["orderId"] == "", o.UnlockAuthority != nil && o.UnlockAuthority.Text != ""
		if !isFirst && (!isTaken || values["takerAddress"] != "") {
			continue
		}
		values["orderId"], values["creationTxHash"] = o.OrderID.Text, o.Creation.Text
		values["orderIds.hash"], values["orderIdTexts.hash"] = o.Creation.Text, o.Creation.Text
		if isTaken {
			values["takerAddress"] = o.UnlockAuthority.Text
			values.SetBody("unlockList", map[string]any{"unlockAuthorities": o.UnlockAuthority.Text, "take": 5})
		}
		values.SetBody("orderList", map[string]any{"giveChainIds": []chain.ID{o.Give.ChainID.chain()}, "take": 5})
	}
	swaps, err := decodeIfAny[exemplaryJSON](e.Swaps)
	if err != nil {
		return nil, err
	}
	if len(swaps.Orders) > 0 {
		newest := swaps.Orders[0]
		values["swapById.id"] = newest.OrderID.Text
		values["swapByTransaction.id"], values["swapByTransaction.hash"] = newest.Give.ChainID.Text, newest.Creation.Text
	}
	return values, nil
}
