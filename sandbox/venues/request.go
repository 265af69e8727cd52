package venues

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// invalid is a mistake in a request, described for the client.
type invalid string

func (i invalid) Error() string        { return string(i) }
func (i invalid) Is(target error) bool { return target == errInvalid }

// Possible mistakes in a request, which each venue words differently.
const (
	errNoChain  = invalid("chain is not served")
	errAmount   = invalid("amount is not a positive whole number")
	errTooLarge = invalid("amount is more than a pool can hold")
	errFee      = invalid("fee cannot be taken")
	errSlippage = invalid("slippage is out of range")
)

var (
	errInvalid      = errors.New("invalid request") // matches every invalid
	errNoRoute      = errors.New("no route")        // through pools, or they pay nothing
	errUnlisted     = fmt.Errorf("%w: token is not listed", errNoRoute)
	errUnauthorized = errors.New("no valid API key")
)

// request is a call of a venue's API.
type request struct {
	*http.Request
	*market
	venue *dialect
	query url.Values
}

// get returns a parameter of the path or the query.
func (r *request) get(name string) string { return cmp.Or(r.PathValue(name), r.query.Get(name)) }

// chainID parses a chain ID parameter; it returns zero, the ID of no chain, if malformed.
func (r *request) chainID(name string) uint64 {
	id, _ := strconv.ParseUint(r.get(name), 10, 64)
	return id
}

// number parses a number parameter, or returns the fallback if missing or malformed.
func (r *request) number(name string, fallback float64) float64 {
	if value, err := strconv.ParseFloat(r.get(name), 64); err == nil {
		return value
	}
	return fallback
}

// ask is a swap in the spelling of a request.
type ask struct {
	chain           uint64
	in, out, amount string
	// fees are shares of the input, which is all the sandbox's router can take, and feesTo their receivers, both
	// separated by commas. One basis point is written as bps; no share may exceed mostBps.
	fees, feesTo string
	bps, mostBps float64
	slippageBps  float64
	mistake      error // in other parts of the request
}

// swap is a swap that a venue can price.
type swap struct {
	chain   *chainMarket
	in, out token
	amount  *big.Int
	shares  []Share
}

func (r *request) swap(a ask) (s swap, err error) {
	var trades, isAmount, inListed, outListed bool
	if s.chain, trades = r.chains[a.chain]; !trades || len(r.venue.routers(a.chain)) == 0 {
		return s, errNoChain
	}
	if s.amount, isAmount = parseAmount(a.amount); !isAmount {
		return s, errAmount
	}
	if s.amount.Cmp(maxAmount) > 0 {
		return s, errTooLarge
	}
	s.in, inListed = s.chain.find(a.in)
	s.out, outListed = s.chain.find(a.out)
	if !inListed || !outListed {
		return s, errUnlisted
	}
	s.shares, err = a.shares()
	return s, cmp.Or(a.mistake, err)
}

func (a ask) shares() (shares []Share, err error) {
	if a.fees == "" {
		return nil, nil
	}
	fees, receivers := strings.Split(a.fees, ","), strings.Split(a.feesTo, ",")
	if len(fees) != len(receivers) {
		return nil, errFee
	}
	for i, text := range fees {
		fee, err := strconv.ParseFloat(text, 64)
		bps := int64(fee/a.bps + 0.5)
		if err != nil || fee < 0 || bps > int64(a.mostBps) || !isAddress(receivers[i]) {
			return nil, errFee
		}
		shares = append(shares, Share{common.HexToAddress(receivers[i]), uint16(bps)})
	}
	return shares, nil
}

// quote is a priced swap.
type quote struct {
	swap
	route
	gross     *big.Int // output of the route
	amountOut *big.Int // after what the venue keeps
	least     *big.Int // minimum output, after slippage
	keptBps   uint16
	deadline  time.Time
	call      func(RouterOrder) []byte // the venue's calldata encoder
}

// callLife is how long calldata is valid if the request has no deadline.
const callLife = 20 * time.Minute

// quote decodes a swap and prices it.
func (r *request) quote(a ask) (quote, error) {
	s, err := r.swap(a)
	if err != nil {
		return quote{}, err
	}
	q, err := r.price(s)
	if err != nil {
		return quote{}, err
	}
	if a.slippageBps < 0 || a.slippageBps > allBps {
		return quote{}, errSlippage
	}
	q.least = less(q.amountOut, a.slippageBps)
	return q, nil
}

// price routes the input that remains after its fees through the pools.
func (r *request) price(s swap) (quote, error) {
	found, err := s.chain.best(r.Context(), s.in.address, s.out.address, lessShares(s.amount, s.shares))
	if err != nil {
		return quote{}, err
	}
	return r.quoteOf(s, found), nil
}

func (r *request) quoteOf(s swap, found route) quote {
	net := less(found.amountOut, float64(r.venue.keptBps))
	return quote{
		swap: s, route: found, gross: found.amountOut, amountOut: net, least: net, keptBps: r.venue.keptBps,
		deadline: r.now().Add(callLife), call: r.venue.call,
	}
}

// calldata returns the venue's calldata for the quote.
func (q quote) calldata(recipient string) string {
	return hexutil.Encode(q.call(q.order(recipient)))
}

// order returns the router's order for the quote and a recipient. It moves the deadline from clock time to the chain's
// time.
func (q quote) order(recipient string) RouterOrder {
	return RouterOrder{
		TokenIn: q.in.address, TokenOut: q.out.address, AmountIn: q.amount, MinAmountOut: q.least,
		Recipient: common.HexToAddress(recipient),
		Plan: Plan{
			Pools: q.pools(), Shares: q.shares, OutputFeeBps: q.keptBps, Deadline: big.NewInt(q.deadline.Add(q.chain.lead(q.chain.id)).Unix()),
		},
	}
}

// value returns the amount of coin that the transaction must carry.
func (q quote) value() *big.Int {
	if q.in.address == coin {
		return q.amount
	}
	return new(big.Int)
}

// gasCost returns the cost of the transaction's gas, in wei.
func (q quote) gasCost() *big.Int { return big.NewInt(q.gas() * gasPrice) }

func (q quote) gasText() string { return strconv.FormatInt(q.gas(), 10) }

func (q quote) gasUSD() string { return q.chain.tokens[coin].usdText(q.gasCost()) }
