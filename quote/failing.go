package quote

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// failsAfter is for how long a venue has to give nothing but failures before it counts as failing.
const failsAfter = 24 * time.Hour

// Failures keeps since when venues have given nothing but failures, over reloads but not restarts. A series ends with
// a quote, or a refusal of the pair or the amount; without requests it neither begins nor grows. The zero value is
// empty; safe for concurrent use.
type Failures struct {
	mu     sync.Mutex
	series map[string]failureSeries // by venue, of those that did not answer when they were asked last
}

// failureSeries is the failures of a venue since its latest answer.
type failureSeries struct{ first, latest time.Time }

func (s failureSeries) span() time.Duration { return s.latest.Sub(s.first) }

// isFailing reports whether the series is so long that operators should know.
func (s failureSeries) isFailing() bool { return s.span() >= failsAfter }

// of returns the series of a venue; zero when it has answered, or was not asked.
func (f *Failures) of(venue string) failureSeries {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.series[venue]
}

// note takes in what became of venues, and logs which of them begin to count as failing and which no longer do.
func (f *Failures) note(ctx context.Context, log *slog.Logger, now time.Time, all []Asked) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range all {
		a := &all[i]
		before := f.series[a.Venue]
		switch {
		case a.hasAnswered():
			delete(f.series, a.Venue)
			if before.isFailing() {
				log.InfoContext(ctx, "venue answers again", "venue", a.Venue, "failed_since", before.first)
			}
		case a.hasFailed():
			after := f.lengthenLocked(a.Venue, now)
			if after.isFailing() && !before.isFailing() {
				log.WarnContext(ctx, "venue has given nothing but failures for a day; swaps are compared without it",
					"venue", a.Venue, "since", after.first, "error", a.Err)
			}
		}
	}
}

// lengthenLocked adds a failure to the series of a venue.
func (f *Failures) lengthenLocked(venue string, now time.Time) failureSeries {
	if f.series == nil {
		f.series = make(map[string]failureSeries)
	}
	s, begun := f.series[venue]
	if !begun {
		s.first = now
	}
	s.latest = now
	f.series[venue] = s
	return s
}

// hasAnswered reports whether the venue quoted, or said that it does not serve the swap.
func (a *Asked) hasAnswered() bool {
	return a.Verdict == Won || a.Verdict == Outbid || a.Verdict == Refused && (!a.AmountOut.IsZero() || requestFault(a.Err) != nil)
}

// hasFailed reports whether the venue was asked, not left by its caller, and did not answer.
func (a *Asked) hasFailed() bool {
	return (a.Verdict == Refused || a.Verdict == Silent) && !a.hasAnswered() && !errors.Is(a.Err, context.Canceled)
}

// Observe has for how long each venue has failed measured until stop.
func (e *Estimator) Observe() (stop func() error, err error) {
	meter := otel.Meter(scope)
	failing, err := meter.Float64ObservableGauge("crossgate.venue.failing", metric.WithUnit("s"),
		metric.WithDescription("Time from the first to the latest failure of a venue since it answered; 0: it answered last, or was not asked."))
	if err != nil {
		return nil, err
	}
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, each := range e.venues {
			name := each.profile.Name
			o.ObserveFloat64(failing, e.failures.of(name).span().Seconds(), metric.WithAttributes(venueKey.String(name)))
		}
		return nil
	}, failing)
	if err != nil {
		return nil, err
	}
	return registered.Unregister, nil
}
