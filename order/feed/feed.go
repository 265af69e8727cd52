// Package feed delivers the order log as it grows. A reader resumes after a position, which is valid on any replica,
// and gets the entries that match its filter. The newest are in memory: readers that keep up cost the database nothing.
package feed

import (
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// Limits and intervals of reading the log and keeping its tail in memory.
const (
	tailSize  = 4096
	atOnce    = 500
	gather    = 20 * time.Millisecond  // minimum between two reads, so that several entries are read together
	look      = 250 * time.Millisecond // maximum between two reads without news
	expiry    = 10 * time.Minute
	retryWait = time.Second
)

// ErrExpired says that entries after a position were deleted, ErrUnknown that no entry ever had the position: the
// database was restored, or the position comes from another gateway.
var (
	ErrExpired = errors.New("entries after the cursor were deleted")
	ErrUnknown = errors.New("the cursor is of another database, or of before this one was restored")
)

// Item is an entry with its encodings, shared by all clients: on its own, and as an event of a stream.
type Item struct {
	order.LogEntry
	Text, Event []byte
}

// Feed is the log. Run keeps the newest entries in memory.
type Feed struct {
	ledger ledger.Ledger
	encode func(order.LogEntry) (text, event []byte)
	news   chan struct{}

	mu    sync.Mutex
	tail  []*Item // ascending by position
	from  uint64  // position before the tail; 0: nothing was read yet
	end   uint64  // position at the tail's end
	grown chan struct{}
}

// New returns a feed of the log in a database; keep is how long entries are kept.
func New(db *store.DB, keep time.Duration, encode func(order.LogEntry) (text, event []byte)) *Feed {
	return &Feed{ledger: ledger.Ledger{DB: db, Keep: keep}, encode: encode, news: make(chan struct{}, 1), grown: make(chan struct{})}
}

// Look makes the feed read the log immediately, because it may have grown.
func (f *Feed) Look() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// Run reads the log and deletes old entries until ctx ends.
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

// readOn appends new entries to the tail, which nothing else changes.
func (f *Feed) readOn(ctx context.Context) (isMore bool, err error) {
	if f.from == 0 {
		newest, _, err := f.ledger.LogEnds(ctx)
		if err != nil {
			return false, err
		}
		f.mu.Lock()
		f.from, f.end = max(newest, 1), max(newest, 1)
		f.mu.Unlock()
		return true, nil
	}
	list, err := f.ledger.Entries(ctx, f.end, order.ID{}, atOnce)
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

// Part is the result of one read.
type Part struct {
	Items []*Item
	Next  uint64          // position to resume after
	Grown <-chan struct{} // closed when there may be more entries; nil: there may be more already
}

// Next returns up to most entries after a position that match a filter. Part.Next also skips entries that do not match.
// It returns ErrExpired if some of those after the position were deleted before they were read.
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
	if err == nil {
		err = f.Check(ctx, after)
	}
	if err != nil {
		return Part{}, err
	}
	part := Part{Next: after}
	for _, e := range list {
		if part.Next = e.Position; filter.Matches(&e) {
			part.Items = append(part.Items, f.item(e))
		}
	}
	switch isAll := len(list) < min(most, atOnce); {
	case isAll && from > 0:
		part.Next = max(part.Next, from) // the database had all entries up to from before it was read
	case isAll:
		part.Grown = grown
	}
	return part, nil
}

// Ends returns the newest position of the log, and the newest position whose entry was deleted.
func (f *Feed) Ends(ctx context.Context) (newest, deleted uint64, err error) {
	return f.ledger.LogEnds(ctx)
}

// Check reports whether reading can resume after a position: ErrExpired if entries after it were deleted, ErrUnknown if
// no entry ever had it. Zero means the oldest one kept; a whole second needs none, nor does 1, the end of an empty log.
func (f *Feed) Check(ctx context.Context, after uint64) error {
	f.mu.Lock()
	from, tail := f.from, f.tail
	f.mu.Unlock()
	at := sort.Search(len(tail), func(i int) bool { return tail[i].Position >= after })
	if from > 0 && after == from || at < len(tail) && tail[at].Position == after {
		return nil
	}
	// Read before the ends, because it may be deleted meanwhile.
	list, err := f.ledger.Entries(ctx, after-1, order.ID{}, 1)
	if err != nil {
		return err
	}
	newest, deleted, err := f.ledger.LogEnds(ctx)
	isEntry := len(list) > 0 && list[0].Position == after
	switch {
	case err != nil:
		return err
	case after > 0 && after < deleted:
		return ErrExpired
	case after > max(newest, 1), after > 1 && after != deleted && after%1_000_000 != 0 && !isEntry:
		return ErrUnknown
	}
	return nil
}

// Filter selects the entries for a reader: those that match all fields. Absent and empty fields match everything. A
// retraction also matches if the retracted event did.
type Filter struct {
	Order                  order.ID
	Maker, Receiver        chain.Address
	Taker                  chain.Address // fulfiller or unlock authority
	GiveChains, TakeChains []chain.ID
	GiveToken, TakeToken   chain.Address
	ReferralCode           *uint32
	States                 []order.State // before or after the entry's step
	FinalOnly              bool          // only steps that no reorg can undo, each once
	Undone                 chain.TxHash  // only retractions of the orders that it created
}

// Matches reports whether the filter selects an entry.
func (f *Filter) Matches(e *order.LogEntry) bool {
	switch {
	case f.FinalOnly && e.Step != order.Final && !e.IsFinal,
		f.Order != (order.ID{}) && f.Order != e.Order,
		!f.Undone.IsAbsent() && (f.Undone != e.At.Tx || e.Step != order.Retracted || e.Kind != order.KindOf(order.Created{})),
		len(f.States) > 0 && !slices.Contains(f.States, e.After) && !slices.Contains(f.States, e.Before):
		return false
	}
	return f.concerns(&e.Parties) || e.Step == order.Retracted && f.concerns(&e.Was)
}

func (f *Filter) concerns(p *order.Parties) bool {
	is := func(wanted, has chain.Address) bool { return wanted.IsAbsent() || wanted == has }
	in := func(wanted []chain.ID, has chain.ID) bool { return len(wanted) == 0 || slices.Contains(wanted, has) }
	return is(f.Maker, p.Maker) && is(f.Receiver, p.Receiver) &&
		(is(f.Taker, p.Fulfiller) || is(f.Taker, p.UnlockAuthority)) &&
		in(f.GiveChains, p.Give.Chain) && in(f.TakeChains, p.Take.Chain) &&
		is(f.GiveToken, p.Give.Token) && is(f.TakeToken, p.Take.Token) &&
		(f.ReferralCode == nil || p.ReferralCode != nil && *p.ReferralCode == *f.ReferralCode)
}
