package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/solana"
	"crossgate/upstream/tron"
)

// sourceAt reads a chain from one endpoint.
func sourceAt(c chain.Chain, e *upstream.Endpoint) order.Source {
	rpc := jsonrpc.New(upstream.NewPool(e.Name(), e))
	switch c.Family {
	case chain.SVM:
		return solana.New(c, rpc)
	case chain.TVM:
		return tron.New(c, rpc)
	}
	return evm.New(c, rpc)
}

// knownAnchors are the newest anchors in c's database; none where that cannot be read, which diagnoseStore says.
func knownAnchors(ctx context.Context, c config.Config) map[chain.ID]store.Anchor {
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
	anchors, _ := Database(c).Anchors(ctx)
	return anchors
}

// checkBranch says what an endpoint has in the place of a block that is known to be the chain's, and how old its newest
// block is where that is too old.
func checkBranch(ctx context.Context, c chain.Chain, e *upstream.Endpoint, anchor store.Anchor) (wrong, short string) {
	source := sourceAt(c, e)
	if head, err := source.Head(ctx); err == nil && c.HeadLife() > 0 {
		at := time.Unix(int64(head.Latest.Time), 0)
		if age := time.Since(at); age > c.HeadLife() {
			short = fmt.Sprintf("stale: its newest block is of %s", at.UTC().Format(time.RFC3339))
		}
	}
	if anchor.Hash.IsAbsent() {
		return "", short
	}
	block, err := source.Block(ctx, anchor.Number)
	if err == nil && block.Number == anchor.Number && block.Hash != anchor.Hash {
		err = fmt.Errorf("%w: its block %d is %s, not %s", order.ErrOtherBranch, anchor.Number, block.Hash, anchor.Hash)
	}
	if errors.Is(err, order.ErrOtherBranch) {
		wrong = err.Error()
	}
	return wrong, short
}
