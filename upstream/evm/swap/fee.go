// Package swap has what swaps need of EVM chains: Fees, the Simulator, the Guard and the public Router. On TRON,
// gas is energy, bandwidth is paid for in addition, and nodes take no overrides of states.
package swap

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// Fees reads what transactions cost on a chain. Safe for concurrent use.
type Fees struct {
	chain           *evm.Chain
	known           quote.Renewed[quote.PricesOfGas]
	gas, publishing believed // prices of a unit of gas, and of publishing a byte
}

var _ quote.FeeSource = (*Fees)(nil)

// NewFees returns a reader of costs on the newest block of c.
func NewFees(c *evm.Chain) *Fees { return &Fees{chain: c} }

// feeBlocks is the number of blocks whose tips are examined, feePercentiles the percentiles for Normal and Aggressive.
const feeBlocks = 10

var feePercentiles = []int{50, 90}

// leastTip is the tip below which nodes drop transactions, in wei (docs.polygon.technology).
var leastTip = map[chain.ID]chain.Amount{137: chain.NewAmount(25_000_000_000)}

const feeHistoryMethod = "eth_feeHistory"

// feeHistory is the answer to eth_feeHistory (execution-apis, fee_market.yaml): base fees of the blocks and,
// last, of the next one; for each block the tips at the percentiles.
type feeHistory struct {
	BaseFees      []evm.Amount   `json:"baseFeePerGas"`
	Rewards       [][]evm.Amount `json:"reward"`
	GasUsedRatios []float64      `json:"gasUsedRatio"`
}

// Prices are current for half a block, within these bounds: each block has its own base fee.
const (
	shortestFeeLife = 500 * time.Millisecond
	longestFeeLife  = 5 * time.Second
)

// GasPrice returns the price of gas of at most a block ago, usually without a round trip. Expected is the next base fee
// plus the median tip of the recent blocks with transactions; MaxFee leaves room for the base fee to double, for
// Aggressive to treble. Chains without base fees are asked for their gas price.
func (f *Fees) GasPrice(ctx context.Context, p quote.Priority) (quote.GasPrice, error) {
	prices, err := f.known.Get(ctx, f.readFees)
	return prices[p], err
}

// RenewGasPrice implements quote.FeeSource.
func (f *Fees) RenewGasPrice(ctx context.Context) { f.known.Renew(ctx, f.readFees) }

// believed is the last price that two endpoints agreed on: makers of orders pay takers for what these will pay, and
// takers fill what pays them. The zero value has none.
type believed struct{ price atomic.Pointer[chain.Amount] }

func (b *believed) last() chain.Amount {
	if price := b.price.Load(); price != nil {
		return *price
	}
	return chain.Amount{}
}

// hear takes a price from a call's result.
func (b *believed) hear(asked *jsonrpc.Call, price chain.Amount) {
	if asked.Err == nil && asked.Seconded != "" {
		b.price.Store(&price)
	}
}

// isFar reports whether one price is more than twice the other: so far they rarely move between readings.
func isFar(a, b chain.Amount) bool { return a.Cmp(b.MulDiv(2, 1)) > 0 || b.Cmp(a.MulDiv(2, 1)) > 0 }

// doubtFar has a call doubt prices that are far from one that is believed. Of two endpoints' that are far from each
// other, one near to that counts, else the lower.
func doubtFar[T any](asked *jsonrpc.Call, last chain.Amount, price func(T) chain.Amount) {
	of := func(result any) chain.Amount { return price(*result.(*T)) }
	asked.Doubt = func(result any) bool { return isFar(of(result), last) }
	jsonrpc.Prefer(asked, func(a, b T) int {
		switch aIsFar, bIsFar := isFar(price(a), last), isFar(price(b), last); {
		case aIsFar && !bIsFar:
			return -1
		case bIsFar && !aIsFar:
			return 1
		}
		return price(b).Cmp(price(a))
	})
	asked.Same = func(a, b any) bool { return !isFar(of(a), of(b)) }
}

// readFees reads the chain's prices of gas in one round trip, or two if the price moved far.
func (f *Fees) readFees(ctx context.Context) (prices quote.PricesOfGas, current time.Duration, err error) {
	var history *feeHistory
	var plain evm.Amount
	historyCall := jsonrpc.NewCall(&history, nil, feeHistoryMethod, evm.Quantity(feeBlocks), "latest", feePercentiles)
	plainCall := jsonrpc.NewCall(&plain, nil, "eth_gasPrice")
	calls, last := []*jsonrpc.Call{plainCall, historyCall}, f.gas.last()
	doubtFar(plainCall, last, func(a evm.Amount) chain.Amount { return a.Amount })
	doubtFar(historyCall, last, (*feeHistory).dearest)
	isTron := f.chain.Facts().Family == chain.TVM
	isFlat := isTron || f.chain.Client().Lacks(feeHistoryMethod, "")
	if isFlat {
		calls = calls[:1]
	}
	f.chain.Client().Each(ctx, calls...)
	current = min(max(f.chain.Facts().BlockTime/2, shortestFeeLife), longestFeeLife)
	counts, price := plainCall, plain.Amount
	isMarket := !isFlat && historyCall.Err == nil && history.hasMarket()
	if isMarket {
		counts, price = historyCall, history.dearest()
	}
	f.gas.hear(counts, price)
	if isMarket {
		least := leastTip[f.chain.Facts().ID]
		return quote.PricesOfGas{history.price(quote.Normal, least), history.price(quote.Aggressive, least)}, current, nil
	}
	prices = quote.PricesOfGas{
		quote.Normal:     {Expected: plain.Amount, Legacy: true},
		quote.Aggressive: {Expected: plain.MulDiv(5, 4), Legacy: true},
	}
	if isTron { // where a unit of energy costs everybody the same
		prices[quote.Aggressive] = prices[quote.Normal]
	}
	return prices, current, plainCall.Err
}

// hasMarket reports whether there is a base fee, or at least tips, to go by.
func (h *feeHistory) hasMarket() bool {
	if h == nil || len(h.BaseFees) == 0 {
		return false
	}
	return !h.BaseFees[len(h.BaseFees)-1].IsZero() || !h.tip(quote.Normal).IsZero()
}

// dearest is the highest price that is paid by the history; more than any if it has no market, so that another
// endpoint's counts.
func (h *feeHistory) dearest() chain.Amount {
	if !h.hasMarket() {
		return chain.NewAmount(math.MaxUint64)
	}
	return h.price(quote.Aggressive, chain.Amount{}).Expected
}

func (h *feeHistory) price(p quote.Priority, least chain.Amount) quote.GasPrice {
	base := h.BaseFees[len(h.BaseFees)-1].Amount
	tips, room := []chain.Amount{h.tip(quote.Normal), least}, uint64(2)
	if p == quote.Aggressive {
		tips, room = append(tips, h.tip(quote.Aggressive), tips[0].MulDiv(5, 4)), 3
	}
	tip := slices.MaxFunc(tips, chain.Amount.Cmp)
	return quote.GasPrice{
		Expected:    base.Add(tip),
		Base:        base,
		MaxFee:      base.MulDiv(room, 1).Add(tip),
		MaxPriority: tip,
	}
}

// tip returns the median of the blocks' tips at the priority's percentile, leaving out empty blocks.
func (h *feeHistory) tip(p quote.Priority) chain.Amount {
	var tips []chain.Amount
	for i, rewards := range h.Rewards {
		empty := i < len(h.GasUsedRatios) && h.GasUsedRatios[i] == 0
		if !empty && int(p) < len(rewards) {
			tips = append(tips, rewards[p].Amount)
		}
	}
	if len(tips) == 0 {
		return chain.Amount{}
	}
	slices.SortFunc(tips, chain.Amount.Cmp)
	return tips[len(tips)/2]
}

// EstimateGas runs tx from sender on the newest block and returns the gas it needs. If the contract refuses, the error
// wraps quote.ErrReverted and contains its reason.
func (f *Fees) EstimateGas(ctx context.Context, sender chain.Address, tx quote.Tx) (uint64, error) {
	var gas evm.Quantity
	err := f.chain.Client().Insist(ctx, jsonrpc.NewCall(&gas, nil, "eth_estimateGas", messageOf(sender, tx)))
	return uint64(gas), reverted(err)
}

// messageOf returns tx as a message from sender.
func messageOf(sender chain.Address, tx quote.Tx) evm.Message {
	return evm.Message{From: &sender, To: tx.To, Data: tx.Data, Value: &evm.Amount{Amount: tx.Value}}
}
