// Package webhook delivers the feed of orders to subscribers according to Standard Webhooks: at least once, the events
// of one order in sequence, with retries over a day. The log is the queue: a subscriber has a position in it, and only
// deliveries that failed, and those behind them, have rows of their own. One replica delivers, under a lease.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"crossgate/internal/publicnet"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/store"
)

// How much is delivered at a time.
const (
	atOnce      = 200 // entries of the log in a pass
	mostWaiting = 1000
	passLimit   = 5 * time.Second // after which a pass starts no requests, and stores the results of earlier ones
	recordLimit = 2 * time.Second // to store these after a stop
	idle        = time.Second
	mostPause   = time.Minute // between passes that fail
)

// schedule lists the pauses after failures, together a day. A delivery that fails after the last one is dead.
var schedule = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour,
}

// Options configures a Deliverer.
type Options struct {
	Filter func(query string) (feed.Filter, error) // parses that of a Hook
	Now    func() time.Time                        // time.Now if nil
	Logger *slog.Logger
}

// Deliverer delivers to the subscribers in a database.
type Deliverer struct {
	Options
	db   *store.DB
	feed *feed.Feed

	guarded *http.Client // for subscribers that operators add: only public addresses
	trusted *http.Client // for those of the file
}

// New returns a deliverer of a feed.
func New(db *store.DB, f *feed.Feed, o Options) *Deliverer {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Deliverer{
		Options: o, db: db, feed: f,
		guarded: newClient(publicnet.Control), trusted: newClient(nil),
	}
}

// CheckURL returns why operators cannot add a subscriber at a URL, nil if they can. Host names are only resolved for
// deliveries.
func CheckURL(text string) error {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.User != nil {
		return errors.New("want a URL such as https://example.com/hook")
	}
	ip, err := netip.ParseAddr(at.Hostname())
	switch {
	case at.Scheme != "https":
		return errors.New("want an https URL")
	case at.Hostname() == "localhost" || err == nil && !publicnet.IsPublic(ip):
		return errors.New("want a public host; the file may name webhooks in private networks")
	}
	return nil
}

// Configure replaces the configured subscribers in the database by those of the file, all or none of them. Without a
// difference it writes nothing, and succeeds in a database that takes no changes.
func (d *Deliverer) Configure(ctx context.Context, hooks []Hook) error {
	known, err := d.Hooks(ctx)
	if err != nil {
		return err
	}
	gone, changed := slices.Clone(known), []Hook(nil)
	for _, h := range hooks {
		h.IsConfigured = true
		gone = slices.DeleteFunc(gone, func(is *Hook) bool { return is.Name == h.Name })
		if !slices.ContainsFunc(known, h.isSame) {
			changed = append(changed, h)
		}
	}
	gone = slices.DeleteFunc(gone, func(is *Hook) bool { return !is.IsConfigured })
	if len(changed)+len(gone) == 0 {
		return nil
	}
	newest, _, err := d.feed.Ends(ctx)
	if err != nil {
		return err
	}
	return d.db.Update(ctx, func(tx *store.Tx) error {
		for _, h := range changed {
			if err := put(ctx, tx, h, newest); err != nil {
				return fmt.Errorf("webhook %s: %w", h.Name, err)
			}
		}
		for _, h := range gone {
			if err := remove(ctx, tx, h.Name, true); err != nil && !errors.Is(err, ErrUnknown) { // another replica was faster
				return err
			}
		}
		return nil
	})
}

// Run delivers whenever no other replica does, until ctx ends.
func (d *Deliverer) Run(ctx context.Context) { d.db.Lead(ctx, "deliver webhooks", d.lead) }

// lead delivers to each subscriber in a goroutine of its own, so that a slow one delays no other, until ctx ends.
func (d *Deliverer) lead(ctx context.Context, lease store.Lease) {
	var delivering sync.WaitGroup
	defer delivering.Wait()
	stops := map[string]context.CancelFunc{}
	for {
		hooks, err := d.Hooks(ctx)
		gone := maps.Clone(stops)
		for _, h := range hooks {
			delete(gone, h.Name)
			if stops[h.Name] == nil {
				one, stop := context.WithCancel(ctx)
				stops[h.Name] = stop
				delivering.Go(func() { d.serve(one, lease, h.Name) })
			}
		}
		for name, stop := range gone {
			if err == nil {
				stop()
				delete(stops, name)
			}
		}
		if !order.Wait(ctx, idle, nil) {
			return
		}
	}
}

// serve delivers to a subscriber until ctx ends, even if it is removed: it may be added again before lead notices.
func (d *Deliverer) serve(ctx context.Context, lease store.Lease, name string) {
	var failure store.Failure
	for pause := idle; ; {
		grown, err := d.Pass(ctx, lease, name)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			pause = idle
		case errors.Is(err, ErrUnknown), errors.Is(err, store.ErrUnavailable):
			grown = make(chan struct{}) // never closed: a pause
		default:
			grown, pause = make(chan struct{}), min(2*pause, mostPause) // something may be sent once more
		}
		if !errors.Is(err, ErrUnknown) {
			failure.Log(ctx, d.Logger.With("webhook", name), err, "webhook: nothing delivered", "webhook: delivers again")
		}
		if grown != nil && !order.Wait(ctx, pause, grown) {
			return
		}
	}
}

// Pass delivers everything that is due and the next part of the log to a subscriber, and stores the results. grown is
// closed when there may be more; nil: there may be more already.
func (d *Deliverer) Pass(ctx context.Context, lease store.Lease, name string) (grown <-chan struct{}, err error) {
	h, err := hook(ctx, d.db, name)
	if err != nil {
		return nil, err
	}
	never := make(chan struct{})
	if d.Now().Unix() < h.PausedUntil {
		return never, nil
	}
	filter, err := d.Filter(h.Filter)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	all, err := d.waiting(ctx, name)
	if err != nil {
		return nil, err
	}
	o := passed{next: h.Position}
	if d.db.Writable() != nil { // send nothing that could not be recorded, and would be sent again
		if err := d.record(ctx, lease, h, o); err != nil {
			return nil, err
		}
	}
	grown = never
	if err := d.feed.Check(ctx, h.Position); errors.Is(err, feed.ErrExpired) || errors.Is(err, feed.ErrUnknown) {
		if _, o.next, err = d.feed.Ends(ctx); err != nil {
			return nil, err
		}
		o.error = "events were deleted before they could be delivered: its copy of the orders has to begin anew"
	}
	if len(all) < mostWaiting {
		part, err := d.feed.Next(ctx, o.next, filter, atOnce)
		if err != nil {
			return nil, err
		}
		o.next, grown = part.Next, part.Grown
		for _, item := range part.Items {
			all = append(all, &delivery{position: item.Position, order: item.Order, body: bodyOf(item)})
		}
	}
	d.sendAll(ctx, h, all, &o)
	if len(o.sent)+len(o.failed)+len(o.dead)+len(o.untouched) == 0 && o.error == "" && o.next == h.Position {
		return grown, nil
	}
	d.count(name, &o)
	if ctx.Err() != nil { // else all of it would be sent again
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
		defer cancel()
	}
	return grown, d.record(ctx, lease, h, o)
}

func bodyOf(item *feed.Item) []byte {
	at := time.UnixMicro(int64(item.Position)).UTC().Format(time.RFC3339Nano)
	body := append([]byte(`{"type":"order.`+item.Step.String()+`","timestamp":"`+at+`","data":`), item.Text...)
	return append(body, '}')
}

// sendAll sends the deliveries of each order in sequence, and those of different orders concurrently.
func (d *Deliverer) sendAll(ctx context.Context, h *Hook, all []*delivery, o *passed) {
	lanes, sequence := map[order.ID][]*delivery{}, []order.ID{}
	for _, each := range all {
		if lanes[each.order] == nil {
			sequence = append(sequence, each.order)
		}
		lanes[each.order] = append(lanes[each.order], each)
	}
	var mu sync.Mutex
	var sending sync.WaitGroup
	begun, places := time.Now(), make(chan struct{}, perHook)
	for _, id := range sequence {
		places <- struct{}{}
		sending.Go(func() {
			defer func() { <-places }()
			isDue := true // until a delivery is not, or fails
			for _, each := range lanes[id] {
				mu.Lock()
				isDue = isDue && max(each.due, o.pausedUntil) <= d.Now().Unix() && time.Since(begun) <= passLimit
				mu.Unlock()
				err := errNotDue
				if isDue {
					err = d.send(ctx, h, each)
				}
				isDue = err == nil
				mu.Lock()
				d.note(each, err, o)
				mu.Unlock()
			}
		})
	}
	sending.Wait()
}

// errNotDue is the result of a delivery that was not tried.
var errNotDue = errors.New("not due")

func (d *Deliverer) note(of *delivery, err error, o *passed) {
	failed, is := errors.AsType[*failure](err)
	switch {
	case err == nil:
		o.sent = append(o.sent, of)
	case !is && !of.isStored:
		o.untouched = append(o.untouched, of)
	case is && of.attempts == len(schedule):
		of.attempts++
		of.error, o.error = failed.text, failed.text
		o.dead = append(o.dead, of)
	case is:
		pause := max(schedule[of.attempts], failed.retry)
		of.attempts++
		of.error, o.error, of.due = failed.text, failed.text, d.Now().Add(pause).Unix()
		o.failed = append(o.failed, of)
		if failed.retry > 0 {
			o.pausedUntil = max(o.pausedUntil, d.Now().Add(failed.retry).Unix())
		}
	}
}
