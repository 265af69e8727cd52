package crossgate

import "encoding/json"

// Order is an order with the members that most clients need. Raw has the whole record.
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

// UnmarshalJSON decodes a record.
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

// Event is where something happened to an order.
type Event struct {
	Transaction Text   `json:"transactionHash"`
	Block       uint64 `json:"blockNumber"`
	Unix        int64  `json:"blockTimeStamp"` // seconds
}

// OrderFilter selects the orders that match all members set.
type OrderFilter struct {
	GiveChains []ChainID `json:"giveChainIds,omitempty"`
	TakeChains []ChainID `json:"takeChainIds,omitempty"`
	States     []string  `json:"orderStates,omitempty"`
	Text       string    `json:"filter,omitempty"` // an id, address or transaction
	Maker      string    `json:"maker,omitempty"`
	Skip       int       `json:"skip,omitempty"`
	Take       int       `json:"take,omitempty"` // at most 100; 0 means 20
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

// LockedChain has the assets locked on one give chain.
type LockedChain struct {
	Chain  ChainID       `json:"chainId"`
	Tokens []LockedToken `json:"lockedTokens"`
}

// LockedToken is a locked token. Values are nil if the token or its price could not be read.
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
