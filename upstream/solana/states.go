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

var (
	_ order.StateReader     = (*Chain)(nil)
	_ order.TakeStateReader = (*Chain)(nil)
)

// States reads the accounts of orders, 100 at a time; see order.StateReader. Accounts from before the programs stored
// amounts take a look at the order's history.
func (c *Chain) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	if c.chain.Contracts.DlnSource.IsAbsent() {
		return nil, fmt.Errorf("chain %d: no program is configured that stores orders", c.chain.ID)
	}
	accounts := make([]chain.Address, len(ids))
	for i, id := range ids {
		accounts[i] = onchain.GiveOrderAccount(c.chain.Contracts, id)
	}
	states, err := c.readAccounts(ctx, accounts)
	if err != nil {
		return nil, err
	}
	found := make([]order.StoredState, len(ids))
	for i, state := range states {
		var stored onchain.GiveOrder
		if state != nil && state.Owner.Address == c.chain.Contracts.DlnSource {
			if stored, err = onchain.DecodeGiveAccount(state.Data); err != nil {
				return nil, fmt.Errorf("chain %d: order %s: %w", c.chain.ID, ids[i], err)
			}
		}
		found[i] = order.StoredState{State: stored.Status.State(), Amount: stored.Amount}
		if stored.Status == onchain.GiveCreated && stored.Amount.IsZero() {
			if found[i].Amount, err = c.given(ctx, ids[i]); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// TakeStates reads the accounts of orders on their take side, 100 at a time; see order.TakeStateReader.
func (c *Chain) TakeStates(ctx context.Context, ids []order.ID) ([]order.State, error) {
	if c.chain.Contracts.DlnDestination.IsAbsent() {
		return nil, fmt.Errorf("chain %d: no program is configured that stores taken orders", c.chain.ID)
	}
	accounts := make([]chain.Address, len(ids))
	for i, id := range ids {
		accounts[i] = onchain.TakeOrderAccount(c.chain.Contracts, id)
	}
	states, err := c.readAccounts(ctx, accounts)
	if err != nil {
		return nil, err
	}
	found := make([]order.State, len(ids))
	for i, state := range states {
		if state == nil || state.Owner.Address != c.chain.Contracts.DlnDestination {
			continue
		}
		stored, err := onchain.DecodeTakeAccount(state.Data)
		if err != nil {
			return nil, fmt.Errorf("chain %d: order %s: %w", c.chain.ID, ids[i], err)
		}
		found[i] = stored.State()
	}
	return found, nil
}

// given returns what an order's events say that was given.
func (c *Chain) given(ctx context.Context, id order.ID) (chain.Amount, error) {
	events, err := c.History(ctx, id, order.GiveSide, 0)
	if err != nil {
		return chain.Amount{}, err
	}
	o, created := order.Fold(events)
	if !created {
		return chain.Amount{}, fmt.Errorf("chain %d: order %s has an account and no creation event", c.chain.ID, id)
	}
	return o.GiveFinal, nil
}

// Origin finds the slot of the oldest transaction that names one of the protocol's programs; see order.StateReader.
func (c *Chain) Origin(ctx context.Context) (uint64, error) {
	var before uint64 // without a transaction up to here
	if err := c.rpc.All(ctx, jsonrpc.NewCall(&before, nil, "getFirstAvailableBlock")); err != nil {
		return 0, err
	}
	oldest, whole, err := c.oldest(ctx, chain.TxHash{})
	if err != nil {
		return 0, err
	}
	for !whole && oldest > before && oldest-before > nearSlots {
		middle := before + (oldest-before)/2
		anchor, err := c.behind(ctx, middle)
		if err != nil {
			return 0, err
		}
		if anchor.IsAbsent() {
			return before, nil
		}
		slot, rest, err := c.oldest(ctx, anchor)
		switch {
		case err != nil:
			return 0, err
		case slot == 0:
			before = middle
		default:
			oldest, whole = slot, rest
		}
	}
	if whole {
		return oldest, nil
	}
	return before, nil
}

// oldest returns the oldest slot among the programs' next transactions before one, zero without any, and
// whether none is before it.
func (c *Chain) oldest(ctx context.Context, before chain.TxHash) (slot uint64, whole bool, err error) {
	pages := make([][]signature, len(c.programs))
	calls := make([]*jsonrpc.Call, len(c.programs))
	for i, each := range c.programs {
		calls[i] = signaturesCall(&pages[i], each.address, cursor{before: before})
	}
	if err := c.rpc.All(ctx, calls...); err != nil {
		return 0, false, err
	}
	whole = true
	for _, page := range pages {
		if len(page) == 0 {
			continue
		}
		whole = whole && len(page) < signaturesAtOnce
		if last := page[len(page)-1].Slot; slot == 0 || last < slot {
			slot = last
		}
	}
	return slot, whole, nil
}

// readAccounts reads accounts; nil where there is none.
func (c *Chain) readAccounts(ctx context.Context, accounts []chain.Address) ([]*accountInfo, error) {
	const most = 100 // that a node takes
	var answers []*accountInfos
	var calls []*jsonrpc.Call
	for part := range slices.Chunk(accounts, most) {
		answer := new(accountInfos)
		answers, calls = append(answers, answer), append(calls, accountsCall(answer, part))
	}
	if len(calls) == 0 {
		return nil, nil
	}
	if err := c.rpc.All(ctx, calls...); err != nil {
		return nil, err
	}
	var found []*accountInfo
	for _, answer := range answers {
		found = append(found, answer.Value...)
	}
	return found, nil
}
