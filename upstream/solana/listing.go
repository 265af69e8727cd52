package solana

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream/jsonrpc"
)

const (
	// mostPages bounds the pages of a program's transactions that are read for one range of slots.
	mostPages = 1000
	// nearSlots is how far behind the newest slot a range may end for lists to begin with the newest transaction.
	nearSlots = 1000
)

// program is one of the order protocol's programs, with its newest transaction that is known to be final: if nothing
// older is wanted, nodes need not list beyond it.
type program struct {
	address chain.Address

	mu    sync.Mutex
	final signature
}

// bounds returns the cursor at which listing the program's transactions since a slot may stop.
func (p *program) bounds(from uint64) cursor {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.final.Slot >= from {
		return cursor{}
	}
	return cursor{until: p.final.Signature}
}

func (p *program) remember(list []signature) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, each := range list {
		if each.Status == "finalized" && each.Slot > p.final.Slot {
			p.final = each
		}
	}
}

// listing is the state of reading a program's transactions, newest first.
type listing struct {
	*program
	bounds cursor
	page   []signature // the last one that was read
	found  []signature // newest first
	by     []string    // endpoints that listed them
	done   bool
}

// take adds an endpoint's page. The listing is done when the page is empty or goes back beyond a slot.
func (l *listing) take(by string, from uint64) {
	l.found, l.by = append(l.found, l.page...), append(l.by, by)
	l.done = len(l.page) == 0 || l.page[len(l.page)-1].Slot < from
	if !l.done {
		l.bounds.before = l.page[len(l.page)-1].Signature
	}
}

// signatures returns the transactions in slots from to to that name a program of the order protocol, each once, by
// slot, and the endpoint that listed them, empty if there were several. For a few of the newest slots this takes one
// round trip, for many another one to look for gaps, for older ones two more to find where the lists begin.
//
// A list that lacks the newest slots looks like one of quiet slots. So each list requires a node that has reached the
// last slot (minContextSlot, https://solana.com/docs/rpc/http/getsignaturesforaddress); others refuse. Another call in
// the same batch would not prove this, since another node may answer it.
//
// isBounded lets a list end at what endpoints called final before, which is one's word.
func (c *Chain) signatures(
	ctx context.Context, rpc *jsonrpc.Client, from, to uint64, isBounded bool,
) (found []signature, by string, err error) {
	before, err := c.behind(ctx, to)
	if err != nil {
		return nil, "", err
	}
	var lists []*listing
	for _, each := range c.programs {
		l := &listing{program: each}
		if isBounded {
			l.bounds = each.bounds(from)
		}
		l.bounds.before, l.bounds.slot = before, to
		lists = append(lists, l)
	}
	if err := c.readPages(ctx, rpc, lists, from, to); err != nil {
		return nil, "", err
	}
	var tellers []string
	for _, l := range lists {
		tellers = append(tellers, l.by...)
		l.remember(l.found)
		found = append(found, l.found...)
	}
	found = slices.DeleteFunc(found, func(s signature) bool { return s.Slot < from || s.Slot > to })
	if tellers = slices.Compact(tellers); len(tellers) == 1 {
		by = tellers[0]
	}
	return distinct(found), by, nil
}

// readPages reads page by page until every list is done. An endpoint lists what it has, and nothing before a
// transaction that it does not know: its pages count if it also shows the first block, has stored the last, and misses
// none in between. Where none offers blocks, those that others show have to do.
func (c *Chain) readPages(ctx context.Context, rpc *jsonrpc.Client, lists []*listing, from, to uint64) error {
	const mostUnproven = 3
	var proven []string // endpoints
	isDue, unproven := true, 0
	for range mostPages {
		var asked []*listing
		var pages, proofs []*jsonrpc.Call
		for _, l := range lists {
			if !l.done {
				asked, pages = append(asked, l), append(pages, c.at(from, signaturesCall(&l.page, l.address, l.bounds)))
			}
		}
		if len(asked) == 0 {
			return nil
		}
		if isDue {
			proofs = []*jsonrpc.Call{
				c.at(from, existingBlockCall(new(*block), from, "none")), c.at(to, existingBlockCall(new(*block), to, "none")),
			}
		}
		calls := slices.Concat(proofs, pages)
		_ = rpc.Batch(ctx, calls...) // each call has its error
		if err := c.readAgain(ctx, rpc, calls); err != nil {
			return err
		}
		if isDue && proofs[0].By == proofs[1].By {
			if by := proofs[0].By; c.isWhole(ctx, rpc.Preferring(by), by, proofs) {
				proven = append(proven, by)
			} else {
				rpc = rpc.Avoiding(by)
			}
		}
		isDue = false
		for i, l := range asked {
			if slices.Contains(proven, pages[i].By) || rpc.Lacks(getBlock, "") {
				l.take(pages[i].By, from)
			} else {
				isDue = true
			}
		}
		if !isDue {
			continue
		}
		if unproven++; unproven == mostUnproven {
			return fmt.Errorf("chain %d: no endpoint that has all blocks of slots %d to %d lists their transactions", c.chain.ID, from, to)
		}
		if len(proven) > 0 {
			rpc = rpc.Preferring(proven[len(proven)-1])
		}
	}
	return fmt.Errorf("chain %d: more than %d transactions since block %d", c.chain.ID, mostPages*signaturesAtOnce, from)
}

// isWhole reports whether an endpoint has all blocks of slots, given the calls by which it showed the first and last.
// One that continued from a snapshot calls the slots that it missed skipped, like those without a block, but the next
// block that it has names one of them as its parent.
func (c *Chain) isWhole(ctx context.Context, rpc *jsonrpc.Client, by string, ends []*jsonrpc.Call) bool {
	const fewest = 32 // slots that a node misses; no leaders skip as many
	from, to := ends[0].Reach.Oldest, ends[1].Reach.Oldest
	if to-from < fewest && ends[0].Err == nil && ends[1].Err == nil {
		return true
	}
	var slots []uint64
	listed := c.at(from, blocksCall(&slots, from, to+nearSlots))
	if err := rpc.Batch(ctx, listed); err != nil || listed.Err != nil || listed.By != by {
		return true // it cannot say
	}
	due := from
	for _, slot := range slots {
		if due > to {
			break
		}
		if isHole := slot-due >= fewest || slot > due && due == from; isHole {
			var next *block
			shown := c.at(slot, existingBlockCall(&next, slot, "none"))
			switch err := rpc.All(ctx, shown); {
			case err != nil && isShown(shown) && rpc.Avoiding(by).AvoidsAll(): // its own list counts for want of another's
			case err != nil, next.ParentSlot >= due:
				return false
			}
		}
		due = slot + 1
	}
	return due > to || c.mayCome(due)
}

// isShown reports whether a call succeeded, or asked for the block of a slot that has none.
func isShown(call *jsonrpc.Call) bool {
	return call.Err == nil || isCode(call.Err, slotSkipped, longTermSlotSkipped)
}

// readAgain repeats those of calls that failed. It returns *order.UnreadableError if no endpoint shows a block that
// proves how much an endpoint lists, unless all have dropped everything before it. It takes the slice over.
func (c *Chain) readAgain(ctx context.Context, rpc *jsonrpc.Client, calls []*jsonrpc.Call) error {
	failed := slices.DeleteFunc(calls, isShown)
	rpc.Each(ctx, failed...)
	if rpc.Lacks(getBlock, "") {
		isList := func(call *jsonrpc.Call) bool { return call.Method != getBlock }
		c.rpc.Each(ctx, slices.DeleteFunc(slices.Clone(failed), isList)...)
	}
	if failed = slices.DeleteFunc(failed, isShown); len(failed) == 0 {
		return nil
	}
	call := failed[0]
	slot := call.Reach.Oldest
	if call.Method != getBlock || !isHole(call.Err) || !c.isGone(call.Err, slot) {
		return call.Err
	}
	if before, err := c.Block(ctx, slot); err != nil || before.Number >= slot {
		return call.Err
	}
	return &order.UnreadableError{Block: slot, Err: call.Err}
}

// behind returns a transaction shortly after a slot, for lists to begin there. It is absent, for lists to begin with
// the newest transaction, if the slot is near or the blocks after it are empty.
func (c *Chain) behind(ctx context.Context, slot uint64) (chain.TxHash, error) {
	if slot+nearSlots >= c.newest.Load() {
		return chain.TxHash{}, nil
	}
	var slots []uint64
	if err := c.rpc.All(ctx, c.at(slot, blocksCall(&slots, slot+1, slot+nearSlots))); err != nil || len(slots) == 0 {
		return chain.TxHash{}, err
	}
	found, _, err := c.firstShown(ctx, c.rpc, slots, "signatures")
	if err != nil || found == nil || len(found.Signatures) == 0 {
		return chain.TxHash{}, err
	}
	return found.Signatures[0], nil
}

// distinct sorts transactions by slot and drops duplicates.
func distinct(list []signature) []signature {
	seen := make(map[chain.TxHash]bool, len(list))
	list = slices.DeleteFunc(list, func(s signature) bool {
		again := seen[s.Signature]
		seen[s.Signature] = true
		return again
	})
	slices.SortStableFunc(list, func(a, b signature) int { return cmp.Compare(a.Slot, b.Slot) })
	return list
}
