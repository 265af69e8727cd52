// Package solana reads Solana over JSON-RPC: order events, token metadata, and what transactions cost and do.
//
// A Chain implements the domain's small interfaces, most in a file each. Solana has no logs to search: events are read
// from the transactions that name the order programs (listing.go), or the account of one order. Unlocks are sent in
// batches that identify orders only by their accounts, which names.go maps to orders. calls.go builds the calls and
// checks the form of their results; package order/onchain decodes the transactions.
//
// Endpoints prove that they serve this cluster by the hash of its first block. Everything is safe for concurrent use.
package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"crossgate/cache/recent"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// Chain is Solana. Blocks are numbered by slot; a slot may have no block. Answers are confirmed: two thirds of the
// stake voted for the block, and no such block was ever dropped. Safe for concurrent use.
type Chain struct {
	chain chain.Chain
	rpc   *jsonrpc.Client
	// names has orders by their accounts, from the fulfilments seen. Unlocks follow minutes or hours later, in batches
	// that identify orders by their accounts.
	names recent.Map[chain.Address, order.ID]

	faulty   jsonrpc.Faulty
	sources  jsonrpc.Sources // of transactions
	programs []*program      // of the order protocol
	newest   atomic.Uint64   // slot, as of the last Head
	bids     quote.Renewed[quote.PricesOfGas]
}

var (
	_ order.Source = (*Chain)(nil)
	_ order.Reader = (*Chain)(nil)
)

// New returns the chain that rpc's endpoints serve. Their first use verifies that they do, by the hash of the first
// block: those of another cluster must never be believed.
func New(c chain.Chain, rpc *jsonrpc.Client) *Chain {
	made := &Chain{chain: c, names: recent.Map[chain.Address, order.ID]{Limit: mostNames}}
	made.rpc = rpc.Proving(fmt.Sprintf("chain %d", c.ID), jsonrpc.NewCall(new(blockHash), func(genesis blockHash) error {
		if got := chain.Hash(genesis); got != c.Genesis {
			return fmt.Errorf("endpoint serves the chain that begins with block %s, not %s", got.Format(chain.SVM), c.Genesis.Format(chain.SVM))
		}
		return nil
	}, "getGenesisHash"))
	for _, address := range []chain.Address{c.Contracts.DlnSource, c.Contracts.DlnDestination, c.Contracts.ExternalCallAdapter} {
		if !address.IsAbsent() {
			made.programs = append(made.programs, &program{address: address})
		}
	}
	return made
}

// Head returns the newest confirmed block, and the newest finalized one.
func (c *Chain) Head(ctx context.Context) (order.Head, error) {
	ctx = upstream.Following.For(ctx)
	head, by, err := c.headBy(ctx, c.rpc)
	if errors.Is(err, order.ErrNotFound) { // an endpoint may claim to be ahead of all blocks
		head, _, err = c.headBy(ctx, c.rpc.Avoiding(by))
	}
	return head, err
}

// headBy is Head with a given client. It also returns the endpoint that reported the newest slot.
func (c *Chain) headBy(ctx context.Context, rpc *jsonrpc.Client) (head order.Head, by string, err error) {
	const patience = 4 // slots: a node knows that a block is confirmed some moments before it can show it
	var newest, finalized uint64
	asked := slotCall(&newest, confirmed)
	asked.Fresh = true
	if err := rpc.All(ctx, asked, c.finalCall(&finalized)); err != nil {
		return head, "", err
	}
	for slot := newest; ; slot-- {
		latest, err := c.Block(ctx, slot)
		if err == nil {
			if c.newest.Swap(latest.Number) != latest.Number {
				c.rpc.Invalidate() // new calls join none that began before this block
			}
			return order.Head{Latest: latest, Finalized: min(finalized, latest.Number)}, asked.By, nil
		}
		if !errors.Is(err, order.ErrNotFound) || slot == 0 || newest-slot == patience {
			return head, asked.By, err
		}
	}
}

// Block returns the block of a slot or, if that has none, of the last slot before it that has one; see order.Source. If
// the nodes have dropped that block it returns the oldest that they hold.
func (c *Chain) Block(ctx context.Context, slot uint64) (order.Block, error) {
	return c.blockBy(upstream.Following.For(ctx), c.rpc, slot)
}

// blockBy is Block with a given client.
func (c *Chain) blockBy(ctx context.Context, rpc *jsonrpc.Client, slot uint64) (order.Block, error) {
	var found *block
	err := rpc.All(ctx, c.at(slot, blockCall(&found, slot)))
	switch {
	case isCode(err, slotSkipped, longTermSlotSkipped), isHole(err) && !isCode(err, blockCleanedUp) && !c.mayCome(slot):
		return c.blockBefore(ctx, rpc, slot)
	case isCode(err, blockCleanedUp):
		first, err := c.firstBlock(ctx, rpc)
		if err == nil && first.Number <= slot {
			return c.blockBefore(ctx, rpc, slot)
		}
		return first, err
	case isCode(err, blockNotAvailable, blockStatusUnknown):
		return order.Block{}, fmt.Errorf("chain %d: block %d: %w", c.chain.ID, slot, order.ErrNotFound)
	case err != nil:
		return order.Block{}, err
	}
	return found.in(slot), nil
}

// at marks a call as reading the chain from a slot on, unless that is zero: endpoints known to lack it are asked last.
func (c *Chain) at(slot uint64, asked *jsonrpc.Call) *jsonrpc.Call {
	asked.Reach.Oldest = slot
	if newest := c.newest.Load(); slot > 0 && newest > slot {
		asked.Reach.Depth = newest - slot
	}
	return asked
}

// mayCome reports whether nodes may still learn of the block of a slot: it is among the newest.
func (c *Chain) mayCome(slot uint64) bool {
	const newest = 150 // slots, a minute
	return slot+newest >= c.newest.Load()
}

// isGone reports whether err means that endpoints were reached, but none has data of a slot that must exist.
func (c *Chain) isGone(err error, slot uint64) bool {
	_, isBehindOthers := jsonrpc.Said(err, isBehind)
	class := upstream.ClassOf(err)
	return (class == upstream.BadAnswer || class == upstream.Rejected || isHole(err)) && (!isBehindOthers || !c.mayCome(slot))
}

// blockBefore returns the last block that nodes show before a slot that has none.
func (c *Chain) blockBefore(ctx context.Context, rpc *jsonrpc.Client, slot uint64) (order.Block, error) {
	const widest = 10_000 // slots: an hour without a block
	var slots []uint64
	if err := rpc.All(ctx, c.at(slot-min(slot, widest), blocksCall(&slots, slot-min(slot, widest), slot))); err != nil {
		return order.Block{}, err
	}
	slices.Reverse(slots)
	found, last, err := c.firstShown(ctx, rpc, slots, "none")
	if err == nil && found == nil {
		err = fmt.Errorf("chain %d: no endpoint shows a block in %d slots before %d", c.chain.ID, widest, slot)
	}
	if err != nil {
		return order.Block{}, err
	}
	return found.in(last), nil
}

// firstShown returns the first block of listed slots that nodes show, with details of its content; nil if they show
// none of the slots that it tries.
func (c *Chain) firstShown(ctx context.Context, rpc *jsonrpc.Client, slots []uint64, details string) (found *block, slot uint64, err error) {
	const most = 32 // listed slots to try
	for _, slot := range slots[:min(most, len(slots))] {
		err := rpc.All(ctx, c.at(slot, contentCall(&found, slot, details)))
		if err == nil || !isHole(err) {
			return found, slot, err
		}
	}
	return nil, 0, nil
}

// firstBlock returns the oldest block that the nodes hold.
func (c *Chain) firstBlock(ctx context.Context, rpc *jsonrpc.Client) (order.Block, error) {
	var first uint64
	if err := rpc.All(ctx, jsonrpc.NewCall(&first, nil, "getFirstAvailableBlock")); err != nil {
		return order.Block{}, err
	}
	var found *block
	if err := rpc.All(ctx, blockCall(&found, first)); err != nil {
		return order.Block{}, err
	}
	return found.in(first), nil
}

var _ order.AnchoredSource = (*Chain)(nil)

// Testify implements order.AnchoredSource.
func (c *Chain) Testify(ctx context.Context, slot uint64, most int) map[string]order.Block {
	return jsonrpc.Alone(upstream.Background.For(ctx), c.rpc, most, func(ctx context.Context, alone *jsonrpc.Client) (order.Block, error) {
		found, err := c.blockBy(ctx, alone, slot)
		if err == nil && found.Number > slot {
			return found, order.ErrNotFound // dropped
		}
		return found, err
	})
}

// Anchor implements order.AnchoredSource.
func (c *Chain) Anchor(anchor order.Block, atOnce bool) {
	if anchor.Hash.IsAbsent() {
		c.rpc.Anchor(nil, atOnce)
		return
	}
	asked := blockCall(new(*block), anchor.Number)
	complete := asked.Accept
	asked.Accept = func(result any) error {
		if err := complete(result); err != nil {
			return err
		}
		if got := chain.Hash((*result.(**block)).Blockhash); got != anchor.Hash {
			return fmt.Errorf("%w: its block of slot %d is %s, not %s",
				order.ErrOtherBranch, anchor.Number, got.Format(chain.SVM), anchor.Hash.Format(chain.SVM))
		}
		return nil
	}
	c.rpc.Anchor(asked, atOnce)
}

// Suspend implements order.AnchoredSource.
func (c *Chain) Suspend(cause error) { c.rpc.Suspend(cause) }
