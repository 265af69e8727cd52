package solana

import (
	"context"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

// History returns the events that one side of an order left on this chain; see order.HistorySource. Each side has
// an account that every step names, so the account's transactions are the order's: one round trip lists them,
// one reads them.
func (c *Chain) History(ctx context.Context, id order.ID, side order.Side, since uint64) ([]order.Event, error) {
	accounts := c.accounts(id, side)
	lists := make([][]signature, len(accounts))
	calls := make([]*jsonrpc.Call, len(accounts))
	for i, account := range accounts {
		calls[i] = historyCall(&lists[i], account)
	}
	if err := c.rpc.All(ctx, calls...); err != nil {
		return nil, err
	}
	for _, list := range lists {
		if len(list) == signaturesAtOnce {
			return nil, fmt.Errorf("chain %d: too many transactions name order %s", c.chain.ID, id)
		}
	}
	listed := slices.DeleteFunc(distinct(slices.Concat(lists...)), func(s signature) bool {
		return s.BlockTime != nil && seconds(s.BlockTime) < since
	})
	read, err := c.inBlocks(ctx, listed)
	if err != nil {
		return nil, err
	}
	if err := read.aside(); err != nil {
		return nil, fmt.Errorf("chain %d: %w", c.chain.ID, err)
	}
	events, err := read.events(func(account chain.Address) (order.ID, bool) {
		return id, slices.Contains(accounts, account)
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(events, func(e order.Event) bool { return e.Order != id || !isOf(side, e.Fact) }), nil
}

// accounts are those that the steps of one side of an order name.
func (c *Chain) accounts(id order.ID, side order.Side) []chain.Address {
	contracts := c.chain.Contracts
	if side == order.GiveSide {
		return []chain.Address{onchain.GiveOrderAccount(contracts, id)}
	}
	accounts := []chain.Address{onchain.TakeOrderAccount(contracts, id)}
	if call := onchain.CallAccount(contracts, id); !call.IsAbsent() {
		accounts = append(accounts, call)
	}
	return accounts
}

// isOf reports whether a fact belongs to a side: an order from Solana to Solana has both on this chain.
func isOf(side order.Side, fact order.Fact) bool {
	switch fact.(type) {
	case order.Created, order.GiveIncreased, order.Claimed:
		return side == order.GiveSide
	}
	return side == order.TakeSide
}
