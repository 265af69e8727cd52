package solana

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

const mostHistoryPages = 16

// History returns the events that one side of an order left on this chain; see order.Reader. Each side has
// an account that every step names, so the account's transactions are the order's: one round trip lists them, one reads
// them and the next page, which is empty. Where endpoints contradict each other, each is heard by itself. No list ends
// at since: it is short, and its times are one endpoint's word.
func (c *Chain) History(ctx context.Context, id order.ID, side order.Side, _ uint64) (order.Evidence, error) {
	read, err := c.historyBy(ctx, c.rpc, id, side)
	if class := upstream.ClassOf(err); err != nil && (class == 0 || class == upstream.BadAnswer || class == upstream.Rejected) {
		c.rpc.OneByOne(listSignatures, func(alone *jsonrpc.Client) bool {
			read, err = c.historyBy(ctx, alone, id, side)
			return err == nil || ctx.Err() != nil
		})
	}
	return read, err
}

func (c *Chain) historyBy(ctx context.Context, rpc *jsonrpc.Client, id order.ID, side order.Side) (read order.Evidence, err error) {
	accounts := c.accounts(id, side)
	pages := make(map[chain.Address]*historyPage)
	for _, account := range accounts {
		pages[account] = newHistoryPage(account, cursor{})
	}
	if err := rpc.All(ctx, callsOf(pages)...); err != nil {
		return read, err
	}
	read.Standing = order.Intrinsic
	found := &orderTransactions{chain: c, blocks: make(map[uint64]**block)}
	for range mostHistoryPages {
		var listed []signature
		next := make(map[chain.Address]*historyPage)
		for account, page := range pages {
			read.Standing = min(read.Standing, standingOf(page.call))
			if len(page.list) > 0 {
				next[account] = newHistoryPage(account, cursor{before: page.oldest()})
			}
			listed = append(listed, page.list...)
		}
		if len(listed) == 0 {
			return c.sideOf(ctx, found, id, side, read)
		}
		part, err := c.inBlocks(ctx, rpc, distinct(listed), true, callsOf(next)...)
		if err != nil {
			return read, err
		}
		for _, asked := range part.asked {
			if read.Standing = min(read.Standing, standingOf(asked)); asked.Seconded != "" {
				c.faulty.Mark(asked.Contradicting()...)
			}
		}
		found.dated = append(found.dated, part.dated...)
		found.transactions, pages = append(found.transactions, part.transactions...), next
		maps.Copy(found.blocks, part.blocks)
	}
	return read, fmt.Errorf("chain %d: too many transactions name order %s", c.chain.ID, id)
}

// sideOf returns the events of one side of an order among transactions.
func (c *Chain) sideOf(
	ctx context.Context, found *orderTransactions, id order.ID, side order.Side, read order.Evidence,
) (order.Evidence, error) {
	accounts := c.accounts(id, side)
	events, err := found.events(func(account chain.Address) (order.ID, bool) {
		return id, slices.Contains(accounts, account)
	})
	if err := cmp.Or(err, found.aside()); err != nil {
		return read, fmt.Errorf("chain %d: %w", c.chain.ID, err)
	}
	isOther := func(e order.Event) bool { return e.Order != id || order.SideOf(e.Fact) != side }
	read.Events = slices.CompactFunc(slices.DeleteFunc(events, isOther), func(a, b order.Event) bool { return a.At == b.At })
	isUndated := func(asked *jsonrpc.Call) bool { return asked.Seconded == "" }
	if read.Standing > order.Single && slices.ContainsFunc(found.dated, isUndated) {
		dated, err := c.Attest(ctx, read.Events)
		if err != nil {
			return read, err
		}
		read.Events, read.Standing = dated.Events, min(read.Standing, dated.Standing)
	}
	read.Wrong = c.faulty.Unreported()
	return read, nil
}

type historyPage struct {
	list []signature
	call *jsonrpc.Call
}

func newHistoryPage(account chain.Address, bounds cursor) *historyPage {
	p := new(historyPage)
	p.call = historyCall(&p.list, account, bounds)
	return p
}

func callsOf(pages map[chain.Address]*historyPage) (calls []*jsonrpc.Call) {
	for _, page := range pages {
		calls = append(calls, page.call)
	}
	return calls
}

// oldest returns the transaction before which the next page begins.
func (p *historyPage) oldest() (tx chain.TxHash) {
	var slot uint64
	for i, each := range p.list {
		if i == 0 || each.Slot <= slot {
			tx, slot = each.Signature, each.Slot
		}
	}
	return tx
}

// accounts returns the accounts that the steps of one side of an order name.
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
