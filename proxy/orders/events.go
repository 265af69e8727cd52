package orders

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/wire"
)

// Limits of the feed: maximum and default number of events per answer.
const (
	mostEvents    = 1000
	usuallyEvents = 100
	streamedParts = 200 // events written to a stream at a time
	mostParts     = 20  // parts of the log to search for the events of one answer
)

type events struct {
	after   uint64 // position
	isGiven bool
	filter  feed.Filter
	most    uint64
}

// EventsRoute answers with what happened to orders after a cursor, or streams it.
func (s *Orders) EventsRoute() proxy.Route[events] {
	return proxy.Route[events]{
		Paths:   []string{"/v1.0/events"},
		Dialect: proxy.Swapping,
		Cost:    proxy.ListCost,
		Parse:   s.parseEvents,
		Key:     func(path string, q events) cache.Key { return proxy.KeyOf(path, q.after, q.isGiven, q.filter, q.most) },
		Load:    s.loadEvents,
		Follow: func(ctx context.Context, q events, _ string) (proxy.Follower, error) {
			after, err := s.begin(ctx, q)
			return s.follow(after, q.filter), err
		},
	}
}

func (s *Orders) parseEvents(c *gin.Context) (q events, err error) {
	m := membersOf(proxy.ReadForm(c.Request.URL.RawQuery))
	if last := c.GetHeader("Last-Event-ID"); last != "" && proxy.WantsStream(c.Request) {
		m.Values["cursor"] = []string{last} // a reconnecting EventSource resumes here, whatever its URL says
	}
	q.filter = readFilter(m)
	q.after, q.isGiven = m.Number("cursor", math.MaxInt64)
	q.most = usuallyEvents
	if limit, given := m.Number("limit", longestNumber); given {
		q.most = min(max(limit, 1), mostEvents)
	}
	return q, m.Problem(proxy.InvalidParameters)
}

// membersOf reads parameters like the members of a body. Lists may also be joined by commas.
func membersOf(values url.Values) *Members {
	spelled := url.Values{}
	for name, each := range values {
		for _, value := range each {
			for part := range strings.SplitSeq(value, ",") {
				spelled.Add(name, part)
			}
		}
	}
	return &Members{proxy.QueryOf(spelled)}
}

const filterNames = "orderId maker receiver taker giveChainIds takeChainIds giveTokenAddress takeTokenAddress referralCode orderStates delivery"

// ParseFeedFilter parses a filter spelled like the parameters of /v1.0/events, and rejects unknown parameters.
func ParseFeedFilter(rawQuery string) (feed.Filter, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return feed.Filter{}, err
	}
	m := membersOf(values)
	filter := readFilter(m)
	for name := range m.Values {
		if !slices.ContainsFunc(strings.Fields(filterNames), func(known string) bool { return strings.EqualFold(known, name) }) {
			m.Mistake(name + " is not a filter: want some of " + filterNames)
		}
	}
	if len(m.Wrong) > 0 {
		return filter, errors.New(strings.Join(m.Wrong, "; "))
	}
	return filter, nil
}

func readFilter(m *Members) (f feed.Filter) {
	if text := m.text("orderId"); text != "" {
		id, err := chain.ParseHash(text)
		if err != nil {
			m.Mistake("orderId must be 0x followed by 64 hex digits")
		}
		f.Order = id
	}
	f.Maker, f.Receiver, f.Taker = m.address("maker"), m.address("receiver"), m.address("taker")
	f.GiveChains, f.TakeChains = m.chains("giveChainIds"), m.chains("takeChainIds")
	f.GiveToken, f.TakeToken = m.address("giveTokenAddress"), m.address("takeTokenAddress")
	if code, given := m.ReferralCode(); given {
		f.ReferralCode = &code
	}
	f.States = words(m, "orderStates", AllStates, order.State.String)
	f.FinalOnly = m.word("delivery", []string{"now", "final"}) == "final"
	return f
}

// cursorProblem returns the problem of a cursor that cannot be resumed from, for an error of the feed; nil for nil.
func (s *Orders) cursorProblem(err error) error {
	switch {
	case errors.Is(err, feed.ErrExpired):
		return proxy.CursorExpired.Because("")
	case errors.Is(err, feed.ErrUnknown):
		return proxy.CursorUnknown.Because("")
	case err != nil:
		return errors.Join(query.ErrUnavailable, err)
	}
	return nil
}

// begin returns the position that a question begins after: a valid cursor, or the newest.
func (s *Orders) begin(ctx context.Context, q events) (after uint64, err error) {
	if q.isGiven {
		return q.after, s.cursorProblem(s.feed.Check(ctx, q.after))
	}
	after, _, err = s.feed.Ends(ctx)
	return after, s.cursorProblem(err)
}

func (s *Orders) loadEvents(ctx context.Context, q events) ([]proxy.Body, cache.Life, error) {
	next, err := s.begin(ctx, q)
	var items []*feed.Item
	if err == nil && q.isGiven {
		items, next, err = s.search(ctx, q.after, q.filter, int(q.most))
	}
	if err != nil {
		return nil, proxy.NoLife, err
	}
	texts := make([][]byte, len(items))
	for i, item := range items {
		texts[i] = item.Text
	}
	return proxy.OneBody(wire.Entries(texts, next)), proxy.NoLife, nil
}

// search returns up to most of the events after a position that match a filter, and the position to resume at.
func (s *Orders) search(ctx context.Context, after uint64, filter feed.Filter, most int) (found []*feed.Item, next uint64, err error) {
	next = after
	for range mostParts {
		part, err := s.feed.Next(ctx, next, filter, most-len(found))
		if err != nil {
			return nil, 0, s.cursorProblem(err)
		}
		found, next = append(found, part.Items...), part.Next
		if len(found) == most || part.Grown != nil {
			break
		}
	}
	return found, next, nil
}

// followed streams the order that a route answers with, starting at the oldest event kept. A client that resumes gets
// the retraction of an order that is gone by now: gone returns its id, absent if it was not there.
func followed[Q any](
	s *Orders, route func() proxy.Route[Q], gone func(ctx context.Context, question Q, after uint64) (order.ID, error),
) func(context.Context, Q, string) (proxy.Follower, error) {
	return func(ctx context.Context, question Q, last string) (proxy.Follower, error) {
		var after uint64
		if last != "" {
			var err error
			if after, err = strconv.ParseUint(last, 10, 63); err != nil {
				return nil, proxy.InvalidParameters.Because("Last-Event-ID must be the id of an event")
			}
		}
		var of order.ID
		found, err := route().Answer(ctx, s.server, question)
		switch {
		case err == nil:
			of = found.Orders[0]
		case last != "" && (IsMissing(err) || proxy.IsKind(err, proxy.UnknownOrder)):
			if id, unread := gone(ctx, question, after); unread != nil || !id.IsAbsent() {
				of, err = id, unread
			}
		}
		if err != nil {
			return nil, err
		}
		return s.follow(after, feed.Filter{Order: of}), s.cursorProblem(s.feed.Check(ctx, after))
	}
}

// goneOf returns the order that a transaction created, if that was retracted after a position; else an absent id.
func (s *Orders) goneOf(ctx context.Context, q Creation, after uint64) (id order.ID, err error) {
	gone, _, err := s.search(ctx, after, feed.Filter{Undone: q.Tx}, mostEvents)
	slices.SortFunc(gone, func(a, b *feed.Item) int { return a.At.Compare(&b.At) })
	var ids []order.ID
	for _, item := range gone {
		ids = proxy.AddOnce(ids, item.Order)
	}
	if q.Index < len(ids) {
		id = ids[q.Index]
	}
	return id, err
}

// follow streams the events after a position that match a filter. Heartbeat comments carry the position too, the first
// one immediately, so that a client resumes there even if it reconnects before the first event.
func (s *Orders) follow(after uint64, filter feed.Filter) proxy.Follower {
	return func(ctx context.Context, to *proxy.Events) {
		beat := time.NewTimer(0)
		defer beat.Stop()
		for grown := (<-chan struct{})(nil); !to.Broken; {
			select {
			case <-grown:
			case <-beat.C:
				to.Send(fmt.Appendf(nil, "id: %d\n: still here\n\n", after))
				beat.Reset(proxy.StreamHeartbeat)
			case <-ctx.Done():
				return
			}
			var err error
			if grown, err = s.sendPart(ctx, to, &after, &filter); err != nil {
				return // the database is unreachable or has deleted the next events; the client reconnects
			}
		}
	}
}

func (s *Orders) sendPart(ctx context.Context, to *proxy.Events, after *uint64, filter *feed.Filter) (grown <-chan struct{}, err error) {
	for {
		part, err := s.feed.Next(ctx, *after, *filter, streamedParts)
		if err != nil {
			return nil, err
		}
		*after = part.Next
		if len(part.Items) > 0 {
			texts := make([][]byte, len(part.Items))
			for i, item := range part.Items {
				texts[i] = item.Event
			}
			to.Send(texts...)
		}
		if part.Grown != nil || to.Broken || ctx.Err() != nil {
			return part.Grown, nil
		}
	}
}

// EncodeEntry returns the encoder of entries for clients: text is the entry, event wraps it as a server-sent event.
func EncodeEntry(chains chain.Registry) func(order.LogEntry) (text, event []byte) {
	encoder := wire.Encoder{Chains: chains}
	return func(e order.LogEntry) (text, event []byte) {
		event = fmt.Appendf(nil, "id: %d\nevent: %s\ndata: ", e.Position, e.Step)
		begin := len(event)
		event = append(encoder.AppendEntry(event, e), "\n\n"...)
		return event[begin : len(event)-2 : len(event)-2], event
	}
}
