package proxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order/query"
	"crossgate/proxy/web"
)

const (
	outcomeKey = attribute.Key("crossgate.outcome")
	quotaKey   = attribute.Key("crossgate.quota")
	chainKey   = attribute.Key("crossgate.chain.id")
)

// durationBounds are OpenTelemetry's for http.server.request.duration in seconds, plus two lower ones for cache hits
// and 1.5 for waits that were cut off. The objectives' bounds (docs/slo.md) are among OpenTelemetry's.
var durationBounds = []float64{0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 7.5, 10}

// measures are the server's instruments. Whatever clients send, attributes take few values: known methods, routes,
// statuses and outcomes. So each attribute set is built once and kept.
type measures struct {
	duration metric.Float64Histogram
	refusals metric.Int64Counter // requests over a quota
	requests attributeSets[requestLabels, []metric.RecordOption]
	lookups  attributeSets[lookupLabels, *lookups]
}

type requestLabels struct {
	method, route string
	status        int
	missing       chain.ID
}

type lookupLabels struct{ route, outcome string }

// lookups counts cache lookups for a callback to observe, which costs a hit a tenth of a synchronous counter.
type lookups struct {
	count      atomic.Int64
	attributes metric.MeasurementOption
}

var cacheCounters = []struct {
	name, description string
	count             func(cache.Stats) uint64
}{
	{"loads", "Loads of answers found in no cache.", func(s cache.Stats) uint64 { return s.Loads }},
	{"failed.loads", "Loads that failed.", func(s cache.Stats) uint64 { return s.Failed }},
	{"dropped", "Answers that the cache did not admit.", func(s cache.Stats) uint64 { return s.Dropped }},
	{"remotes", "Loads that the shared cache saved.", func(s cache.Stats) uint64 { return s.Remotes }},
}

// newMeasures creates the instruments. Only an invalid name could fail, and theirs are valid.
func (s *Server) newMeasures() *measures {
	meter := otel.Meter("crossgate/proxy")
	m := &measures{}
	m.duration, _ = meter.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of HTTP requests."), metric.WithExplicitBucketBoundaries(durationBounds...))
	m.refusals, _ = meter.Int64Counter("crossgate.quota.refusals",
		metric.WithDescription("Requests rejected because the client was over its quota, by quota."))
	asked, _ := meter.Int64ObservableCounter("crossgate.cache.lookups", metric.WithDescription(
		"Cache lookups by outcome: hit, stale (served while it is refreshed), miss, stale-if-error, "+
			"shared (coalesced with another request's load) or remote (from the shared cache)."))
	loading, _ := meter.Int64ObservableGauge("crossgate.cache.loading",
		metric.WithDescription("Loads in flight; those beyond limits.loads are rejected."))
	streams, _ := meter.Int64ObservableGauge("crossgate.streams", metric.WithDescription("Open event streams."))
	counters, observed := make([]metric.Int64ObservableCounter, len(cacheCounters)), []metric.Observable{asked, loading, streams}
	for i, c := range cacheCounters {
		counters[i], _ = meter.Int64ObservableCounter("crossgate.cache."+c.name, metric.WithDescription(c.description))
		observed = append(observed, counters[i])
	}
	s.onCollection(meter, func(_ context.Context, o metric.Observer) error {
		now := s.answers.Stats()
		o.ObserveInt64(streams, int64(s.streams.count()))
		o.ObserveInt64(loading, int64(now.Loading))
		for i, c := range cacheCounters {
			o.ObserveInt64(counters[i], int64(c.count(now)))
		}
		m.lookups.each(func(l *lookups) { o.ObserveInt64(asked, l.count.Load(), l.attributes) })
		return nil
	}, observed...)
	return m
}

// onCollection registers a callback that observes instruments at every collection until the server is closed.
func (s *Server) onCollection(meter metric.Meter, callback metric.Callback, instruments ...metric.Observable) {
	registered, _ := meter.RegisterCallback(callback, instruments...)
	s.callbacks = append(s.callbacks, registered)
}

// eachCount calls do with the number of times that something had an outcome.
type eachCount func(do func(of, outcome string, times uint64))

func (each eachCount) all() (all []web.Counted) {
	each(func(of, outcome string, times uint64) {
		all = append(all, web.Counted{Of: of, Outcome: outcome, Times: times})
	})
	return all
}

// observeCounts registers a counter of what each counts, with key as the attribute of the things counted.
func (s *Server) observeCounts(name, description string, key attribute.Key, each eachCount) {
	meter := otel.Meter("crossgate/proxy")
	counter, _ := meter.Int64ObservableCounter(name, metric.WithDescription(description))
	s.onCollection(meter, func(_ context.Context, o metric.Observer) error {
		each(func(of, outcome string, times uint64) {
			o.ObserveInt64(counter, int64(times), metric.WithAttributes(key.String(of), outcomeKey.String(outcome)))
		})
		return nil
	}, counter)
}

// request records a finished request. Streams are left out: they last as long as the client likes.
func (m *measures) request(c *gin.Context, took time.Duration) {
	if isStream(c.Writer.Header()) {
		return
	}
	labels := requestLabels{knownMethod(c.Request.Method), c.FullPath(), c.Writer.Status(), missingChain(c)}
	m.duration.Record(c.Request.Context(), took.Seconds(), m.requests.of(labels, func() []metric.RecordOption {
		attributes := []attribute.KeyValue{
			semconv.HTTPRequestMethodKey.String(labels.method), semconv.HTTPRoute(labels.route), semconv.HTTPResponseStatusCode(labels.status),
		}
		if labels.missing != 0 {
			attributes = append(attributes, chainKey.Int64(int64(labels.missing)))
		}
		return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(attributes...))}
	})...)
}

// SwapChain is the key of a swap's chain in the context of its request.
const SwapChain = "swap chain"

// missingChain returns the chain that failed a request: the only one that did not answer, or that of a swap. It is zero
// if several did not answer, or if no chain matters.
func missingChain(c *gin.Context) chain.ID {
	if c.Writer.Status() < http.StatusInternalServerError {
		return 0
	}
	var unreachable *query.UnreachableError
	if len(c.Errors) > 0 && errors.As(c.Errors[0], &unreachable) && len(unreachable.Chains) == 1 {
		return unreachable.Chains[0]
	}
	return chain.ID(c.GetUint64(SwapChain))
}

func (m *measures) lookup(route string, found *cache.Result[answer]) {
	labels := lookupLabels{route, outcomeOf(found)}
	m.lookups.of(labels, func() *lookups {
		return &lookups{attributes: metric.WithAttributeSet(attribute.NewSet(
			semconv.HTTPRoute(labels.route), outcomeKey.String(labels.outcome)))}
	}).count.Add(1)
}

// outcomeOf returns the outcome of a lookup as metrics and spans name it.
func outcomeOf(found *cache.Result[answer]) string {
	switch {
	case found.Remote:
		return "remote"
	case found.Shared:
		return "shared"
	}
	return found.Outcome.String()
}

// attributeSets memoizes a value per set of labels.
type attributeSets[L comparable, V any] struct {
	mu    sync.RWMutex
	built map[L]V
}

func (s *attributeSets[L, V]) of(labels L, build func() V) V {
	s.mu.RLock()
	set, known := s.built[labels]
	s.mu.RUnlock()
	if known {
		return set
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if set, known = s.built[labels]; known {
		return set
	}
	if s.built == nil {
		s.built = make(map[L]V)
	}
	set = build()
	s.built[labels] = set
	return set
}

func (s *attributeSets[L, V]) each(do func(V)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, set := range s.built {
		do(set)
	}
}

// Served returns counts of answers for the status page.
func (s *Server) Served() web.Served {
	return web.Served{
		Cache: s.answers.Stats(), Hosts: eachCount(s.passthrough.EachCount).all(), Compared: eachCount(s.shadow.EachCount).all(),
		Differences: s.shadow.Examples(),
	}
}
