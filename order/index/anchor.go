package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// anchorsApart is how many blocks there are between two anchors, but for the newest one.
const anchorsApart = 1000

// anchorage holds a chain's endpoints to blocks that all of them had once these were final: its anchors. Nothing up to
// the newest is withdrawn for what endpoints say, and after it nothing that was final for what one of them says.
type anchorage struct {
	source  order.AnchoredSource // nil: the endpoints cannot be held to anything
	newest  order.Block          // that they are held to; number and hash alone
	agreed  order.Block          // that endpoints agreed on last
	until   uint64               // block up to which that tells of the branch
	settled uint64               // block up to which the chain was settled by heads that were accepted
	doubt   *keptBlock           // that endpoints contradict each other about, or the store; nil: none
}

// settledAt is the newest block of a head that may become an anchor. Some chains call their newest block finalized,
// which says nothing of where they will go on.
func settledAt(head order.Head) uint64 {
	return min(head.Finalized, head.Latest.Number-min(head.Latest.Number, order.TipRange))
}

// agree returns the block of a number on which two endpoints agree or, where they do not, most of all, and how many do:
// one where no other answers.
func (a *anchorage) agree(ctx context.Context, number uint64) (agreed order.Block, voices int, err error) {
	if a.source == nil {
		return order.Block{}, 0, nil
	}
	if agreed, voices, err = election(number, a.source.Testify(ctx, number, 2)); !errors.As(err, new(*contradiction)) {
		return agreed, voices, err
	}
	return election(number, a.source.Testify(ctx, number, everyEndpoint))
}

// agreeFor has endpoints agree on the branch that holds a range, and on as much of what follows before end as one
// anchor is for.
func (f *follower) agreeFor(ctx context.Context, r blocks, end uint64) error {
	if r.to <= f.anchorage.until {
		return nil
	}
	until := min(end, r.from+anchorsApart) - 1
	agreed, _, err := f.anchorage.agree(ctx, until)
	if err != nil {
		return f.contradicted(ctx, keptBlock{number: until}, err)
	}
	f.anchorage.agreed, f.anchorage.until = agreed, until
	return nil
}

// everyEndpoint is more than a chain has.
const everyEndpoint = 1000

// election returns the block of a number that most endpoints told, and how many did.
func election(number uint64, told map[string]order.Block) (agreed order.Block, voices int, err error) {
	last := uint64(0) // where a chain leaves numbers out, an endpoint that lacks a block tells of one before it
	for _, block := range told {
		last = max(last, block.Number)
	}
	maps.DeleteFunc(told, func(_ string, b order.Block) bool { return b.Number < last })
	if len(told) == 0 {
		return order.Block{}, 0, fmt.Errorf("no endpoint has block %d", number)
	}
	votes, said := map[chain.Hash]int{}, []string{}
	for _, by := range slices.Sorted(maps.Keys(told)) {
		block := told[by]
		votes[block.Hash]++
		said = append(said, fmt.Sprintf("%s has %s", by, block.Hash))
		if votes[block.Hash] > voices {
			agreed, voices = block, votes[block.Hash]
		}
	}
	if 2*voices <= len(told) {
		return order.Block{}, 0, &contradiction{number, strings.Join(said, ", ")}
	}
	return agreed, voices, nil
}

// contradiction is why nothing is read of a chain: nobody knows which of its endpoints serve it.
type contradiction struct {
	block uint64
	said  string
}

func (c *contradiction) Error() string {
	return fmt.Sprintf("endpoints contradict what is final at block %d: %s", c.block, c.said)
}

// hold has the chain's endpoints prove that they have its newest anchor, and asks anew about what they contradicted
// each other about.
func (f *follower) hold(ctx context.Context, position checkpoint) error {
	if err := f.learnAnchor(ctx); err != nil {
		return err
	}
	return f.reconsider(ctx, position)
}

// learnAnchor has endpoints prove that they have the newest anchor in the store.
func (f *follower) learnAnchor(ctx context.Context) error {
	if f.anchorage.source == nil {
		return nil
	}
	newest, _, err := f.store.anchorBefore(ctx, f.chain, maxBlock)
	if err == nil && newest != f.anchorage.newest {
		f.anchorage.newest = newest
		f.anchorage.source.Anchor(newest, false)
	}
	return err
}

// learnAnchors has the endpoints of all chains prove that they have the newest anchors.
func (x *Index) learnAnchors(ctx context.Context) error {
	for _, f := range x.followers {
		if err := f.learnAnchor(ctx); err != nil {
			return err
		}
	}
	return nil
}

// holdAgain has them prove it anew: one of them may have gone over to another branch.
func (f *follower) holdAgain() {
	if f.anchorage.source != nil {
		f.anchorage.source.Anchor(f.anchorage.newest, true)
	}
}

// keptBefore returns the newest block before a number by which the chain can be compared: one that was not settled when
// it was read, the newest of those that were, or the newest anchor, and none before that.
func (f *follower) keptBefore(ctx context.Context, position checkpoint, below uint64) (kept keptBlock, found bool, err error) {
	kept, found, err = f.store.keptBlock(ctx, f.chain, below)
	anchor := keptBlock{f.anchorage.newest.Number, f.anchorage.newest.Hash}
	isRead := !anchor.hash.IsAbsent() && anchor.number <= position.block && anchor.number >= position.first
	if err != nil || !isRead || found && kept.number > anchor.number {
		return kept, found, err
	}
	return anchor, anchor.number < below, nil
}

// firstAnchor makes an anchor of the newest block that is settled, where there is none and endpoints agree on it.
func (f *follower) firstAnchor(ctx context.Context, head order.Head) error {
	number := settledAt(head)
	if !f.anchorage.newest.Hash.IsAbsent() || number == 0 {
		return nil
	}
	agreed, _, err := f.anchorage.agree(ctx, number)
	if errors.As(err, new(*contradiction)) {
		return f.contradicted(ctx, keptBlock{number: number}, err)
	}
	if agreed.Hash.IsAbsent() {
		return nil // until the next look
	}
	err = f.store.UpdateUnder(ctx, f.lease, func(tx *store.Tx) error { return addAnchor(ctx, tx, f.chain, agreed) })
	if err != nil {
		return fmt.Errorf("anchor chain %d: %w", f.chain, err)
	}
	return f.learnAnchor(ctx)
}

// contradicted has everything that is asked of the chain fail while its endpoints contradict each other, or the store,
// about a block: until they do not any more, be it that an operator has taken one out of use.
func (f *follower) contradicted(ctx context.Context, about keptBlock, err error) error {
	if errors.As(err, new(*contradiction)) {
		f.anchorage.doubt = &about
		f.anchorage.source.Suspend(err)
		f.stop(ctx, err)
	}
	return err
}

// stop takes note that nothing is read of the chain until an operator decides, or endpoints say something else.
func (f *follower) stop(ctx context.Context, cause error) {
	if f.sync.stop(cause.Error()) {
		f.logger.ErrorContext(ctx, "chain stopped: endpoints contradict what is final; take the wrong ones out of use, "+
			"or withdraw what was read by crossgate index withdraw", "error", cause)
	}
}

// reconsider asks anew about the block that endpoints contradicted each other about.
func (f *follower) reconsider(ctx context.Context, position checkpoint) error {
	about := f.anchorage.doubt
	if about == nil {
		return nil
	}
	agreed, voices, err := f.anchorage.agree(ctx, about.number)
	isKnown := !about.hash.IsAbsent() && position.block >= about.number // unless an operator has withdrawn it
	if err == nil && isKnown && agreed.Hash != about.hash && voices < 2 {
		err = oneVoice(*about, agreed)
	}
	if err != nil {
		return f.contradicted(ctx, *about, err)
	}
	f.anchorage.doubt = nil
	f.anchorage.source.Suspend(nil)
	return nil
}

// oneVoice says that one endpoint alone contradicts what was final.
func oneVoice(stored keptBlock, told order.Block) error {
	return &contradiction{stored.number, fmt.Sprintf("the only endpoint has %s, %s was read", told.Hash, stored.hash)}
}

// backToAnchor returns the anchor to which a reorg goes back that has dropped all blocks which it could be compared by.
// Where the oldest of them was final, endpoints of another branch than the newest anchor's are not used from here on,
// and what the others say decides.
func (f *follower) backToAnchor(ctx context.Context, position checkpoint, head order.Head, oldest keptBlock) (fork uint64, err error) {
	anchor, _, err := f.store.anchorBefore(ctx, f.chain, oldest.number)
	if err != nil {
		return 0, err
	}
	fork = max(anchor.Number, position.first)
	if f.anchorage.source == nil || oldest.number > max(settledAt(head), f.anchorage.settled) {
		return fork, nil
	}
	f.holdAgain()
	agreed, voices, err := f.anchorage.agree(ctx, oldest.number)
	switch {
	case err == nil && agreed.Hash == oldest.hash:
		return 0, fmt.Errorf("a head was reported of another branch: block %d is not %s there", oldest.number, oldest.hash)
	case err == nil && voices < 2:
		err = oneVoice(oldest, agreed)
	}
	if err != nil {
		return 0, f.contradicted(ctx, oldest, err)
	}
	countFinalReorg(ctx, f.chain, 1)
	f.logger.ErrorContext(ctx, "a reorg has dropped blocks that were final", "endpoints", voices, "block", oldest.number,
		"hash", oldest.hash, "now", agreed.Hash, "back_to", fork)
	return fork, nil
}

// stopped is *UnreachableError while nothing is read of some chains until an operator decides.
func (x *Index) stopped() error {
	var stopped UnreachableError
	for _, f := range x.followers {
		if cause := f.sync.stoppedBy(); cause != nil {
			stopped.add(f.chain, cause)
		}
	}
	if len(stopped.Chains) == 0 {
		return nil
	}
	return &stopped
}

// maxBlock is more than the number of any block.
const maxBlock = 1<<63 - 1

// anchorBefore returns the newest anchor before a block: its number and hash.
func (s orderStore) anchorBefore(ctx context.Context, id chain.ID, before uint64) (b order.Block, found bool, err error) {
	found, err = s.QueryRow(ctx, []any{&b.Number, store.HashColumn(&b.Hash)},
		`SELECT number, hash FROM anchors WHERE chain = $1 AND number < $2 ORDER BY number DESC LIMIT 1`, id, int64(before))
	if err != nil {
		return order.Block{}, false, fmt.Errorf("read anchors of chain %d: %w", id, err)
	}
	return b, found, nil
}

// addAnchor stores an anchor that is the newest, or far from the one before it. The newest until now goes where it is
// near to the one before.
func addAnchor(ctx context.Context, tx *store.Tx, id chain.ID, b order.Block) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO anchors (chain, number, hash) SELECT $1, $2, $3
		WHERE NOT EXISTS (SELECT 1 FROM anchors WHERE chain = $1 AND number > $2)
		OR NOT EXISTS (SELECT 1 FROM anchors WHERE chain = $1 AND number > $2 - $4 AND number <= $2)
		ON CONFLICT (chain, number) DO NOTHING`, int64(id), int64(b.Number), b.Hash[:], anchorsApart)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM anchors WHERE chain = $1 AND number < (SELECT MAX(number) FROM anchors WHERE chain = $1)
		AND EXISTS (SELECT 1 FROM anchors a WHERE a.chain = $1 AND a.number < anchors.number AND a.number > anchors.number - $2)`,
		int64(id), anchorsApart)
	return err
}
