package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"crossgate/chain"
)

// The API's JSON, as far as pages show it.

type named struct {
	Text string `json:"stringValue"` // empty when absent
}

func (n named) chain() chain.ID {
	id, err := chain.ParseID(n.Text)
	if err != nil {
		return 0
	}
	return id
}

type tokenJSON struct {
	Decimals              int
	Name, Symbol, LogoURI string
}

type offerJSON struct {
	ChainID      named
	TokenAddress named
	Amount       named
	FinalAmount  named
	tokenJSON
}

type eventJSON struct {
	TransactionHash named
	BlockHash       named
	BlockNumber     uint64
	BlockTimeStamp  int64
	Initiator       named
}

type infoJSON struct{ TransactionMetadata *eventJSON }

type recordJSON struct {
	OrderID             named
	MakerSrc            named
	ReceiverDst         named
	AllowedTakerDst     named
	Taker               named
	UnlockAuthorityDst  named
	Give                offerJSON `json:"giveOfferWithMetadata"`
	Take                offerJSON `json:"takeOfferWithMetadata"`
	ActualFulfillAmount *named
	State               string
	ExternalCallState   string
	ReferralCode        uint64
	FinalPercentFee     *named // like FixFee absent while the creation was not seen
	FixFee              *named

	Created       *eventJSON `json:"createdSrcEventMetadata"`
	Fulfilled     *eventJSON `json:"fulfilledDstEventMetadata"`
	SentUnlock    infoJSON   `json:"sentUnlockDstEventInfo"`
	ClaimedUnlock infoJSON   `json:"claimedUnlockSrcEventInfo"`
	Cancelled     *eventJSON `json:"orderCancelledDstEventMetadata"`
	SentCancel    infoJSON   `json:"sentOrderCancelDstEventInfo"`
	ClaimedCancel infoJSON   `json:"claimedOrderCancelSrcEventInfo"`
}

// recordedStep is an event of an order as its record has it.
type recordedStep struct {
	name   string
	fields string // of the record, that it gave
	on     chain.ID
	event  *eventJSON
}

// steps are those that happened, as far as the record has their transactions.
func (r recordJSON) steps() []recordedStep {
	give, take := r.Give.ChainID.chain(), r.Take.ChainID.chain()
	steps := []recordedStep{
		{"Creation", "maker, receiver, both amounts, authorities, fees", give, r.Created},
		{"Fulfilment", "taker, delivered amount", take, r.Fulfilled},
		{"Unlock message", "unlock message", take, r.SentUnlock.TransactionMetadata},
		{"Unlock claim", "taker's payment", give, r.ClaimedUnlock.TransactionMetadata},
		{"Cancellation", "cancellation", take, r.Cancelled},
		{"Refund message", "refund message", take, r.SentCancel.TransactionMetadata},
		{"Refund claim", "refund", give, r.ClaimedCancel.TransactionMetadata},
	}
	return slices.DeleteFunc(steps, func(s recordedStep) bool { return s.event == nil })
}

type lockedJSON struct {
	ChainID      named
	LockedTokens []lockedTokenJSON
}

type lockedTokenJSON struct {
	TokenAddress           named
	TokenMetadata          tokenJSON
	Amount                 json.Number
	TokenAmount            json.Number
	DstChainsLockedAmounts []struct {
		TargetChainID       named
		DstChainAmount      json.Number
		DstChainTokenAmount json.Number
		OrdersToUnlock      []named
	}
}

type explanationJSON struct {
	Error       string
	Execution   string
	To          string
	Amount      string
	MinAmount   string
	ProtocolFee string
	QuotedAt    time.Time
	Aggregators []askedJSON
}

type askedJSON struct {
	Name, Execution, Verdict, Reason string
	QuotedAmount, Amount             string
	TookMs                           float64
	Gas                              uint64
	Simulated                        bool
}

type estimateJSON struct {
	Tx                            *struct{ To, Data, Value string }
	TokenIn, TokenOut             pricedJSON
	Slippage, RecommendedSlippage float64
	ProtocolFee                   string
	ProtocolFeeUSD                string `json:"protocolFeeApproximateUsdValue"`
	Fee                           *struct {
		Total   string
		Details struct{ GasLimit string }
		USD     *float64 `json:"approximateUsdValue"`
	} `json:"estimatedTransactionFee"`
	Compared []pricedJSON `json:"comparedAggregators"`
}

// pricedJSON is an amount of a token; USD is absent when no price is known.
type pricedJSON struct {
	Amount string
	USD    *float64 `json:"approximateUsdValue"`
}

func decode[T any](answer []byte) (T, error) {
	var into T
	if err := json.Unmarshal(answer, &into); err != nil {
		return into, fmt.Errorf("decode the JSON of a page: %w", err)
	}
	return into, nil
}

// decodeIfAny is decode, and the zero value for an answer that is not there.
func decodeIfAny[T any](answer []byte) (into T, err error) {
	if answer == nil {
		return into, nil
	}
	return decode[T](answer)
}

// LockedOrders lists the order ids in the JSON of locked assets.
func LockedOrders(answer []byte) ([]string, error) {
	chains, err := decode[[]lockedJSON](answer)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range chains {
		for _, t := range c.LockedTokens {
			for _, d := range t.DstChainsLockedAmounts {
				for _, id := range d.OrdersToUnlock {
					ids = append(ids, id.Text)
				}
			}
		}
	}
	return ids, nil
}

// indented is JSON for people.
func indented(answer []byte) string {
	var text bytes.Buffer
	if err := json.Indent(&text, answer, "", "  "); err != nil {
		return string(answer)
	}
	return text.String()
}
