package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

// anchorage checks a chain's endpoints against its anchors: blocks that all of them had once these were final. No
// report of endpoints withdraws blocks up to the newest anchor; later final blocks are withdrawn only if several agree.
type anchorage struct {
	source order.AnchoredSource // nil: the source cannot check endpoints
	newest order.Block          // anchor that endpoints are checked against; only number and hash are set
	agreed order.Block          // block that endpoints agreed on last
	until  uint64               // last block that the agreement covers, as long as reorgs stays the same
	reorgs uint64
	doubt  *ledger.Block // block about which endpoints contradict each other or the store; nil: none
}

// SettledAt returns the newest block of a head that may become an anchor. Some chains call their newest block
// finalized, which says nothing about the branch on which they will continue.
func SettledAt(head order.Head) uint64 {
	return min(head.Finalized, head.Latest.Number-min(head.Latest.Number, order.TipRange))
}

// agree returns the block at a number on which two endpoints agree, and how many do: 1 if no other answers. If they do
// not agree, the majority decides of all endpoints that prove once more to have the newest anchor.
func (a *anchorage) agree(ctx context.Context, number uint64) (agreed order.Block, voices int, err error) {
	if a.source == nil {
		return order.Block{}, 0, nil
	}
	if agreed, voices, err = election(number, a.source.Testify(ctx, number, 2)); !errors.As(err, new(*Contradiction)) {
		return agreed, voices, err
	}
	a.source.Anchor(a.newest, true)
	return election(number, a.source.Testify(ctx, number, everyEndpoint))
}

// agreeFor makes endpoints agree on the branch that holds a range and, before end, on as many blocks after it as share
// an anchor.
func (c *Chain) agreeFor(ctx context.Context, position ledger.Checkpoint, r ledger.Range, end uint64) error {
	if r.To <= c.anchorage.until && position.Reorgs == c.anchorage.reorgs {
		return nil
	}
	until := min(end, r.From+ledger.AnchorsApart) - 1
	agreed, _, err := c.anchorage.agree(ctx, until)
	if err != nil {
		return c.contradicted(ledger.Block{Number: until}, err)
	}
	c.anchorage.agreed, c.anchorage.until, c.anchorage.reorgs = agreed, until, position.Reorgs
	return nil
}

// everyEndpoint exceeds the number of a chain's endpoints.
const everyEndpoint = 1000

// election returns the block at a number that a majority of endpoints reports, and how many do.
func election(number uint64, reported map[string]order.Block) (agreed order.Block, voices int, err error) {
	last := uint64(0) // if a chain skips numbers, an endpoint that lacks a block reports an earlier one
	for _, block := range reported {
		last = max(last, block.Number)
	}
	maps.DeleteFunc(reported, func(_ string, b order.Block) bool { return b.Number < last })
	if len(reported) == 0 {
		return order.Block{}, 0, fmt.Errorf("no endpoint has block %d", number)
	}
	votes, said := map[chain.Hash]int{}, []string{}
	for _, by := range slices.Sorted(maps.Keys(reported)) {
		block := reported[by]
		votes[block.Hash]++
		said = append(said, fmt.Sprintf("%s has %s", by, block.Hash))
		if votes[block.Hash] > voices {
			agreed, voices = block, votes[block.Hash]
		}
	}
	if 2*voices <= len(reported) {
		return order.Block{}, 0, &Contradiction{number, strings.Join(said, ", ")}
	}
	return agreed, voices, nil
}

// Contradiction says that a chain is not read because it is unclear which of its endpoints serve it.
type Contradiction struct {
	block uint64
	said  string
}

func (c *Contradiction) Error() string {
	return fmt.Sprintf("endpoints contradict final block %d: %s", c.block, c.said)
}

// Hold makes the chain's endpoints prove that they have its newest anchor, and asks again about the block that they
// contradicted each other about.
func (c *Chain) Hold(ctx context.Context, position ledger.Checkpoint) error {
	if err := c.LearnAnchor(ctx); err != nil {
		return err
	}
	return c.reconsider(ctx, position)
}

// LearnAnchor makes endpoints prove that they have the newest anchor in the store.
func (c *Chain) LearnAnchor(ctx context.Context) error {
	if c.anchorage.source == nil {
		return nil
	}
	newest, _, err := c.Ledger.AnchorBefore(ctx, c.ID, maxBlock)
	if err == nil && newest != c.anchorage.newest {
		c.anchorage.newest = newest
		c.anchorage.source.Anchor(newest, false)
	}
	return err
}

// HoldAgain makes endpoints prove the newest anchor once more: one of them may have switched to another branch.
func (c *Chain) HoldAgain() {
	if c.anchorage.source != nil {
		c.anchorage.source.Anchor(c.anchorage.newest, true)
	}
}

// KeptBefore returns the newest block before a number that the chain can be compared by: one that was not settled when
// it was read, the newest one that was, or an anchor.
func (c *Chain) KeptBefore(ctx context.Context, position ledger.Checkpoint, below uint64) (kept ledger.Block, found bool, err error) {
	kept, found, err = c.Ledger.KeptBlock(ctx, c.ID, below)
	if err != nil || found && kept.Number > c.anchorage.newest.Number {
		return kept, found, err
	}
	anchor, isAnchor, err := c.Ledger.AnchorBefore(ctx, c.ID, min(below, position.Block+1))
	if isAnchor && anchor.Number >= max(position.First, kept.Number) {
		return ledger.Block{Number: anchor.Number, Hash: anchor.Hash}, true, nil
	}
	return kept, found, err
}

// FirstAnchor makes the newest settled block an anchor if there is none yet and endpoints agree on the block.
func (c *Chain) FirstAnchor(ctx context.Context, head order.Head) error {
	number := SettledAt(head)
	if !c.anchorage.newest.Hash.IsAbsent() || number == 0 {
		return nil
	}
	agreed, _, err := c.anchorage.agree(ctx, number)
	if errors.As(err, new(*Contradiction)) {
		return c.contradicted(ledger.Block{Number: number}, err)
	}
	if agreed.Hash.IsAbsent() {
		return nil // try again at the next poll
	}
	_, err = c.Ledger.Write(ctx, c.Lease, func(tx *ledger.Tx) error { return tx.Anchor(ctx, c.ID, agreed) })
	if err != nil {
		return fmt.Errorf("anchor chain %d: %w", c.ID, err)
	}
	return c.LearnAnchor(ctx)
}

// contradicted suspends the source while its endpoints contradict each other, or the store, about a block: until they
// no longer do, possibly because an operator took one out of use.
func (c *Chain) contradicted(about ledger.Block, err error) error {
	if errors.As(err, new(*Contradiction)) {
		c.anchorage.doubt = &about
		c.anchorage.source.Suspend(err)
	}
	return err
}

// reconsider asks again about the block that endpoints contradicted each other about.
func (c *Chain) reconsider(ctx context.Context, position ledger.Checkpoint) error {
	about := c.anchorage.doubt
	if about == nil {
		return nil
	}
	agreed, voices, err := c.anchorage.agree(ctx, about.Number)
	isKnown := !about.Hash.IsAbsent() && position.Block >= about.Number // unless an operator withdrew it
	if err == nil && isKnown && agreed.Hash != about.Hash && voices < 2 {
		err = oneVoice(*about, agreed)
	}
	if err != nil {
		return c.contradicted(*about, err)
	}
	c.anchorage.doubt = nil
	c.anchorage.source.Suspend(nil)
	return nil
}

// oneVoice returns a Contradiction: a single endpoint contradicts a final block.
func oneVoice(stored ledger.Block, reported order.Block) error {
	return &Contradiction{stored.Number, fmt.Sprintf("the only endpoint has %s, %s was read", reported.Hash, stored.Hash)}
}

// ConfirmReorg returns an error if endpoints do not agree on a reorg that dropped final blocks, oldest being the first
// dropped one to compare with. Endpoints of another branch than the newest anchor's are not used from then on, and the
// remaining endpoints decide.
func (c *Chain) ConfirmReorg(ctx context.Context, position ledger.Checkpoint, oldest ledger.Block, fork uint64) error {
	if c.anchorage.source == nil || oldest.Number > max(position.Settled, c.anchorage.newest.Number) {
		return nil
	}
	c.HoldAgain()
	agreed, voices, err := c.anchorage.agree(ctx, oldest.Number)
	switch {
	case err == nil && agreed.Hash == oldest.Hash:
		return fmt.Errorf("the reported head is on another branch, without block %d with hash %s", oldest.Number, oldest.Hash)
	case err == nil && voices < 2:
		err = oneVoice(oldest, agreed)
	}
	if err != nil {
		return c.contradicted(oldest, err)
	}
	CountFinalReorg(ctx, c.ID, 1)
	c.Logger.ErrorContext(ctx, "a reorg has dropped blocks that were final", "endpoints", voices, "block", oldest.Number,
		"hash", oldest.Hash, "now", agreed.Hash, "back_to", fork)
	return nil
}

const maxBlock = 1<<63 - 1
