// Package quote finds the cost of a same-chain swap and the transaction that makes it.
//
// A swap has its own type at each stage: Request, Swap, Quote, Tx, Estimate. [Estimator.Estimate] walks a trade
// through them:
//
//   - settle reads what venues need to know: metadata, prices, gas price, the terms of the public router (estimate.go)
//   - compareExact finds the input for an exact output by comparing samples (exactout.go)
//   - compare plans which venues to ask by which way (plan.go), runs a quote round or shares one of the same block
//     (round.go, roundcache.go), and ranks the candidates by what they leave after fees and gas (compare.go, payout.go)
//   - choose builds the best candidate's transaction, has the chain's Guard check it and its Simulator run it, and goes
//     on to the next one if that fails or pays less than promised (build.go)
//   - estimate adds the transaction's fee and values in USD (fee.go, market.go)
//
// The package states its needs as small interfaces: [Venue], and for each [Chain] a [Guard], a [FeeSource], a
// [Router] and a [Simulator]. Adapters in upstream implement them; all are called concurrently. A trade belongs to
// the goroutine of its request. A quote round, which requests share, runs in a goroutine of its own, with one more
// for each venue to contain its panics and delays; [Estimator.Close] waits for them.
package quote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/token"
)

// Errors of a well-formed swap request.
var (
	ErrUnsupportedChain    = errors.New("no venue serves this chain")
	ErrUnsupportedTokenIn  = errors.New("unsupported input token")
	ErrUnsupportedTokenOut = errors.New("unsupported output token")
	ErrNoRoute             = errors.New("no route")
	// ErrNoAffiliate is ErrNoRoute of venues that may have a route but do not pay the affiliate's share.
	ErrNoAffiliate = fmt.Errorf("%w that pays the affiliate", ErrNoRoute)
	ErrReverted    = errors.New("transaction would revert")
	ErrSenderLacks = errors.New("the sender lacks funds for the transaction")
	ErrNoMinimum   = errors.New("the slippage leaves no minimum")
)

// Request is a swap as requested by a client.
type Request struct {
	Chain             chain.ID
	TokenIn, TokenOut chain.Address // the zero address is the native coin
	AmountIn          chain.Amount
	MaxBalance        bool             // instead of AmountIn: the sender's whole balance, less the transaction's cost
	MinOut            chain.Amount     // instead of AmountIn: the least output for the recipient; zero: any
	Recipient         chain.Address    // absent: only prices are requested, no transaction
	Sender            chain.Address    // the recipient if absent
	SlippagePercent   *decimal.Decimal // nil: chosen by the gateway
	Affiliate         Affiliate
	Priority          Priority
	ReferralCode      uint32
	Onward            *Onward       // takes the output instead of a recipient; nil: the recipient is paid
	Since             time.Time     // earlier rounds are not shared; zero: any may be
	Wait              time.Duration // the client's limit on waiting for venues; zero: the gateway's
}

// Affiliate is a share of the input amount that goes to an integrator. Zero: none.
type Affiliate struct {
	Percent   decimal.Decimal // 0.1 means 0.1 %
	Recipient chain.Address
}

// NewAffiliate returns an affiliate with a share in basis points.
func NewAffiliate(bps int, recipient chain.Address) Affiliate {
	return Affiliate{Percent: decimal.New(int64(bps), -2), Recipient: recipient}
}

// bps returns the share in basis points, rounded down.
func (a Affiliate) bps() int { return int(a.Percent.Shift(2).IntPart()) }

// Priority is how quickly the client wants the transaction included in a block.
type Priority uint8

// The documented priority levels.
const (
	Normal Priority = iota
	Aggressive
)

// Swap is a Request with everything filled in that venues need: the same for every venue.
type Swap struct {
	Chain             chain.Chain
	In, Out           Side // Out.Amount is not known yet
	Sender, Recipient chain.Address
	SlippagePercent   decimal.Decimal
	Affiliate         Affiliate    // receives a share of the input from the venue
	Second            Affiliate    // a second one, for venues that pay two
	GasPrice          chain.Amount // wei, expected; some venues weigh routes with it
	Bid               chain.Amount // like GasPrice.Bid; Solana only
	Priority          Priority     // venues on Solana put its fee into their transactions
}

// Side is one token of a swap and an amount of it.
type Side struct {
	Address chain.Address
	Token   token.Token
	Amount  chain.Amount
}

// Quote is a venue's price for a Swap.
type Quote struct {
	Venue     string
	AmountOut chain.Amount // what the recipient gets before slippage, after every fee of venue and affiliate
	Gas       uint64       // the venue's own figure; zero if it has none
	Expires   time.Time    // the venue does not stand by it from then on
	Took      time.Duration
	Route     any // whatever the venue's Build needs; opaque to everyone else
}

// Tx is a transaction for the sender to sign, after approving To for a token. On Solana Data is the whole transaction.
type Tx struct {
	To    chain.Address
	Data  []byte
	Value chain.Amount // native coin, smallest units
}

// Estimate is the whole answer to a Request.
type Estimate struct {
	Chain               chain.Chain
	In, Out             Priced
	MinOut              chain.Amount // what the calldata enforces
	Gross               chain.Amount // paid by the venue, before any share is taken
	SlippagePercent     float64
	RecommendedSlippage float64    // percent
	Compared            []Compared // largest amount first; gas may make another one the winner
	Asked               []Asked    // every venue of the chain, with its verdict
	Way                 Way        // of Tx
	Tx                  Tx
	Unsimulated         bool         // Tx could not be simulated
	QuotedAt            time.Time    // when venues were asked
	Expires             time.Time    // when the venue stops standing by its quote; zero if it does not say
	ProtocolFee         chain.Amount // out token; kept by the public router, or by the operator of a direct swap
	ProtocolFeeUSD      *float64     // nil: not known
	Fee                 *Fee         // nil if the chain's fees could not be read
	MaxBalance          bool         // the sender's whole balance is swapped
	Costs               []Cost
}

// Priced is a Side with its USD value, for the output before fees; nil if no price is known.
type Priced struct {
	Side
	USD *float64
}

// Compared is one venue's line in the comparison.
type Compared struct {
	Name      string
	Amount    chain.Amount
	USD       *float64 // nil: not known
	PriceDrop float64  // percent below the first; the first has 0
	ImageURL  string
}

// Asked is one venue, asked for one way, and its verdict.
type Asked struct {
	Venue     string
	Way       Way
	Verdict   Verdict
	Took      time.Duration
	AmountOut chain.Amount // as quoted
	Net       chain.Amount // what the recipient would get of that, before gas
	Gas       uint64
	Result    *Result // of simulating its transaction; nil if it was not simulated
	Err       error   // why it was refused or left out, or why its transaction was not simulated
}

// Verdict is how a venue fared.
type Verdict uint8

// The verdicts, from the best to the worst.
const (
	Won     Verdict = iota // its transaction is the answer
	Outbid                 // another left more
	Refused                // its answer or its transaction was rejected
	Silent                 // it did not answer in time
	LeftOut                // it was not asked
)

var verdictNames = [...]string{"won", "outbid", "refused", "silent", "left out"}

func (v Verdict) String() string { return verdictNames[v] }

// Fee is the estimated cost of the transaction itself.
type Fee struct {
	Total    chain.Amount // native coin
	GasLimit uint64       // TRON: energy; Solana: compute units
	Price    GasPrice
	// Beside is the part of Total besides gas: for bandwidth on TRON, for the signature on Solana.
	Beside chain.Amount
	// Priority is the part of Total that pays for priority; Solana only.
	Priority chain.Amount
	USD      *float64 // nil: not known
}

// GasPrice is what a unit of gas costs on an EVM chain, in wei, or of energy on TRON, in sun.
type GasPrice struct {
	Expected    chain.Amount // what will most likely be paid
	Base        chain.Amount // next block's base fee; zero on chains without one
	MaxFee      chain.Amount
	MaxPriority chain.Amount
	Legacy      bool // the chain has no base fee: only Expected counts
	// Bid is the price of a compute unit on Solana, in millionths of a lamport; no other field is set there.
	Bid chain.Amount
}

// PricesOfGas are a chain's gas prices by priority.
type PricesOfGas [Aggressive + 1]GasPrice

// Cost is one line on the way from the gross to the guaranteed payout, in the out token.
type Cost struct {
	Type                string // SingleChainSwapProtocolFee, SingleChainSwapEstimatedSlippage
	AmountIn, AmountOut chain.Amount
	Fee                 chain.Amount
	FeeBps              string // decimal, as the service writes it
}

// Onward makes the public router call another contract with the output, and take no share for itself or an affiliate.
// Only venues that the router calls are asked.
type Onward struct {
	Target   chain.Address // the router must be able to call it, too
	Expected chain.Amount  // output that the target takes; zero if only prices are requested, as without a recipient
	// Make builds the router's transaction from a venue's.
	Make func(venue Tx) Tx
	// Check simulates the router's transaction and returns the gas it needs. On an error it is not handed out.
	Check func(context.Context, Tx) (gas uint64, err error)
}

// Example returns a small swap of a chain's coin by its order contract, to probe a venue for quotes. It is never sent.
func Example(c chain.Chain, out token.Key) Swap {
	const little = 4 // digits below one coin
	amount := chain.NewAmount(1)
	for range max(c.Coin.Decimals, little) - little {
		amount = amount.MulDiv(10, 1)
	}
	return Swap{
		Chain: c, SlippagePercent: decimal.NewFromInt(1), GasPrice: chain.NewAmount(1e9),
		In:     Side{Address: chain.NativeCoin(c.Family), Token: token.Token{Decimals: c.Coin.Decimals, Symbol: c.Coin.Symbol}, Amount: amount},
		Out:    Side{Address: out.Address, Token: token.Token{Decimals: 6}},
		Sender: c.Contracts.DlnSource, Recipient: c.Contracts.DlnSource,
	}
}
