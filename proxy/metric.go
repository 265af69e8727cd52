package proxy

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"crossgate/cache"
)

const outcomeKey = attribute.Key("crossgate.outcome")

// durationBounds are OpenTelemetry's for http.server.request.duration, seconds, and two below for answers from
// the cache.
var durationBounds = []float64{0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// measures are the instruments of the face. Their attributes take few values, whatever clients send: known
// methods, routes, statuses and outcomes. So each set of them is made once and kept.
type measures struct {
	duration metric.Float64Histogram
	requests sets[requestLabels, []metric.RecordOption]
	lookups  sets[lookupLabels, *lookups]
	cache    metric.Registration // of what is told when somebody asks
}

type requestLabels struct {
	method, route string
	status        int
}

type lookupLabels struct{ route, outcome string }

// lookups are counted here, which costs a hit a tenth of what the instrument would.
type lookups struct {
	count      atomic.Int64
	attributes metric.MeasurementOption
}

func newMeasures(stats func() cache.Stats) (*measures, error) {
	meter := otel.Meter("crossgate/proxy")
	m := &measures{}
	var errs [7]error
	m.duration, errs[0] = meter.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of HTTP requests."), metric.WithExplicitBucketBoundaries(durationBounds...))
	asked, err := meter.Int64ObservableCounter("crossgate.cache.lookups",
		metric.WithDescription("Questions put to the cache of answers, by what it had: hit, stale, miss, spare after a load that went wrong, "+
			"shared with another's load, or remote from the shared cache."))
	errs[1] = err
	loads, err := meter.Int64ObservableCounter("crossgate.cache.loads",
		metric.WithDescription("Answers that were made for the cache."))
	errs[2] = err
	failed, err := meter.Int64ObservableCounter("crossgate.cache.failed.loads",
		metric.WithDescription("Answers for the cache that could not be made."))
	errs[3] = err
	dropped, err := meter.Int64ObservableCounter("crossgate.cache.dropped",
		metric.WithDescription("Answers that the cache declined to keep."))
	errs[4] = err
	remotes, err := meter.Int64ObservableCounter("crossgate.cache.remotes",
		metric.WithDescription("Answers that the shared cache had, so that they were not made here."))
	errs[5] = err
	m.cache, errs[6] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := stats()
		o.ObserveInt64(loads, int64(now.Loads))
		o.ObserveInt64(failed, int64(now.Failed))
		o.ObserveInt64(dropped, int64(now.Dropped))
		o.ObserveInt64(remotes, int64(now.Remotes))
		m.lookups.each(func(l *lookups) { o.ObserveInt64(asked, l.count.Load(), l.attributes) })
		return nil
	}, loads, failed, dropped, remotes, asked)
	return m, errors.Join(errs[:]...)
}

// request measures a request that has been answered. A stream lasts as long as its client likes, which says
// nothing about the server.
func (m *measures) request(c *gin.Context, took time.Duration) {
	if isStream(c.Writer.Header()) {
		return
	}
	labels := requestLabels{knownMethod(c.Request.Method), c.FullPath(), c.Writer.Status()}
	m.duration.Record(c.Request.Context(), took.Seconds(), m.requests.of(labels, func() []metric.RecordOption {
		return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(
			methodKey.String(labels.method), routeKey.String(labels.route), statusKey.Int(labels.status)))}
	})...)
}

// lookup counts what the cache had for a question.
func (m *measures) lookup(route string, found *cache.Result[answer]) {
	labels := lookupLabels{route, outcomeOf(found)}
	m.lookups.of(labels, func() *lookups {
		return &lookups{attributes: metric.WithAttributeSet(attribute.NewSet(
			routeKey.String(labels.route), outcomeKey.String(labels.outcome)))}
	}).count.Add(1)
}

// outcomeOf is an outcome in one word.
func outcomeOf(found *cache.Result[answer]) string {
	switch {
	case found.Remote:
		return "remote"
	case found.Shared:
		return "shared"
	}
	return found.Outcome.String()
}

// close ends the watch over the cache.
func (m *measures) close() { _ = m.cache.Unregister() } // its only error is of a second time

// sets keeps what belongs to sets of attributes by what these say.
type sets[L comparable, V any] struct {
	mu   sync.RWMutex
	made map[L]V
}

func (s *sets[L, V]) of(labels L, build func() V) V {
	s.mu.RLock()
	set, known := s.made[labels]
	s.mu.RUnlock()
	if known {
		return set
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if set, known = s.made[labels]; known {
		return set
	}
	if s.made == nil {
		s.made = make(map[L]V)
	}
	set = build()
	s.made[labels] = set
	return set
}

func (s *sets[L, V]) each(do func(V)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, set := range s.made {
		do(set)
	}
}
