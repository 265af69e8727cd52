// Package feed hands out the log of orders as it grows. A reader goes on after a position, which any replica knows, and
// gets the entries that its filter matches. The newest are in memory: readers that keep up cost the database nothing.
package feed

import (
	"context"
	"errors"
	"sort"
	"sync"
	"time"

	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// How the log is read, and how much of it is in memory.
const (
	tailSize  = 4096
	atOnce    = 500
	gather    = 20 * time.Millisecond  // between two looks at most, so that several entries are read together
	look      = 250 * time.Millisecond // without news
	expiry    = 10 * time.Minute
	retryWait = time.Second
)

// ErrExpired says that entries after a position were deleted; ErrAhead that no entry ever had it: the database was
// restored, or the position is another gateway's.
var (
	ErrExpired = errors.New("entries after the cursor were deleted")
	ErrAhead   = errors.New("the cursor is ahead of the log")
)

// Item is an entry with the texts that all clients read: alone, and as an event of a stream.
type Item struct {
	order.LogEntry
	Text, Event []byte
}

// Feed is the log. Run keeps its newest entries at hand.
type Feed struct {
	ledger ledger.Ledger
	encode func(order.LogEntry) (text, event []byte)
	news   chan struct{}

	mu    sync.Mutex
	tail  []*Item // ascending positions
	from  uint64  // position that the tail follows on; 0: nothing was read yet
	end   uint64  // of the tail
	grown chan struct{}
}

// New makes a feed of the log in a database, whose entries are kept for so long.
func New(db *store.DB, keep time.Duration, encode func(order.LogEntry) (text, event []byte)) *Feed {
	return &Feed{ledger: ledger.Ledger{DB: db, Keep: keep}, encode: encode, news: make(chan struct{}, 1), grown: make(chan struct{})}
}

// Keep is how long entries are kept.
func (f *Feed) Keep() time.Duration { return f.ledger.Keep }

// Look has the feed read the log at once: it has grown, or may have.
func (f *Feed) Look() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// Run reads the log, and deletes old entries, until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	var expired time.Time
	for pause := time.Duration(0); order.Wait(ctx, pause, nil); {
		isMore, err := f.readOn(ctx)
		if err == nil && time.Since(expired) > expiry {
			expired, err = time.Now(), f.ledger.Expire(ctx)
		}
		switch pause = gather; {
		case err != nil:
			pause = retryWait
		case !isMore && !order.Wait(ctx, look, f.news):
			return
		}
	}
}

// readOn appends new entries to the tail.
func (f *Feed) readOn(ctx context.Context) (isMore bool, err error) {
	f.mu.Lock()
	begun, after := f.from > 0, f.end
	f.mu.Unlock()
	if !begun {
		newest, _, err := f.ledger.LogEnds(ctx)
		if err != nil {
			return false, err
		}
		f.mu.Lock()
		f.from, f.end = max(newest, 1), max(newest, 1)
		f.mu.Unlock()
		return true, nil
	}
	list, err := f.ledger.Entries(ctx, after, order.ID{}, atOnce)
	if err != nil || len(list) == 0 {
		return false, err
	}
	items := make([]*Item, len(list))
	for i, e := range list {
		items[i] = f.item(e)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tail = append(f.tail, items...)
	f.end = list[len(list)-1].Position
	if surplus := len(f.tail) - tailSize; surplus > 0 {
		f.from = f.tail[surplus-1].Position
		f.tail = append([]*Item(nil), f.tail[surplus:]...)
	}
	close(f.grown)
	f.grown = make(chan struct{})
	return len(list) == atOnce, nil
}

func (f *Feed) item(e order.LogEntry) *Item {
	text, event := f.encode(e)
	return &Item{e, text, event}
}

// Part is what a reader gets at once.
type Part struct {
	Items []*Item
	Next  uint64          // position to go on after
	Grown <-chan struct{} // closed when there may be more; nil: there may be already
}

// Next returns the entries after a position that a filter matches, most at the most. It may have looked at entries that
// match nothing: then Next is after them.
func (f *Feed) Next(ctx context.Context, after uint64, filter Filter, most int) (Part, error) {
	f.mu.Lock()
	from, end, tail, grown := f.from, f.end, f.tail, f.grown
	f.mu.Unlock()
	if from > 0 && after >= from {
		first := sort.Search(len(tail), func(i int) bool { return tail[i].Position > after })
		part := Part{Next: max(after, end), Grown: grown}
		for _, item := range tail[first:] {
			if len(part.Items) == most {
				part.Next, part.Grown = part.Items[most-1].Position, nil
				break
			}
			if filter.Matches(&item.LogEntry) {
				part.Items = append(part.Items, item)
			}
		}
		return part, nil
	}
	list, err := f.ledger.Entries(ctx, after, filter.Order, min(most, atOnce))
	if err != nil {
		return Part{}, err
	}
	part := Part{Next: after}
	if len(list) > 0 {
		part.Next = list[len(list)-1].Position
	}
	switch isAll := len(list) < min(most, atOnce); {
	case isAll && from > 0:
		part.Next = max(part.Next, from) // the database had all of it before it was asked
	case isAll:
		part.Grown = grown
	}
	for _, e := range list {
		if filter.Matches(&e) {
			part.Items = append(part.Items, f.item(e))
		}
	}
	return part, nil
}

// Ends are the position after everything that there is, and that before everything that is kept.
func (f *Feed) Ends(ctx context.Context) (newest, oldest uint64, err error) {
	return f.ledger.LogEnds(ctx)
}

// Check returns ErrExpired or ErrAhead where a reader cannot go on after a position. Zero stands for the oldest entry
// that is kept.
func (f *Feed) Check(ctx context.Context, after uint64) error {
	newest, deleted, err := f.ledger.LogEnds(ctx)
	switch {
	case err != nil:
		return err
	case after > newest:
		return ErrAhead
	case after > 0 && after < deleted:
		return ErrExpired
	}
	return nil
}
