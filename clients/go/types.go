package crossgate

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
)

// Amount is a whole number in smallest units; nil where there is none.
type Amount struct{ *big.Int }

// UnmarshalJSON reads a decimal, or the API's object of encodings.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	text, err := textIn(raw)
	if err != nil || text == "" {
		return err
	}
	whole, isWhole := new(big.Int).SetString(text, 10)
	if !isWhole {
		return fmt.Errorf("%q is not an amount", text)
	}
	a.Int = whole
	return nil
}

// Text is an address, hash or id in the form of its chain; empty where there is none.
type Text string

// UnmarshalJSON reads a text, or the API's object of encodings.
func (t *Text) UnmarshalJSON(raw []byte) error {
	text, err := textIn(raw)
	*t = Text(text)
	return err
}

// ChainID is a chain's own (EIP-155) number; Solana's is 7565164. The API's, which differs for some, is converted.
type ChainID uint64

// UnmarshalJSON reads the API's number, or its object of encodings.
func (id *ChainID) UnmarshalJSON(raw []byte) error {
	text, err := textIn(raw)
	if err != nil {
		return err
	}
	api, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("chain: %w", err)
	}
	*id = ChainID(api)
	for native, renumbered := range apiIDs {
		if renumbered == api {
			*id = native
		}
	}
	return nil
}

// MarshalJSON writes the API's number.
func (id ChainID) MarshalJSON() ([]byte, error) { return strconv.AppendUint(nil, id.API(), 10), nil }

// API returns the API's number of the chain: 100000002 for Gnosis's 100.
func (id ChainID) API() uint64 {
	if api, isRenumbered := apiIDs[id]; isRenumbered {
		return api
	}
	return uint64(id)
}

// apiIDs are the numbers of chains that the API numbers otherwise than EIP-155.
var apiIDs = map[ChainID]uint64{
	245022934: 100000001, // Neon
	100:       100000002, // Gnosis
	32769:     100000008, // Zilliqa
	747:       100000009, // Flow
	1514:      100000013, // Story
	146:       100000014, // Sonic
	2741:      100000017, // Abstract
	25:        100000019, // Cronos
	80094:     100000020, // Berachain
	60808:     100000021, // BOB
	999:       100000022, // HyperEVM
	5000:      100000023, // Mantle
	50104:     100000025, // Sophon
	728126428: 100000026, // TRON
	1329:      100000027, // Sei
	9745:      100000028, // Plasma
	1776:      100000029, // Injective
	143:       100000030, // Monad
	4326:      100000031, // MegaETH
}

// textIn returns what a value says in the encoding for people.
func textIn(raw []byte) (string, error) {
	var encodings struct {
		Text *string `json:"stringValue"`
	}
	if raw[0] == '{' {
		if err := json.Unmarshal(raw, &encodings); err != nil || encodings.Text == nil {
			return "", err
		}
		return *encodings.Text, nil
	}
	var text *string
	if raw[0] != '"' && raw[0] != 'n' {
		return string(raw), nil
	}
	if err := json.Unmarshal(raw, &text); err != nil || text == nil {
		return "", err
	}
	return *text, nil
}

// Order is an order as far as most clients read it. Raw has the whole record.
type Order struct {
	ID                Text      `json:"orderId"`
	State             string    `json:"state"` // such as Created; ClaimedUnlock and ClaimedOrderCancel are final
	ExternalCallState string    `json:"externalCallState"`
	Maker             Text      `json:"makerSrc"`
	Receiver          Text      `json:"receiverDst"`
	Taker             Text      `json:"taker"`
	Give              OrderSide `json:"giveOfferWithMetadata"`
	Take              OrderSide `json:"takeOfferWithMetadata"`
	Created           *Event    `json:"createdSrcEventMetadata"`
	Fulfilled         *Event    `json:"fulfilledDstEventMetadata"`

	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON reads a record.
func (o *Order) UnmarshalJSON(raw []byte) error {
	type order Order
	o.Raw = append(json.RawMessage(nil), raw...)
	return json.Unmarshal(raw, (*order)(o))
}

// OrderSide is one side of an order. FinalAmount includes the maker's patches.
type OrderSide struct {
	Chain       ChainID `json:"chainId"`
	Token       Text    `json:"tokenAddress"`
	Amount      Amount  `json:"amount"`
	FinalAmount Amount  `json:"finalAmount"`
	Decimals    *int    `json:"decimals"`
	Symbol      string  `json:"symbol"`
}

// Event says where something happened to an order.
type Event struct {
	Transaction Text   `json:"transactionHash"`
	Block       uint64 `json:"blockNumber"`
	Unix        int64  `json:"blockTimeStamp"` // seconds
}

// OrderFilter selects orders; all members that are set hold together.
type OrderFilter struct {
	GiveChains []ChainID `json:"giveChainIds,omitempty"`
	TakeChains []ChainID `json:"takeChainIds,omitempty"`
	States     []string  `json:"orderStates,omitempty"`
	Text       string    `json:"filter,omitempty"` // an id, address or transaction
	Maker      string    `json:"maker,omitempty"`
	Skip       int       `json:"skip,omitempty"`
	Take       int       `json:"take,omitempty"` // at most 100; 0: 20
}

// OrderList is a part of a list of Total orders.
type OrderList struct {
	Orders []ListedOrder `json:"orders"`
	Total  int           `json:"totalCount"`
}

// ListedOrder is an order in a list.
type ListedOrder struct {
	ID       Text      `json:"orderId"`
	State    string    `json:"state"`
	Creation Text      `json:"createEventTransactionHash"`
	Unix     int64     `json:"creationTimestamp"` // seconds
	Give     OrderSide `json:"giveOfferWithMetadata"`
	Take     OrderSide `json:"takeOfferWithMetadata"`
}

// LockedAssets are a taker's unpaid deliveries, as far as the index has read the chains.
type LockedAssets struct {
	Chains []LockedChain
	Behind []ChainID // chains whose newest orders may be missing
}

// LockedChain has the assets that are locked on one give chain.
type LockedChain struct {
	Chain  ChainID       `json:"chainId"`
	Tokens []LockedToken `json:"lockedTokens"`
}

// LockedToken has nil where the token or its price could not be read.
type LockedToken struct {
	Address  Text `json:"tokenAddress"`
	Metadata struct {
		Symbol string `json:"symbol"`
	} `json:"tokenMetadata"`
	USD          *float64       `json:"amount"`
	Amount       *float64       `json:"tokenAmount"` // whole tokens
	Destinations []LockedTarget `json:"dstChainsLockedAmounts"`
}

// LockedTarget is the part that was delivered on one chain, from which the unlock is sent.
type LockedTarget struct {
	Chain  ChainID  `json:"targetChainId"`
	USD    *float64 `json:"dstChainAmount"`
	Amount *float64 `json:"dstChainTokenAmount"` // whole tokens
	Orders []Text   `json:"ordersToUnlock"`
}

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
