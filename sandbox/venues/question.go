package venues

import (
	"context"
	"errors"
	"math/big"
	"strconv"
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

// question is a swap that a venue is asked for. A fee is a share of the input, which is what the sandbox's
// router can take.
type question struct {
	listing     *listing
	in, out     common.Address
	amount      *big.Int
	feeBps      int64
	feeReceiver common.Address
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
	q.feeBps, q.feeReceiver = bps, common.HexToAddress(receiver)
	return q, nil
}

// answer prices the question: what is left of the input after the fee goes through the pools.
func (f *floor) answer(ctx context.Context, q question) (trade, error) {
	return f.best(ctx, q.listing, q.in, q.out, less(q.amount, q.feeBps))
}

// callLife is how long the calldata of venues that are not told a deadline can be sent.
const callLife = 20 * time.Minute

// call is the router's call that makes a trade.
func (f *floor) call(q question, t trade, minimum *big.Int, recipient string, outputFeeBps uint16) call {
	return call{
		TokenIn: q.in, TokenOut: q.out, AmountIn: q.amount, MinAmountOut: minimum,
		Recipient: common.HexToAddress(recipient), Pools: t.pools(),
		FeeReceiver: q.feeReceiver, InputFeeBps: uint16(q.feeBps), OutputFeeBps: outputFeeBps,
		Deadline: big.NewInt(f.now().Add(callLife).Unix()),
	}
}
