package solana

import (
	"context"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
	"crossgate/upstream/jsonrpc"
)

var _ quote.FeeSource = (*Chain)(nil)

const (
	// signatureFee is what a signature costs, in lamports (https://solana.com/docs/core/fees).
	signatureFee = 5000

	// leastBid is the least bid for a compute unit, in millionths of a lamport: that of the hosted service's own
	// example on an idle chain.
	leastBid = 2000

	// mostBid is the highest bid, at which the most compute units cost what venues may bid: the others' bids are the
	// word of one endpoint, and the maker of an order pays them.
	mostBid = mostFee / 2 * 1_000_000 / solana.MaxComputeUnits

	// bidsLife is how long bids are current: five blocks.
	bidsLife = 2 * time.Second
)

// GasPrice returns the bid for a compute unit: the median of the lowest bids that got into the last blocks; for
// Aggressive the upper quartile, and at least a quarter more than for Normal.
func (c *Chain) GasPrice(ctx context.Context, p quote.Priority) (quote.GasPrice, error) {
	prices, err := c.bids.Get(ctx, c.readBids)
	return prices[p], err
}

// RenewGasPrice implements quote.FeeSource.
func (c *Chain) RenewGasPrice(ctx context.Context) { c.bids.Renew(ctx, c.readBids) }

func (c *Chain) readBids(ctx context.Context) (prices quote.PricesOfGas, current time.Duration, err error) {
	var recent []struct {
		Fee uint64 `json:"prioritizationFee"`
	}
	if err := c.rpc.All(ctx, jsonrpc.NewCall(&recent, nil, "getRecentPrioritizationFees", []string{})); err != nil {
		return prices, 0, err
	}
	fees := make([]uint64, max(len(recent), 1))
	for i, block := range recent {
		fees[i] = min(block.Fee, mostBid)
	}
	slices.Sort(fees)
	normal := max(fees[len(fees)/2], leastBid)
	prices[quote.Normal].Bid = chain.NewAmount(normal)
	prices[quote.Aggressive].Bid = chain.NewAmount(min(max(fees[len(fees)*3/4], normal+normal/4), mostBid))
	return prices, bidsLife, nil
}

// EstimateGas returns the compute units that a transaction takes; see quote.FeeSource.
func (c *Chain) EstimateGas(ctx context.Context, _ chain.Address, tx quote.Tx) (uint64, error) {
	ran, err := c.run(ctx, tx)
	if err != nil {
		return 0, err
	}
	return ran.Units, ran.failure()
}

// DataFee returns the price of a transaction's signatures, at least one; unsigned transactions contain their number.
func (c *Chain) DataFee(_ context.Context, tx quote.Tx, _ uint64) (chain.Amount, error) {
	signatures := uint64(1)
	if len(tx.Data) > 0 {
		signatures = uint64(tx.Data[0])
	}
	return chain.NewAmount(signatureFee * signatures), nil
}
