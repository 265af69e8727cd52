package crossgate

import (
	"math/big"
	"net/url"
	"strconv"
)

// SwapQuery asks for a swap within a chain. The zero address means an EVM chain's coin.
type SwapQuery struct {
	Chain              ChainID
	TokenIn, TokenOut  string
	AmountIn           *big.Int // nil for the sender's whole balance
	Recipient, Sender  string   // Sender signs; empty if the recipient does
	Slippage           float64  // percent; 0 lets the gateway choose
	AffiliatePercent   float64
	AffiliateRecipient string
}

// given are the parameters that are not empty.
func given(all map[string]string) url.Values {
	values := url.Values{}
	for name, text := range all {
		if text != "" {
			values.Set(name, text)
		}
	}
	return values
}

func decimal(amount *big.Int, otherwise string) string {
	if amount == nil {
		return otherwise
	}
	return amount.String()
}

// percent formats a share as a query value, empty if zero.
func percent(share float64) string {
	if share == 0 {
		return ""
	}
	return strconv.FormatFloat(share, 'f', -1, 64)
}

// Transaction is a transaction to sign. On Solana, Data is all of it, and To is empty.
type Transaction struct {
	To    string `json:"to"`
	Data  string `json:"data"`
	Value Amount `json:"value"`
}

// Swap is the best quote. Tx is nil on Solana without a sender.
type Swap struct {
	Tx       *Transaction `json:"tx"`
	In       SwapToken    `json:"tokenIn"`
	Out      SwapToken    `json:"tokenOut"`
	Slippage float64      `json:"slippage"`
	Venues   []struct {
		Name      string  `json:"name"`
		Amount    Amount  `json:"amount"`
		PriceDrop float64 `json:"priceDrop"` // percent below the best
	} `json:"comparedAggregators"`
}

// SwapToken is one side of a swap or of an order's quote. A swap's transaction guarantees Minimum of the output.
type SwapToken struct {
	Chain    ChainID `json:"chainId"` // 0 in a swap, which is on the query's chain
	Address  string  `json:"address"`
	Symbol   string  `json:"symbol"`
	Decimals int     `json:"decimals"`
	Amount   Amount  `json:"amount"`
	Minimum  Amount  `json:"minAmount"`
}
