package evm_test

import (
	"context"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"crossgate/order"
)

// TestHistorySaysWhichWayItTook wants the way on the span: a slow answer is explained by it.
func TestHistorySaysWhichWayItTook(t *testing.T) {
	terms, id := delivery()
	for want, sent := range map[string]uint64{"storage": 0, "logs": 10_000_100, "bisection": 25_000_000} {
		t.Run(want, func(t *testing.T) {
			n := newNode(40_000_000)
			if sent != 0 {
				n.add(t, 10_000_060, true, fulfilledLog(t, terms))
				n.add(t, sent, true, unlockLog(t, id))
				n.keep(10_000_060, sent)
			}
			spans := recordSpans(t)
			if _, err := n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(10_000_000)); err != nil {
				t.Fatal(err)
			}
			if got := spans.value("order.history", "crossgate.history.path"); got.AsString() != want {
				t.Errorf("crossgate.history.path = %q, want %q", got.AsString(), want)
			}
		})
	}
}

// spans are those that begin while a test runs.
type spans struct {
	embedded.Tracer

	mu  sync.Mutex
	all []*namedSpan
}

type namedSpan struct {
	noop.Span

	spans      *spans
	name       string
	attributes map[attribute.Key]attribute.Value
}

func recordSpans(t *testing.T) *spans {
	t.Helper()
	s := &spans{}
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(spanProvider{spans: s})
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	return s
}

// spanProvider gives everyone the same spans.
type spanProvider struct {
	embedded.TracerProvider

	spans *spans
}

func (p spanProvider) Tracer(string, ...trace.TracerOption) trace.Tracer { return p.spans }

func (s *spans) Start(ctx context.Context, name string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun := &namedSpan{spans: s, name: name, attributes: map[attribute.Key]attribute.Value{}}
	s.all = append(s.all, begun)
	return trace.ContextWithSpan(ctx, begun), begun
}

func (s *namedSpan) SetAttributes(list ...attribute.KeyValue) {
	s.spans.mu.Lock()
	defer s.spans.mu.Unlock()
	for _, each := range list {
		s.attributes[each.Key] = each.Value
	}
}

// value returns an attribute of the only span of a name.
func (s *spans) value(name string, key attribute.Key) (value attribute.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.all {
		if each.name == name {
			value = each.attributes[key]
		}
	}
	return value
}
