package venues

import (
	"context"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// What can be wrong with a question; each venue has its own words for it.
var (
	errNoChain  = errors.New("chain is not served")
	errAmount   = errors.New("amount is not a positive whole number")
	errUnlisted = errors.New("token is not listed")
	errFee      = errors.New("fee cannot be taken")
)

// refusal is a request that an API declines in its own words, with its HTTP status.
type refusal struct {
	status int
	words  string
}

func (r refusal) Error() string { return r.words }

// question is a swap that a venue is asked for. A fee is a share of the input, which is what the sandbox's
// router can take.
type question struct {
	listing *listing
	in, out common.Address
	amount  *big.Int
	shares  []Share
}

// question reads what every venue is told in one spelling or another.
func (f *floor) question(chain uint64, in, out, amount string) (q question, err error) {
	l, served := f.chains[chain]
	if !served {
		return q, errNoChain
	}
	var valid, inListed, outListed bool
	q.listing = l
	if q.amount, valid = parseAmount(amount); !valid || q.amount.Cmp(maxAmount) > 0 {
		return q, errAmount
	}
	q.in, _, inListed = l.find(in)
	q.out, _, outListed = l.find(out)
	if !inListed || !outListed {
		return q, errUnlisted
	}
	return q, nil
}

// withFee adds a fee, in basis points as text scaled by perBps, unless there is none.
func (q question) withFee(text string, perBps float64, receiver string, mostBps int64) (question, error) {
	if text == "" {
		return q, nil
	}
	share, err := strconv.ParseFloat(text, 64)
	bps := int64(share/perBps + 0.5)
	if err != nil || share < 0 || bps > mostBps || !isAddress(receiver) {
		return q, errFee
	}
	q.shares = append(q.shares, Share{common.HexToAddress(receiver), uint16(bps)})
	return q, nil
}

// withFees adds fees that are listed with commas between them, one receiver for each.
func (q question) withFees(texts, receivers string, mostBps int64) (question, error) {
	if texts == "" {
		return q, nil
	}
	each, paid := strings.Split(texts, ","), strings.Split(receivers, ",")
	if len(each) != len(paid) {
		return q, errFee
	}
	var err error
	for i, text := range each {
		if q, err = q.withFee(text, 1, paid[i], mostBps); err != nil {
			return q, err
		}
	}
	return q, nil
}

// answer prices the question: what is left of the input after the fee goes through the pools.
func (f *floor) answer(ctx context.Context, q question) (trade, error) {
	return f.best(ctx, q.listing, q.in, q.out, lessShares(q.amount, q.shares))
}

// callLife is how long the calldata of venues that are not told a deadline can be sent.
const callLife = 20 * time.Minute

// call is the router's call that makes a trade.
func (f *floor) call(q question, t trade, minimum *big.Int, recipient string, outputFeeBps uint16) call {
	return call{
		TokenIn: q.in, TokenOut: q.out, AmountIn: q.amount, MinAmountOut: minimum,
		Recipient: common.HexToAddress(recipient), Pools: t.pools(),
		Shares: q.shares, OutputFeeBps: outputFeeBps,
		Deadline: big.NewInt(f.now().Add(callLife).Unix()),
	}
}
