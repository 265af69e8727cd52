package crossgate

import (
	"math/big"
	"net/url"
	"strconv"
)

// SwapQuery asks for a swap within a chain. The zero address is an EVM chain's coin.
type SwapQuery struct {
	Chain              ChainID
	TokenIn, TokenOut  string
	AmountIn           *big.Int // nil: the sender's whole balance
	Recipient, Sender  string   // Sender signs; empty: the recipient
	Slippage           float64  // percent; 0: the gateway chooses
	AffiliatePercent   float64
	AffiliateRecipient string
}

func (q SwapQuery) values() url.Values {
	values := url.Values{
		"chainId": {strconv.FormatUint(q.Chain.API(), 10)}, "tokenIn": {q.TokenIn}, "tokenOut": {q.TokenOut},
		"tokenInAmount": {"max"}, "tokenOutRecipient": {q.Recipient},
	}
	if q.AmountIn != nil {
		values.Set("tokenInAmount", q.AmountIn.String())
	}
	for name, text := range map[string]string{"senderAddress": q.Sender, "affiliateFeeRecipient": q.AffiliateRecipient} {
		if text != "" {
			values.Set(name, text)
		}
	}
	for name, percent := range map[string]float64{"slippage": q.Slippage, "affiliateFeePercent": q.AffiliatePercent} {
		if percent != 0 {
			values.Set(name, strconv.FormatFloat(percent, 'f', -1, 64))
		}
	}
	return values
}

// Swap is the best quote. On Solana the transaction is a message in Data, and absent without a sender.
type Swap struct {
	Tx *struct {
		To    string `json:"to"`
		Data  string `json:"data"`
		Value Amount `json:"value"`
	} `json:"tx"`
	In       SwapToken `json:"tokenIn"`
	Out      SwapToken `json:"tokenOut"`
	Slippage float64   `json:"slippage"`
	Venues   []struct {
		Name      string  `json:"name"`
		Amount    Amount  `json:"amount"`
		PriceDrop float64 `json:"priceDrop"` // percent below the best
	} `json:"comparedAggregators"`
}

// SwapToken is one side of a swap; the transaction guarantees Minimum of what comes out.
type SwapToken struct {
	Address  string `json:"address"`
	Symbol   string `json:"symbol"`
	Decimals int    `json:"decimals"`
	Amount   Amount `json:"amount"`
	Minimum  Amount `json:"minAmount"`
}
