package proxy_test

import (
	"context"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
)

// swapped is a swap of USDC on Base for its wrapped coin.
func swapped(t testing.TB, number byte, tx string, at uint64) order.Swap {
	hash := must.Get(chain.ParseTxHash(tx))(t)
	return order.Swap{ID: order.ID{0x5a, number}, At: order.At{Chain: 8453, Tx: hash, Block: 7, BlockHash: chain.Hash{7}, Time: at}, Fact: order.Swapped{
		Sender: address(t, taker), Recipient: address(t, nobody),
		TokenIn: address(t, usdcText), AmountIn: chain.NewAmount(5_000_000),
		TokenOut: address(t, wethText), AmountOut: chain.NewAmount(2000), Fee: chain.NewAmount(2),
	}}
}

// foundSwap has the part of a basis that a swap was read from.
func (a *answering) foundSwap(s order.Swap, from order.Basis) query.FoundSwap {
	c := order.ChainBasis{Chain: s.At.Chain, Followed: true, Final: time.Since(time.Unix(int64(s.At.Time), 0)) > 6*time.Hour}
	return query.FoundSwap{Swap: s, Basis: order.Basis{At: from.At, Behind: from.Behind, Chains: []order.ChainBasis{c}}}
}

func (a *answering) FindSwaps(
	_ context.Context, id chain.ID, tx chain.TxHash,
) (found []query.FoundSwap, searched order.Basis, err error) {
	a.world.asked.Add(1)
	searched = order.Basis{At: time.Now(), Chains: []order.ChainBasis{{Chain: id, Followed: id == 8453}}}
	for _, s := range a.world.swaps {
		if s.At.Tx == tx && s.At.Chain == id {
			found = append(found, a.foundSwap(s, searched))
		}
	}
	switch {
	case tx.String() == plainTx && id == 8453:
		return nil, searched, order.ErrNoSwap
	case len(found) == 0:
		return nil, searched, order.ErrNotFound
	}
	return found, searched, nil
}

func (a *answering) SwapByID(_ context.Context, id order.ID) (query.FoundSwap, error) {
	a.world.asked.Add(1)
	for _, s := range a.world.swaps {
		if s.ID == id && !a.world.unindexed[id] {
			return a.foundSwap(s, a.Basis()), nil
		}
	}
	return query.FoundSwap{Basis: a.Basis()}, order.ErrNotFound
}

// listSwaps lists all swaps, or those that are searched for.
func (a *answering) listSwaps(f list.Filter) (l query.List, err error) {
	a.world.asked.Add(1)
	for i, s := range a.world.swaps {
		if f.Search == nil || f.Search.Tx == s.At.Tx || f.Search.Order == s.ID {
			l.Items = append(l.Items, query.Item{Swap: &a.world.swaps[i]})
		}
	}
	l.Total = uint64(len(l.Items))
	return l, nil
}
