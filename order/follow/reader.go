package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/proof"
	"crossgate/store"
)

// Reader reads a chain into a ledger.
type Reader struct {
	proof.Chain
	Paces     Pace
	Range     uint64 // maximum number of blocks to read at a time
	ReadAhead chan struct{}
	Observer  Observer
}

func newReader(db *store.DB, id chain.ID, source order.Source, o Options) *Reader {
	known, _ := o.Chains.Chain(id)
	known.ID = id
	return &Reader{
		Chain: proof.NewChain(known, source, ledger.Ledger{DB: db, Keep: o.Keep}, o.Logger.With("chain", id)),
		Paces: o.Pace, Range: o.Range, ReadAhead: o.readAhead, Observer: o.Observer,
	}
}

// Report passes changes to the Observer, unless replicas notify each other through the database.
func (r *Reader) Report(changes []order.Change) {
	if !r.Ledger.IsReplicated() && len(changes) > 0 {
		r.Observer.OrdersChanged(changes)
	}
}

// BeginAt stores the block where following begins, so that the checkpoint is a block that was read.
func (r *Reader) BeginAt(ctx context.Context, number uint64, head order.Head) (begun ledger.Advance, err error) {
	first, err := r.Source.Block(ctx, number)
	if err != nil {
		return begun, fmt.Errorf("read first block %d: %w", number, err)
	}
	number = first.Number // differs if the chain skipped that number or nodes have pruned it
	events, quarantined, err := r.Events(ctx, ledger.Range{From: number, To: number}, r.Source.Events)
	if err != nil {
		return begun, fmt.Errorf("read events of block %d: %w", number, err)
	}
	begun = ledger.Advance{
		From: number, Events: events, Blocks: droppable(events, ledger.Block{Number: number, Hash: first.Hash}, proof.SettledAt(head)),
		Quarantined: quarantined, Begins: true, Checkpoint: ledger.Checkpoint{
			First: number, FirstTime: first.Time, Block: number, BlockTime: first.Time, ProvenFrom: number, ProvenEnd: number,
			Settled: min(proof.SettledAt(head), number),
		},
	}
	_, err = r.apply(ctx, begun)
	return begun, err
}

// GoBack withdraws the events of blocks after a number, so that reading can resume there.
func (r *Reader) GoBack(ctx context.Context, position ledger.Checkpoint, number uint64) (back ledger.Advance, changes []order.Change, err error) {
	block, err := r.Source.Block(ctx, number)
	if err != nil {
		return back, nil, fmt.Errorf("read block %d: %w", number, err)
	}
	back = ledger.Advance{From: number + 1, Blocks: []ledger.Block{{Number: number, Hash: block.Hash}}, Before: position, Checkpoint: position}
	back.Checkpoint.Block, back.Checkpoint.BlockTime = number, block.Time
	back.Checkpoint.Reorgs++
	back.Checkpoint.ProvenEnd = min(position.ProvenEnd, number+1)
	back.Checkpoint.Settled = min(position.Settled, number)
	changes, err = r.apply(ctx, back)
	return back, changes, err
}

func (r *Reader) apply(ctx context.Context, a ledger.Advance) ([]order.Change, error) {
	a.Chain, a.Lease = r.ID, r.Lease
	changes, err := r.Ledger.Apply(ctx, a)
	if err == nil {
		r.Report(changes)
	}
	return changes, err
}

// droppable returns the blocks by which to detect a reorg: the last one read, and unsettled ones with events.
func droppable(events []order.Event, last ledger.Block, settled uint64) []ledger.Block {
	kept := []ledger.Block{last}
	for _, e := range events {
		if each := (ledger.Block{Number: e.At.Block, Hash: e.At.BlockHash}); e.At.Block >= settled && each != kept[len(kept)-1] {
			kept = append(kept, each)
		}
	}
	return kept
}

const maxBackoff = 30 * time.Second

// PauseAfter returns how long to wait after a failure that followed a pause: longer each time, or for as long as an
// endpoint asked to.
func (r *Reader) PauseAfter(err error, pause time.Duration) time.Duration {
	longest := max(maxBackoff, r.Paces.Asked)
	if asked, is := errors.AsType[interface {
		error
		RetryIn() time.Duration
	}](err); is && asked.RetryIn() > 0 {
		return min(max(asked.RetryIn(), r.Paces.Asked), longest)
	}
	return min(2*pause, longest)
}
