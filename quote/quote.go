// Package quote finds what a same-chain swap costs and which transaction makes it.
//
// A swap has its own type at each stage: Request, Swap, Quote, Tx, Estimate. [Estimator.Estimate] is the walk,
// and a trade is what goes through it:
//
//   - settle reads what venues need to know: metadata, prices, gas price, the terms of the public router (estimate.go)
//   - compareExact finds the input of an exact output by comparing samples of it (exactout.go)
//   - compare plans which venue is asked by which way (plan.go), runs a quote round or takes one of the same block
//     (round.go, roundcache.go), and ranks the candidates by what they leave after fees and gas (compare.go, payout.go)
//   - choose builds the best candidate's transaction, has the chain's Guard check it and its Simulator run it, and goes
//     on to the next one where that fails or pays less than promised (build.go, simulate.go)
//   - estimate adds the transaction's fee and values in USD (fee.go, market.go)
//
// What the package needs it states as small interfaces: [Venue], and for each [Chain] a [Guard], a [FeeSource], a
// [Router] and a [Simulator]. Adapters in upstream fulfill them; all are called from several goroutines at once. A
// trade belongs to the goroutine of its request; a quote round runs in one of its own, since requests share it, with
// one more for each venue, whose panics and delays end there, and which [Estimator.Close] waits for.
package quote

import (
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/token"
)

// What can be wrong with a swap that was asked in the right form.
var (
	ErrUnsupportedChain    = errors.New("no venue serves this chain")
	ErrUnsupportedTokenIn  = errors.New("unsupported input token")
	ErrUnsupportedTokenOut = errors.New("unsupported output token")
	ErrNoRoute             = errors.New("no route")
	// ErrNoAffiliate is ErrNoRoute where a venue may have one and does not give the affiliate his share.
	ErrNoAffiliate = fmt.Errorf("%w that pays the affiliate", ErrNoRoute)
	ErrReverted    = errors.New("transaction would revert")
	ErrSenderLacks = errors.New("the sender lacks what the transaction takes")
	ErrNoMinimum   = errors.New("the slippage leaves no minimum")
)

// Request is a swap as a client asks for it.
type Request struct {
	Chain             chain.ID
	TokenIn, TokenOut chain.Address // the zero address is the native coin
	AmountIn          chain.Amount
	MaxBalance        bool             // in place of AmountIn: all that the sender has, less what the transaction costs
	MinOut            chain.Amount     // in place of AmountIn: the least output for the recipient; zero: any
	Recipient         chain.Address    // absent: prices alone are asked for, no transaction
	Sender            chain.Address    // the recipient when absent
	SlippagePercent   *decimal.Decimal // nil: chosen by us
	Affiliate         Affiliate
	Priority          Priority
	ReferralCode      uint32
	Onward            *Onward       // instead of paying a recipient; nil: one is paid
	Since             time.Time     // rounds begun before are not shared; zero: any is
	Wait              time.Duration // longest wait for venues that the client wants; zero: as long as we would
}

// Affiliate is a share of the input amount that goes to an integrator. Zero: none.
type Affiliate struct {
	Percent   decimal.Decimal // 0.1 means 0.1 %
	Recipient chain.Address
}

// NewAffiliate is a share in basis points.
func NewAffiliate(bps int, recipient chain.Address) Affiliate {
	return Affiliate{Percent: decimal.New(int64(bps), -2), Recipient: recipient}
}

// bps is the share in basis points, rounded down.
func (a Affiliate) bps() int { return int(a.Percent.Shift(2).IntPart()) }

// Priority is how quickly the client wants the transaction in a block.
type Priority uint8

// The documented priority levels.
const (
	Normal Priority = iota
	Aggressive
)

// Swap is a Request with everything settled that venues need: the same for every venue.
type Swap struct {
	Chain             chain.Chain
	In, Out           Side // Out.Amount is not known yet
	Sender, Recipient chain.Address
	SlippagePercent   decimal.Decimal
	Affiliate         Affiliate    // receives a share of the input from the venue
	Second            Affiliate    // one more, of a venue that pays two
	GasPrice          chain.Amount // wei, expected; some venues weigh routes with it
	Bid               chain.Amount // as GasPrice has it, on Solana alone
	Priority          Priority     // venues on Solana put what it costs into their transactions
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
	Gas       uint64       // the venue's own figure; zero when it gives none
	Expires   time.Time    // after which the venue does not stand by it
	Took      time.Duration
	Route     any // whatever the venue's Build needs; opaque to everyone else
}

// Tx is a transaction for the sender to sign, who must have approved To for a token. On Solana Data is the whole of it.
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
	Gross               chain.Amount // that the venue pays, before anything is taken of it
	SlippagePercent     float64
	RecommendedSlippage float64    // percent
	Compared            []Compared // the largest amount first; gas may make another one the best
	Asked               []Asked    // every venue of the chain, with what became of it
	Way                 Way        // that Tx takes
	Tx                  Tx
	Unsimulated         bool         // Tx could not be simulated
	QuotedAt            time.Time    // when venues were asked
	Expires             time.Time    // when the venue stops standing by its quote; zero: it does not say
	ProtocolFee         chain.Amount // out token; what the public router keeps, or the operator of a direct swap
	ProtocolFeeUSD      *float64     // nil: not known
	Fee                 *Fee         // nil when the chain's fees could not be read
	MaxBalance          bool         // all that the sender has is swapped
	Costs               []Cost
}

// Priced is a Side with its USD value, of the output before fees; nil when no price is known.
type Priced struct {
	Side
	USD *float64
}

// Compared is one venue's place in the comparison.
type Compared struct {
	Name      string
	Amount    chain.Amount
	USD       *float64 // nil: not known
	PriceDrop float64  // percent below the first; the first has 0
	ImageURL  string
}

// Asked is one venue by one way, and what became of it.
type Asked struct {
	Venue     string
	Way       Way
	Verdict   Verdict
	Took      time.Duration
	AmountOut chain.Amount // as quoted
	Net       chain.Amount // what the recipient would get of that, before gas
	Gas       uint64
	Result    *Result // of simulating its transaction; nil when it was not simulated
	Err       error   // why it was refused or left out, or why its transaction was not simulated
}

// Verdict is what became of a venue.
type Verdict uint8

// The verdicts, from the best to the worst.
const (
	Won     Verdict = iota // its transaction is the answer
	Outbid                 // another left more
	Refused                // its answer, or its transaction, did not pass
	Silent                 // it did not answer in time
	LeftOut                // it was not asked
)

var verdictNames = [...]string{"won", "outbid", "refused", "silent", "left out"}

func (v Verdict) String() string { return verdictNames[v] }

// Fee is the estimated cost of the transaction itself.
type Fee struct {
	Total    chain.Amount // native coin
	GasLimit uint64       // on TRON energy, on Solana compute units
	Price    GasPrice
	// Part of Total beside gas: on TRON for bandwidth, on Solana for the signature.
	Beside chain.Amount
	// Priority is the part of Total that buys a place in a block: on Solana alone.
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
	// Bid is the price of a compute unit on Solana, in millionths of a lamport, where it stands alone.
	Bid chain.Amount
}

// Cost is one line of the way from the gross payout to the guaranteed one, out token.
type Cost struct {
	Type                string // SingleChainSwapProtocolFee, SingleChainSwapEstimatedSlippage
	AmountIn, AmountOut chain.Amount
	Fee                 chain.Amount
	FeeBps              string // decimal, as the service writes it
}
