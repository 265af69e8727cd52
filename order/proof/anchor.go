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

// anchorage holds a chain's endpoints to blocks that all of them had once these were final: its anchors. Nothing up to
// the newest is withdrawn for what endpoints say, and after it nothing that was final for what one of them says.
type anchorage struct {
	source order.AnchoredSource // nil: the endpoints cannot be held to anything
	newest order.Block          // that they are held to; number and hash alone
	agreed order.Block          // that endpoints agreed on last
	until  uint64               // block up to which that holds, after so many reorgs
	reorgs uint64
	doubt  *ledger.Block // that endpoints contradict each other about, or the store; nil: none
}

// SettledAt is the newest block of a head that may become an anchor. Some chains call their newest block finalized,
// which says nothing of where they will go on.
func SettledAt(head order.Head) uint64 {
	return min(head.Finalized, head.Latest.Number-min(head.Latest.Number, order.TipRange))
}

// agree returns the block of a number on which two endpoints agree or, where they do not, most of all that prove anew
// to have the newest anchor, and how many do: one where no other answers.
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

// agreeFor has endpoints agree on the branch that holds a range, and on as much of what follows before end as one
// anchor is for.
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

// everyEndpoint is more than a chain has.
const everyEndpoint = 1000

// election returns the block of a number that most endpoints report, and how many do.
func election(number uint64, reported map[string]order.Block) (agreed order.Block, voices int, err error) {
	last := uint64(0) // where a chain leaves numbers out, an endpoint that lacks a block reports one before it
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

// Contradiction is why nothing is read of a chain: it is not known which of its endpoints serve it.
type Contradiction struct {
	block uint64
	said  string
}

func (c *Contradiction) Error() string {
	return fmt.Sprintf("endpoints contradict final block %d: %s", c.block, c.said)
}

// Hold has the chain's endpoints prove that they have its newest anchor, and asks anew about what they contradicted
// each other about.
func (c *Chain) Hold(ctx context.Context, position ledger.Checkpoint) error {
	if err := c.LearnAnchor(ctx); err != nil {
		return err
	}
	return c.reconsider(ctx, position)
}

// LearnAnchor has endpoints prove that they have the newest anchor in the store.
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

// HoldAgain has them prove it anew: one of them may have gone over to another branch.
func (c *Chain) HoldAgain() {
	if c.anchorage.source != nil {
		c.anchorage.source.Anchor(c.anchorage.newest, true)
	}
}

// KeptBefore returns the newest block before a number by which the chain can be compared: one that was not settled when
// it was read, the newest of those that were, or the newest anchor, and none before that.
func (c *Chain) KeptBefore(ctx context.Context, position ledger.Checkpoint, below uint64) (kept ledger.Block, found bool, err error) {
	kept, found, err = c.Ledger.KeptBlock(ctx, c.ID, below)
	anchor := ledger.Block{Number: c.anchorage.newest.Number, Hash: c.anchorage.newest.Hash}
	isRead := !anchor.Hash.IsAbsent() && anchor.Number <= position.Block && anchor.Number >= position.First
	if err != nil || !isRead || found && kept.Number > anchor.Number {
		return kept, found, err
	}
	return anchor, anchor.Number < below, nil
}

// FirstAnchor makes an anchor of the newest block that is settled, where there is none and endpoints agree on it.
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
		return nil // until the next look
	}
	_, err = c.Ledger.Write(ctx, c.Lease, func(tx *ledger.Tx) error { return tx.Anchor(ctx, c.ID, agreed) })
	if err != nil {
		return fmt.Errorf("anchor chain %d: %w", c.ID, err)
	}
	return c.LearnAnchor(ctx)
}

// contradicted has everything that is asked of the chain fail while its endpoints contradict each other, or the store,
// about a block: until they do not any more, be it that an operator has taken one out of use.
func (c *Chain) contradicted(about ledger.Block, err error) error {
	if errors.As(err, new(*Contradiction)) {
		c.anchorage.doubt = &about
		c.anchorage.source.Suspend(err)
	}
	return err
}

// reconsider asks anew about the block that endpoints contradicted each other about.
func (c *Chain) reconsider(ctx context.Context, position ledger.Checkpoint) error {
	about := c.anchorage.doubt
	if about == nil {
		return nil
	}
	agreed, voices, err := c.anchorage.agree(ctx, about.Number)
	isKnown := !about.Hash.IsAbsent() && position.Block >= about.Number // unless an operator has withdrawn it
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

// oneVoice says that one endpoint alone contradicts a final block.
func oneVoice(stored ledger.Block, reported order.Block) error {
	return &Contradiction{stored.Number, fmt.Sprintf("the only endpoint has %s, %s was read", reported.Hash, stored.Hash)}
}

// BackToAnchor returns the anchor to which a reorg goes back that has dropped all blocks which it could be compared by.
// Where the oldest of them was final, endpoints of another branch than the newest anchor's are not used from here on,
// and what the others say decides.
func (c *Chain) BackToAnchor(ctx context.Context, position ledger.Checkpoint, head order.Head, oldest ledger.Block) (fork uint64, err error) {
	anchor, _, err := c.Ledger.AnchorBefore(ctx, c.ID, oldest.Number)
	if err != nil {
		return 0, err
	}
	fork = max(anchor.Number, position.First)
	if c.anchorage.source == nil || oldest.Number > max(SettledAt(head), c.SettledTo) {
		return fork, nil
	}
	c.HoldAgain()
	agreed, voices, err := c.anchorage.agree(ctx, oldest.Number)
	switch {
	case err == nil && agreed.Hash == oldest.Hash:
		return 0, fmt.Errorf("a head was reported of another branch: block %d is not %s there", oldest.Number, oldest.Hash)
	case err == nil && voices < 2:
		err = oneVoice(oldest, agreed)
	}
	if err != nil {
		return 0, c.contradicted(oldest, err)
	}
	CountFinalReorg(ctx, c.ID, 1)
	c.Logger.ErrorContext(ctx, "a reorg has dropped blocks that were final", "endpoints", voices, "block", oldest.Number,
		"hash", oldest.Hash, "now", agreed.Hash, "back_to", fork)
	return fork, nil
}

// maxBlock is more than the number of any block.
const maxBlock = 1<<63 - 1
