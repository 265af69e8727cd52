package quote

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/big"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// History records how venues fared, across reloads but not restarts. The zero value is empty; safe for concurrent use.
type History struct {
	mu     sync.Mutex
	venues map[string]*venueHistory
	days   map[venueOfDay]VenueDay // since the last Take
}

// Record sums up how a venue fared.
type Record struct {
	Name                                  string // of the venue
	Won, Outbid, Refused, Silent, LeftOut uint64
	Took                                  time.Duration // of its latest request; zero before that
	Reason                                string        // of its latest refusal; empty if there was none
	At                                    time.Time     // of its latest refusal
	FailingSince                          time.Time     // start of a day or more of only failures; or zero
}

// venueHistory is a venue's record with its first and latest failure since it answered. To be unasked is not a failure.
type venueHistory struct {
	Record
	first, latest time.Time
}

// failsAfter is how long a venue must return nothing but failures before it counts as failing.
const failsAfter = 24 * time.Hour

func (v *venueHistory) isFailing() bool { return v.latest.Sub(v.first) >= failsAfter }

// VenueDay counts how a venue fared in the comparisons of a UNIX day.
type VenueDay struct {
	Day       uint64
	Venue     string
	Quoted    uint64 // comparisons with a winner in which the venue quoted
	Won       uint64 // of these
	Contested uint64 // of the won ones, those in which another venue's quote could have been taken
	Gain      int64  // sum of its leads over the next best venue, in millionths; negative: its gas was cheaper
}

type venueOfDay struct {
	day   uint64
	venue string
}

// Records returns the record of every venue, in the sequence of Options.Venues.
func (e *Estimator) Records() []Record {
	records := make([]Record, len(e.venues))
	e.History.mu.Lock()
	defer e.History.mu.Unlock()
	for i, each := range e.venues {
		v := e.History.venueLocked(each.profile.Name)
		if records[i] = v.Record; v.isFailing() {
			records[i].FailingSince = v.first
		}
	}
	return records
}

func (h *History) venueLocked(name string) *venueHistory {
	if h.venues == nil {
		h.venues = make(map[string]*venueHistory)
	}
	if h.venues[name] == nil {
		h.venues[name] = &venueHistory{Record: Record{Name: name}}
	}
	return h.venues[name]
}

// slowestFirst returns the indices of the queries in the sequence to ask them: a round takes as long as its slowest
// venue plus the requests queued ahead of it.
func (h *History) slowestFirst(queries []venueQuery) []int {
	sequence, took := make([]int, len(queries)), make([]time.Duration, len(queries))
	h.mu.Lock()
	for i, q := range queries {
		sequence[i], took[i] = i, h.venueLocked(q.profile.Name).Took
	}
	h.mu.Unlock()
	slices.SortStableFunc(sequence, func(a, b int) int { return cmp.Compare(took[b], took[a]) })
	return sequence
}

// note records a comparison, and logs which venues start or stop counting as failing.
func (h *History) note(ctx context.Context, log *slog.Logger, now time.Time, all []Asked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range all {
		a := &all[i]
		v := h.venueLocked(a.Venue)
		v.note(now, a)
		wasFailing := v.isFailing()
		switch {
		case a.hasAnswered():
			if wasFailing {
				log.InfoContext(ctx, "venue answers again", "venue", a.Venue, "failed_since", v.first)
			}
			v.first, v.latest = time.Time{}, time.Time{}
		case (a.Verdict == Refused || a.Verdict == Silent) && !errors.Is(a.Err, context.Canceled): // its caller stayed
			if v.latest = now; v.first.IsZero() {
				v.first = now
			}
			if v.isFailing() && !wasFailing {
				log.WarnContext(ctx, "venue has returned only failures for a day",
					"venue", a.Venue, "since", v.first, "error", a.Err)
			}
		}
	}
	h.countLocked(now, all)
}

func (r *Record) note(now time.Time, a *Asked) {
	switch a.Verdict {
	case Won:
		r.Won++
	case Outbid:
		r.Outbid++
	case Refused:
		r.Refused++
		if a.Err != nil {
			r.Reason, r.At = a.Err.Error(), now
		}
	case Silent:
		r.Silent++
	case LeftOut:
		r.LeftOut++
		return
	}
	if a.Took > 0 {
		r.Took = a.Took
	}
}

// hasAnswered reports whether the venue quoted, or said that it does not serve the swap.
func (a *Asked) hasAnswered() bool {
	return a.Verdict == Won || a.Verdict == Outbid || a.Verdict == Refused && (!a.AmountOut.IsZero() || requestFault(a.Err) != nil)
}

// Take returns the counts of days and begins anew.
func (h *History) Take() []VenueDay {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Collect(maps.Values(h.days))
	h.days = nil
	return all
}

// Add adds counts, such as those that could not be stored.
func (h *History) Add(all ...VenueDay) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, each := range all {
		h.addLocked(each)
	}
}

func (h *History) addLocked(d VenueDay) {
	if h.days == nil {
		h.days = make(map[venueOfDay]VenueDay)
	}
	key := venueOfDay{d.Day, d.Venue}
	sum := h.days[key]
	h.days[key] = VenueDay{d.Day, d.Venue, sum.Quoted + d.Quoted, sum.Won + d.Won, sum.Contested + d.Contested, sum.Gain + d.Gain}
}

// countLocked counts every venue once in a comparison that has a winner.
func (h *History) countLocked(now time.Time, all []Asked) {
	const secondsOfDay = 86_400
	if len(all) == 0 || all[0].Verdict != Won {
		return
	}
	won, others := &all[0], map[string]bool{}
	day := VenueDay{Day: uint64(now.Unix()) / secondsOfDay, Venue: won.Venue, Quoted: 1, Won: 1}
	var next *Asked
	for i := range all[1:] {
		each := &all[1+i]
		if each.Verdict != Outbid || each.Venue == won.Venue {
			continue
		}
		if !others[each.Venue] {
			others[each.Venue] = true
			h.addLocked(VenueDay{Day: day.Day, Venue: each.Venue, Quoted: 1})
		}
		if each.Err == nil && !each.Net.IsZero() && (next == nil || each.Net.Cmp(next.Net) > 0) {
			next = each
		}
	}
	if next != nil {
		const mostGain = 1_000_000 // millionths: beyond it the other quote is absurd
		more := new(big.Int).Sub(won.Net.Big(), next.Net.Big())
		more.Quo(more.Mul(more, big.NewInt(1_000_000)), next.Net.Big())
		day.Contested, day.Gain = 1, mostGain
		if more.IsInt64() {
			day.Gain = min(more.Int64(), mostGain)
		}
	}
	h.addLocked(day)
}

// Observe has for how long each venue has failed measured until stop.
func (e *Estimator) Observe() (stop func()) {
	meter := otel.Meter(scope)
	failing, _ := meter.Float64ObservableGauge("crossgate.venue.failing", metric.WithUnit("s"),
		metric.WithDescription("Time from the first to the latest failure of a venue since it answered; 0: it answered last, or was not asked."))
	registered, _ := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		e.History.mu.Lock()
		defer e.History.mu.Unlock()
		for _, each := range e.venues {
			v := e.History.venueLocked(each.profile.Name)
			o.ObserveFloat64(failing, v.latest.Sub(v.first).Seconds(), metric.WithAttributes(venueKey.String(v.Name)))
		}
		return nil
	}, failing)
	return func() { _ = registered.Unregister() } // fails only when called twice
}
