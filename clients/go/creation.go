package crossgate

import (
	"context"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
)

// CreationQuery asks for an order to another chain. The zero address of a chain's family means its coin.
type CreationQuery struct {
	Give, Take         ChainID
	TokenIn, TokenOut  string
	AmountIn           *big.Int // nil for as much as AmountOut takes, or without it the sender's whole balance
	AmountOut          *big.Int // nil for what takers deliver for the input
	Sender, Recipient  string
	GiveAuthority      string // may patch the order on the give chain; required for a transaction
	TakeAuthority      string // may cancel the order on the take chain; required for a transaction
	AllowedTaker       string // empty for any
	AffiliatePercent   float64
	AffiliateRecipient string
	Permit             string            // for the input (EIP-2612), 129 bytes: amount, deadline, r, s, v
	More               map[string]string // other parameters of create-tx
}

func (q CreationQuery) texts() map[string]string {
	in := "max"
	if q.AmountOut != nil {
		in = "auto"
	}
	texts := map[string]string{
		"srcChainId": q.Give.text(), "srcChainTokenIn": q.TokenIn, "srcChainTokenInAmount": decimal(q.AmountIn, in),
		"dstChainId": q.Take.text(), "dstChainTokenOut": q.TokenOut, "dstChainTokenOutAmount": decimal(q.AmountOut, "auto"),
		"senderAddress": q.Sender, "dstChainTokenOutRecipient": q.Recipient, "allowedTaker": q.AllowedTaker,
		"srcChainOrderAuthorityAddress": q.GiveAuthority, "dstChainOrderAuthorityAddress": q.TakeAuthority,
		"affiliateFeePercent": percent(q.AffiliatePercent), "affiliateFeeRecipient": q.AffiliateRecipient,
		"srcChainTokenInSenderPermit": q.Permit,
	}
	maps.Copy(texts, q.More)
	return texts
}

// MarshalJSON encodes the parameters of create-tx.
func (q CreationQuery) MarshalJSON() ([]byte, error) { return json.Marshal(q.texts()) }

// OrderQuote is an order that does not exist yet.
type OrderQuote struct {
	Estimation struct {
		In  SwapToken `json:"srcChainTokenIn"`
		Out SwapToken `json:"dstChainTokenOut"`
	} `json:"estimation"`
	FixedFee    Amount `json:"fixFee"`      // in the give chain's coin, within Tx.Value
	ProtocolFee Amount `json:"protocolFee"` // in the locked token
	Plan        struct {
		Delay uint64 `json:"approximateFulfillmentDelay"` // seconds
		Salt  uint64 `json:"salt"`
	} `json:"order"`
	ID Text `json:"orderId"` // of the order that Tx creates
	Tx *struct {
		Transaction        // empty in a quote
		Spender     string `json:"allowanceTarget"` // contract to approve for Allowance; empty if none
		Allowance   Amount `json:"allowanceValue"`
	} `json:"tx"` // nil if the parties of a creation are missing
	Margin struct {
		Amount Amount  `json:"amount"` // of the reserve token on the take chain
		Bps    float64 `json:"bps"`    // of the locked amount
	} `json:"takerMargin"` // left to a taker after costs; negative for a loss
	Lacks []struct {
		Token  string `json:"token"`
		Amount Amount `json:"amount"`
	} `json:"senderLacks"`
}

// QuoteOrder returns the amounts of an order to another chain, and the contract that takes the input.
func (c *Client) QuoteOrder(ctx context.Context, query CreationQuery) (OrderQuote, error) {
	return get[OrderQuote](ctx, c, "/v1.0/dln/order/quote?"+given(query.texts()).Encode())
}

// CreateOrder returns an order and the transaction that creates it.
func (c *Client) CreateOrder(ctx context.Context, query CreationQuery) (OrderQuote, error) {
	return get[OrderQuote](ctx, c, "/v1.0/dln/order/create-tx?"+given(query.texts()).Encode())
}

// Settlement is a transaction that From sends on Chain. On Solana it includes its fee.
type Settlement struct {
	Transaction
	Chain  ChainID `json:"chainId"`
	From   string  `json:"from"`
	Refund string  `json:"cancelBeneficiary"` // receives what a cancelled order or call holds; empty for an unlock
}

// CancelOrder returns the transaction with which an order's authority cancels it.
func (c *Client) CancelOrder(ctx context.Context, id string) (Settlement, error) {
	return get[Settlement](ctx, c, "/v1.0/dln/order/"+url.PathEscape(id)+"/cancel-tx")
}

// CancelCall returns the transaction with which the authority takes a delivery that waits for its external call.
func (c *Client) CancelCall(ctx context.Context, id string) (Settlement, error) {
	return get[Settlement](ctx, c, "/v1.0/dln/order/"+url.PathEscape(id)+"/extcall-cancel-tx")
}

// UnlockOrders returns the transaction that pays a taker for orders of one pair of chains.
func (c *Client) UnlockOrders(ctx context.Context, beneficiary string, ids ...string) (Settlement, error) {
	query := given(map[string]string{"orderIds": strings.Join(ids, ","), "unlockBeneficiary": beneficiary})
	return get[Settlement](ctx, c, "/v1.0/dln/order/unlock-tx?"+query.Encode())
}

// VerifyQuery is a transaction from any software, before it is signed.
type VerifyQuery struct {
	Chain ChainID        `json:"chainId"`
	From  string         `json:"from,omitempty"` // the signer; on Solana it is in Data
	To    string         `json:"to,omitempty"`
	Value *big.Int       `json:"value,omitempty"`
	Data  string         `json:"data"`
	Asked *CreationQuery `json:"request,omitempty"` // to compare the order with; may be nil
}

// Verification is what a transaction would create.
type Verification struct {
	Verdict     string          `json:"verdict"` // Creates, Refused or NotKnown
	Orders      []ExpectedOrder `json:"orders"`
	Differences []struct {
		Parameter string `json:"parameter"`
		Requested string `json:"requested"`
		Found     string `json:"found"`
	} `json:"differences"`
}

// ExpectedOrder is an order that a transaction would create.
type ExpectedOrder struct {
	ID      Text `json:"orderId"`
	Refusal *struct {
		Message string `json:"message"`
	} `json:"refusal"` // nil if none is known
	NotKnown []string `json:"notKnown"` // checks that could not be made
	Warnings []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"warnings"`
}

// Verify returns what a transaction would create, and how that differs from VerifyQuery.Asked.
func (c *Client) Verify(ctx context.Context, query VerifyQuery) (verified Verification, err error) {
	_, err = c.Ask(ctx, http.MethodPost, "/v1.0/dln/order/verify", query, &verified)
	return verified, err
}
