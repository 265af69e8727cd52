package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// Progress is the progress of the backfill, audit or repair of one chain.
type Progress struct {
	Chain chain.ID
	Total uint64 // blocks to read; in an audit, orders to compare
	Read  uint64 // so far, of Total
	// Events found in them; in an audit, transactions read; in a repair, events corrected.
	Events uint64
	// Done is set in the last report of a chain.
	Done bool
	// Err is why nothing is being read now; it is retried, unless this is the last report.
	Err error
}

// Limits after which a backfill gives up on a chain's history: that many consecutive refusals to return one block, or
// no progress for that long although the chain's head could be read.
const (
	mostRefusals = 5
	stuckLimit   = 10 * time.Minute
)

// historyRanges is by what factor ranges of history are larger than a follower's, since most hold nothing. They are
// eight times as large as public endpoints search at once, since each range costs a header.
const historyRanges = 20

// UnreadHistory is the history of one chain that a backfill could not read: its blocks up to To.
type UnreadHistory struct {
	Chain chain.ID
	To    uint64
	Err   error // of the last attempt
}

// HistoryError lists chains whose history is incomplete because no endpoint returns it: usually nodes have pruned it.
type HistoryError struct{ Unread []UnreadHistory } // ascending by chain

func (e *HistoryError) Error() string {
	texts := make([]string, len(e.Unread))
	for i, u := range e.Unread {
		texts[i] = fmt.Sprintf("chain %d up to block %d: %s", u.Chain, u.To, u.Err)
	}
	return "history not read: " + strings.Join(texts, "; ")
}

// Backfill reads the blocks before those that are followed, newest first, back to where each chain's orders begin.
// Every range is usable immediately, and a later Backfill resumes where this one stopped; gateways may follow the
// chains meanwhile. report is called for every step, from several goroutines. Backfill returns when all chains are done
// or ctx ends, with *HistoryError if some history could not be read to its beginning: the part read is stored.
func (b *Books) Backfill(ctx context.Context, report func(Progress)) error {
	unread := each(b.Readers, func(r *follow.Reader) *UnreadHistory {
		one := &backfill{Reader: r, width: follow.NewWidth(historyRanges * r.Range), report: report, progress: Progress{Chain: r.ID}}
		return one.run(ctx)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	var incomplete HistoryError
	for _, u := range unread {
		if u != nil {
			incomplete.Unread = append(incomplete.Unread, *u)
		}
	}
	if len(incomplete.Unread) > 0 {
		return &incomplete
	}
	return nil
}

type backfill struct {
	*follow.Reader
	width    follow.Width
	report   func(Progress)
	progress Progress

	first    uint64    // first block read so far; 0: not known
	firstAt  time.Time // when that was reached
	refusals int       // refusals to return the block before it
}

// run works until the history is read, ctx ends or the rest is given up, which it returns. Where another process does
// this job it waits for its end.
func (b *backfill) run(ctx context.Context) (unread *UnreadHistory) {
	pause := b.Paces.Asked
	for ctx.Err() == nil {
		before := b.progress.Read
		err := underLease(ctx, b.Reader, "backfill", b.read)
		if b.progress.Done || ctx.Err() != nil {
			return nil
		}
		if b.progress.Read != before {
			pause = b.Paces.Asked
		}
		pause = b.PauseAfter(err, pause)
		if errors.Is(err, ledger.ErrMoved) || errors.Is(err, store.ErrLeaseLost) {
			pause = b.Paces.Asked // the store has moved: continue from there
		} else {
			b.progress.Err = err
			if b.isHopeless(ctx, err) {
				b.progress.Done = true
				b.report(b.progress)
				return &UnreadHistory{b.ID, b.first - 1, err}
			}
			b.report(b.progress)
		}
		if IsRefusal(err) {
			pause = b.Paces.Asked // waiting longer does not help
		}
		if !order.Wait(ctx, pause, nil) {
			return nil
		}
	}
	return nil
}

// isHopeless reports whether retries will not get the block before the first one.
func (b *backfill) isHopeless(ctx context.Context, err error) bool {
	if b.first == 0 || errors.Is(err, store.ErrUnavailable) || errors.Is(err, errBusy) {
		return false
	}
	if IsRefusal(err) && b.width.Now == 1 {
		b.refusals++
	}
	if b.refusals >= mostRefusals {
		return true
	}
	if time.Since(b.firstAt) < stuckLimit {
		return false
	}
	_, headErr := b.Source.Head(ctx)
	return headErr == nil
}

// IsRefusal reports whether a chain's nodes understood a request and refused it.
func IsRefusal(err error) bool {
	refused, is := errors.AsType[interface {
		error
		IsRefusal() bool
	}](err)
	return is && refused.IsRefusal()
}

func (b *backfill) reached(first uint64) {
	if first != b.first || b.firstAt.IsZero() {
		b.first, b.firstAt, b.refusals = first, time.Now(), 0
	}
}

func (b *backfill) read(ctx context.Context, held store.Lease) error {
	position, known, err := b.Ledger.Checkpoint(ctx, b.ID)
	if err != nil {
		return err
	}
	if err := b.Hold(ctx, position); err != nil {
		return err
	}
	if !known {
		if position, err = beginAtFinal(ctx, b.Reader); err != nil {
			return err
		}
	}
	b.reached(position.First)
	origin, err := originBefore(ctx, b.Orders, position.First)
	if err != nil {
		return err
	}
	b.progress.Total = b.progress.Read + position.First - origin
	b.progress.Err = nil
	if err := b.readBack(ctx, held, position.First, origin); err != nil {
		return err
	}
	if err := b.Ledger.Level(ctx, held, b.ID, 0); err != nil {
		return err
	}
	b.progress.Done = true
	b.report(b.progress)
	return nil
}

// beginAtFinal stores the newest final block as the first one, for followers to continue from.
func beginAtFinal(ctx context.Context, r *follow.Reader) (begun ledger.Checkpoint, err error) {
	head, err := r.Source.Head(ctx)
	if err != nil {
		return begun, fmt.Errorf("read head: %w", err)
	}
	if err := r.FirstAnchor(ctx, head); err != nil {
		return begun, err
	}
	first, err := r.BeginAt(ctx, head.Finalized, head)
	return first.Checkpoint, err
}

// originBefore returns the first block of a chain that can hold an order, or a block if that is earlier.
func originBefore(ctx context.Context, reader order.Reader, block uint64) (uint64, error) {
	if reader == nil || block == 0 {
		return 0, nil
	}
	origin, err := reader.Origin(ctx)
	if IsRefusal(err) {
		return 0, nil // nodes have pruned the states to search, but may have the events
	}
	if err != nil {
		return 0, fmt.Errorf("find the first block with orders: %w", err)
	}
	return min(origin, block), nil
}

// readBack reads the blocks from origin to before first, the newest ranges first. The last range includes the blocks
// before origin without reading them: nothing can be in them.
func (b *backfill) readBack(ctx context.Context, held store.Lease, first, origin uint64) error {
	if first == 0 {
		return nil
	}
	return follow.InSequence(ctx, b.ReadAhead, b.newestFirst(origin, first),
		func(ctx context.Context, r ledger.Range) (ledger.Contents, error) {
			return b.readHistory(ctx, r, origin)
		},
		func(got ledger.Contents, err error) error {
			if err != nil {
				b.width.Failed()
				return err
			}
			b.width.Held(len(got.Events))
			if err := b.Ledger.Extend(ctx, held, b.ID, got); err != nil {
				return err
			}
			b.reached(got.From)
			b.progress.Read += got.To + 1 - max(got.From, origin)
			b.progress.Events += uint64(len(got.Events))
			b.report(b.progress)
			return nil
		})
}

// newestFirst plans ranges of blocks before end. The last range includes all blocks before origin.
func (b *backfill) newestFirst(origin, end uint64) func() (ledger.Range, bool) {
	return func() (ledger.Range, bool) {
		if end == 0 {
			return ledger.Range{}, false
		}
		r := ledger.Range{To: end - 1}
		if end > origin+b.width.Now {
			r.From = end - b.width.Now
		}
		end = r.From
		return r, true
	}
}

// readHistory returns the events of a range, and its first block.
func (b *backfill) readHistory(ctx context.Context, r ledger.Range, origin uint64) (ledger.Contents, error) {
	got := ledger.Contents{Range: r}
	if r.To < origin {
		return got, nil
	}
	var err error
	searched, read := ledger.Range{From: max(r.From, origin), To: r.To}, b.Source.Events
	if fromLogs, can := b.Source.(order.LogSource); can {
		read = fromLogs.EventsOfLogs
	}
	if got.Events, got.Quarantined, err = b.Events(ctx, searched, read); err != nil {
		return ledger.Contents{}, fmt.Errorf("read events of blocks %d to %d: %w", r.From, r.To, err)
	}
	if err = b.Confirm(ctx, searched, &got); err != nil {
		return ledger.Contents{}, fmt.Errorf("read events of blocks %d to %d again: %w", r.From, r.To, err)
	}
	if r.From == 0 {
		return got, nil // nothing is before it, so its time does not matter
	}
	if got.End, err = b.Source.Block(ctx, r.From); err != nil {
		return ledger.Contents{}, fmt.Errorf("read block %d: %w", r.From, err)
	}
	got.End.Number = max(got.End.Number, r.From) // if r.From was skipped, the block before it is still unread
	return got, nil
}
