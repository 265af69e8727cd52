package solana

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

// States reads the accounts of orders, 100 at a time; see order.Reader. Accounts from before the programs stored
// amounts require the order's history.
func (c *Chain) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	stored, err := c.storedStates(ctx, c.chain.Contracts.DlnSource, ids, onchain.GiveOrderAccount, onchain.DecodeGiveAccount)
	if err != nil {
		return nil, err
	}
	for i := range stored {
		if each := &stored[i]; each.State == order.StateCreated && each.Amount.IsZero() {
			each.Err = c.readGiven(ctx, ids[i], each)
		}
	}
	return stored, nil
}

// TakeStates reads the accounts of orders on their take side, 100 at a time; see order.Reader.
func (c *Chain) TakeStates(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return c.storedStates(ctx, c.chain.Contracts.DlnDestination, ids, onchain.TakeOrderAccount, onchain.DecodeTakeAccount)
}

// storedStates reads the accounts in which a program stores orders; without an account, the state is zero.
func (c *Chain) storedStates(
	ctx context.Context, program chain.Address, ids []order.ID,
	accountOf func(chain.Contracts, order.ID) chain.Address, decode func([]byte) (order.StoredState, error),
) ([]order.StoredState, error) {
	if program.IsAbsent() {
		return nil, fmt.Errorf("chain %d: no program is configured that stores orders", c.chain.ID)
	}
	accounts := make([]chain.Address, len(ids))
	for i, id := range ids {
		accounts[i] = accountOf(c.chain.Contracts, id)
	}
	var isSingle []func(i int) bool
	states, err := c.readAccounts(ctx, accounts, func(call *jsonrpc.Call) { isSingle = append(isSingle, byAccount(call, decode, program)) })
	if err != nil {
		return nil, err
	}
	stored := make([]order.StoredState, len(ids))
	for i, state := range states {
		if state != nil && state.Owner.Address == program {
			if stored[i], err = decode(state.Data); err != nil {
				stored[i].Err = fmt.Errorf("chain %d: order %s: %w", c.chain.ID, ids[i], err)
			}
		}
		stored[i].IsSingle = isSingle[i/accountsAtOnce](i % accountsAtOnce)
	}
	return stored, nil
}

// readGiven adds the amount that an order gave according to its events.
func (c *Chain) readGiven(ctx context.Context, id order.ID, stored *order.StoredState) error {
	read, err := c.History(ctx, id, order.GiveSide, 0)
	if err != nil {
		return err
	}
	o, created := order.Fold(read.Events)
	if !created {
		return fmt.Errorf("chain %d: order %s has an account but no creation event", c.chain.ID, id)
	}
	stored.Amount, stored.IsSingle = o.GiveFinal, stored.IsSingle || read.Standing == order.Single
	return nil
}

// Origin returns the first slot with orders according to the registry, else slot 0; see order.Reader.
func (c *Chain) Origin(ctx context.Context) (first uint64, err error) {
	var newest uint64
	if err = c.rpc.All(ctx, slotCall(&newest, confirmed)); c.chain.FirstBlock <= newest { // else it is another cluster
		first = c.chain.FirstBlock
	}
	return first, err
}

// byAccount has two voices read accounts, and returns which are one endpoint's word; those of the programs that another
// one has take the place of missing, empty and strangers' ones, and of those whose data make no sense.
func byAccount[T any](asked *jsonrpc.Call, decode func([]byte) (T, error), programs ...chain.Address) (isSingle func(i int) bool) {
	isSame := func(a, b *accountInfo) bool {
		return a == b || a != nil && b != nil && a.Owner == b.Owner && bytes.Equal(a.Data, b.Data)
	}
	weight := func(a *accountInfo) int {
		if a == nil {
			return 0
		}
		if len(a.Data) == 0 || !slices.Contains(programs, a.Owner.Address) {
			return 1
		}
		if _, err := decode(a.Data); err != nil {
			return -1
		}
		return 2
	}
	return jsonrpc.ByItem(asked, func(result *accountInfos) *[]*accountInfo { return &result.Value }, isSame, weight)
}

// find finds something in at most accountsAtOnce accounts, which are read beside other calls. If it is not in one
// endpoint's, another one is asked.
func find[T any](
	ctx context.Context, c *Chain, accounts []chain.Address, in func([]*accountInfo) (T, error), beside ...*jsonrpc.Call,
) (found T, err error) {
	var answer accountInfos
	asked := readCall(&answer, accounts, options{"commitment": confirmed, "encoding": "base64"})
	asked.Doubt = func(result any) bool {
		_, err := in(result.(*accountInfos).Value)
		return err != nil
	}
	if err := c.rpc.All(ctx, append(beside, asked)...); err != nil {
		return found, err
	}
	return in(answer.Value)
}

const accountsAtOnce = 100 // the most that a node takes

// readAccounts reads accounts; a missing one is nil.
func (c *Chain) readAccounts(ctx context.Context, accounts []chain.Address, marks ...func(*jsonrpc.Call)) ([]*accountInfo, error) {
	var answers []*accountInfos
	var calls []*jsonrpc.Call
	for part := range slices.Chunk(accounts, accountsAtOnce) {
		answer := new(accountInfos)
		answers, calls = append(answers, answer), append(calls, readCall(answer, part, options{"commitment": confirmed, "encoding": "base64"}))
		for _, mark := range marks {
			mark(calls[len(calls)-1])
		}
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
