package orders

import (
	"context"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
)

// statisticsLife is the life of statistics, which may be a minute old.
var statisticsLife = cache.Life{Fresh: time.Minute, Stale: 10 * time.Minute, IfError: time.Hour}

// Limits of the days that daily statistics cover: the default and the maximum.
const (
	UsualDays    = 30
	mostDays     = 366
	SecondsOfDay = 86_400
)

// Days is an inclusive range of UNIX days.
type Days struct{ From, To uint64 }

// LastDays returns the last days up to and including today.
func LastDays(days uint64, now time.Time) Days {
	today := uint64(now.Unix()) / SecondsOfDay
	return Days{From: today - (days - 1), To: today}
}

// daysRoute returns a route that answers about a range of days, from the order index or not.
func (s *Orders) daysRoute(isIndexed bool, load func(context.Context, Days) ([]proxy.Body, cache.Life, error), paths ...string) proxy.Route[Days] {
	return proxy.Route[Days]{
		Paths:   paths,
		Cost:    proxy.ListCost,
		Parse:   func(c *gin.Context) (Days, error) { return parseDays(c.Request.URL.RawQuery, time.Now()) },
		Key:     func(path string, q Days) cache.Key { return proxy.KeyOf(path, q) },
		Load:    load,
		Indexed: isIndexed,
		Stored:  isIndexed,
	}
}

// DailyRoute answers with the daily volumes between chains. The documented path is misspelt.
func (s *Orders) DailyRoute() proxy.Route[Days] {
	return s.daysRoute(true, func(ctx context.Context, q Days) ([]proxy.Body, cache.Life, error) {
		rows, before, basis, err := s.Options().Statistics.Daily(ctx, q.From, q.To)
		if err != nil {
			return nil, proxy.NoLife, err
		}
		running := order.Accumulate(before, rows, q.From, q.To)
		return []proxy.Body{{Text: string(s.encoder.AppendDaily(nil, rows, running)), Value: rows, Basis: basis}}, statisticsLife, nil
	}, "/api/Satistics/getDaily", "/api/Statistics/getDaily")
}

// DeliveryTimesRoute answers with how long orders took. The hosted service has no such path.
func (s *Orders) DeliveryTimesRoute() proxy.Route[Days] {
	return s.daysRoute(true, func(ctx context.Context, q Days) ([]proxy.Body, cache.Life, error) {
		times, basis, err := s.Options().Statistics.DeliveryTimes(ctx, q.From, q.To)
		if err != nil {
			return nil, proxy.NoLife, err
		}
		return []proxy.Body{{Text: string(s.encoder.AppendDeliveryTimes(nil, times)), Value: times, Basis: basis}}, statisticsLife, nil
	}, "/api/Statistics/getDeliveryTimes")
}

// UsualTimes returns the delivery times between two chains in the last days, nil if there were no orders or the times
// are not known at the moment.
func (s *Orders) UsualTimes(ctx context.Context, give, take chain.ID, now time.Time) *order.DeliveryTimes {
	found, _, err := s.DeliveryTimesRoute().Ask(ctx, s.server, LastDays(UsualDays, now))
	if err != nil {
		return nil
	}
	all := found.Value.([]order.DeliveryTimes)
	if i := slices.IndexFunc(all, func(t order.DeliveryTimes) bool { return t.Give == give && t.Take == take }); i >= 0 {
		return &all[i]
	}
	return nil
}

func (s *Orders) allTimeRoute() proxy.Route[struct{}] {
	return proxy.Route[struct{}]{
		Paths: []string{"/api/Satistics/getAllTime", "/api/Statistics/getAllTime"},
		Cost:  proxy.ListCost,
		Parse: func(*gin.Context) (struct{}, error) { return struct{}{}, nil },
		Key:   func(path string, _ struct{}) cache.Key { return cache.KeyOf(path) },
		Load: func(ctx context.Context, _ struct{}) ([]proxy.Body, cache.Life, error) {
			all, basis, err := s.Options().Statistics.AllTime(ctx)
			if err != nil {
				return nil, proxy.NoLife, err
			}
			text := s.encoder.AppendAllTime(nil, all, uint64(time.Now().Unix()))
			return []proxy.Body{{Text: string(text), Basis: basis}}, statisticsLife, nil
		},
		Indexed: true,
		Stored:  true,
	}
}

// VenuesRoute answers with the results of venues. The hosted service has no such path.
func (s *Orders) VenuesRoute() proxy.Route[Days] {
	return s.daysRoute(false, func(ctx context.Context, q Days) ([]proxy.Body, cache.Life, error) {
		venues, err := s.Options().Venues(ctx, q.From, q.To)
		if err != nil {
			return nil, proxy.NoLife, err
		}
		return []proxy.Body{{Text: string(s.encoder.AppendVenues(nil, venues)), Value: venues}}, statisticsLife, nil
	}, "/api/Statistics/getVenues")
}

// parseDays parses dateFrom and dateTo, both inclusive. Days in the future have no orders.
func parseDays(rawQuery string, now time.Time) (q Days, err error) {
	p := proxy.ReadQuery(rawQuery)
	today := uint64(now.Unix()) / SecondsOfDay
	to, isTo := date(&p, "dateTo")
	if q.To = min(to, today); !isTo {
		q.To = today
	}
	from, isFrom := date(&p, "dateFrom")
	if q.From = from; !isFrom {
		q.From = q.To - min(q.To, UsualDays-1)
	}
	switch {
	case isTo && from > to:
		p.Mistake("dateFrom must not be after dateTo")
	case q.From <= q.To && q.To-q.From >= mostDays:
		p.Mistake("dateFrom to dateTo must be at most 366 days, both included")
	}
	return q, p.Err()
}

// date parses a parameter, a date or a time, as a UNIX day.
func date(p *proxy.Query, name string) (day uint64, given bool) {
	text, ok := p.Value(name)
	if !ok || text == "" {
		return 0, false
	}
	for _, form := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(form, text); err == nil && at.Unix() >= 0 {
			return uint64(at.Unix()) / SecondsOfDay, true
		}
	}
	p.Mistake(name + " must be a date such as 2025-10-01, or a time such as 2025-10-01T00:00:00Z")
	return 0, false
}
