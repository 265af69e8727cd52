package proxy

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/order"
)

// statisticsLife is the life of statistics, which nobody needs by the second.
var statisticsLife = cache.Life{Fresh: time.Minute, Stale: 10 * time.Minute, IfError: time.Hour}

// Days that daily statistics are about: of a client who does not say, and the most.
const (
	usualDays    = 30
	mostDays     = 366
	secondsOfDay = 86_400
)

// days are UNIX days, both included.
type days struct{ from, to uint64 }

func daysKey(path string, q days) cache.Key {
	return cache.KeyOf(path, binary.BigEndian.AppendUint64(nil, q.from), binary.BigEndian.AppendUint64(nil, q.to))
}

// daysRoute answers something of some days.
func (s *Orders) daysRoute(paths []string, load func(context.Context, days) ([]jsonBody, cache.Life, error)) route[days] {
	return route[days]{
		paths:   paths,
		dialect: tracking,
		cost:    listCost,
		limit:   s.limit,
		parse:   func(c *gin.Context) (days, error) { return parseDays(c.Request.URL.RawQuery, time.Now()) },
		key:     daysKey,
		load:    load,
	}
}

// dailyRoute answers how much went between which chains on each day. The documented path is misspelt.
func (s *Orders) dailyRoute() route[days] {
	r := s.daysRoute([]string{"/api/Satistics/getDaily", "/api/Statistics/getDaily"}, func(ctx context.Context, q days) ([]jsonBody, cache.Life, error) {
		rows, before, basis, err := s.options.Statistics.Daily(ctx, q.from, q.to)
		if err != nil {
			return nil, noLife, err
		}
		running := order.Accumulate(before, rows, q.from, q.to)
		return []jsonBody{{text: string(s.encoder.AppendDaily(nil, rows, running)), basis: basis}}, statisticsLife, nil
	})
	r.indexed, r.shared = true, true
	return r
}

// deliveryTimesRoute answers how long orders took. The hosted service has no such path.
func (s *Orders) deliveryTimesRoute() route[days] {
	r := s.daysRoute([]string{"/api/Statistics/getDeliveryTimes"}, func(ctx context.Context, q days) ([]jsonBody, cache.Life, error) {
		times, basis, err := s.options.Statistics.DeliveryTimes(ctx, q.from, q.to)
		if err != nil {
			return nil, noLife, err
		}
		return []jsonBody{{text: string(s.encoder.AppendDeliveryTimes(nil, times)), basis: basis}}, statisticsLife, nil
	})
	r.indexed, r.shared = true, true
	return r
}

// allTimeRoute answers how much there was in all.
func (s *Orders) allTimeRoute() route[struct{}] {
	return route[struct{}]{
		paths:   []string{"/api/Satistics/getAllTime", "/api/Statistics/getAllTime"},
		dialect: tracking,
		cost:    listCost,
		limit:   s.limit,
		parse:   func(*gin.Context) (struct{}, error) { return struct{}{}, nil },
		key:     func(path string, _ struct{}) cache.Key { return cache.KeyOf(path) },
		load: func(ctx context.Context, _ struct{}) ([]jsonBody, cache.Life, error) {
			all, basis, err := s.options.Statistics.AllTime(ctx)
			if err != nil {
				return nil, noLife, err
			}
			text := s.encoder.AppendAllTime(nil, all, uint64(time.Now().Unix()))
			return []jsonBody{{text: string(text), basis: basis}}, statisticsLife, nil
		},
		indexed: true,
		shared:  true,
	}
}

// venuesRoute answers what became of venues. The hosted service has no such path.
func (s *Orders) venuesRoute() route[days] {
	return s.daysRoute([]string{"/api/Statistics/getVenues"}, func(ctx context.Context, q days) ([]jsonBody, cache.Life, error) {
		venues, err := s.options.Statistics.Venues(ctx, q.from, q.to)
		if err != nil {
			return nil, noLife, err
		}
		return oneBody(s.encoder.AppendVenues(nil, venues)), statisticsLife, nil
	})
}

// parseDays reads dateFrom and dateTo, both included. Days to come have no orders.
func parseDays(rawQuery string, now time.Time) (q days, err error) {
	p, err := readQuery(rawQuery)
	if err != nil {
		return q, err
	}
	p.inAnyCase("dateFrom", "dateTo")
	today := uint64(now.Unix()) / secondsOfDay
	to, isTo := date(&p, "dateTo")
	if q.to = min(to, today); !isTo {
		q.to = today
	}
	from, isFrom := date(&p, "dateFrom")
	if q.from = from; !isFrom {
		q.from = q.to - min(q.to, usualDays-1)
	}
	switch {
	case isTo && from > to:
		p.mistake("dateFrom must not be after dateTo")
	case q.from <= q.to && q.to-q.from >= mostDays:
		p.mistake("dateFrom to dateTo must be at most 366 days, both included")
	}
	return q, p.err()
}

// date reads a parameter as a UNIX day: a date, or a time of it.
func date(p *query, name string) (day uint64, given bool) {
	text, ok := p.value(name)
	if !ok || text == "" {
		return 0, false
	}
	for _, form := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(form, text); err == nil && at.Unix() >= 0 {
			return uint64(at.Unix()) / secondsOfDay, true
		}
	}
	p.mistake(name + " must be a date such as 2025-10-01, or a time such as 2025-10-01T00:00:00Z")
	return 0, false
}
