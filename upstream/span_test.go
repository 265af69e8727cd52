package upstream_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"crossgate/internal/must"
	"crossgate/upstream"
)

// recorder keeps the spans that are started under it.
type recorder struct {
	embedded.Tracer

	mu    sync.Mutex
	spans []*span
}

// provider gives everyone the same recorder.
type provider struct {
	embedded.TracerProvider

	recorder *recorder
}

func (p provider) Tracer(string, ...trace.TracerOption) trace.Tracer { return p.recorder }

type span struct {
	trace.Span
	name       string
	attributes map[attribute.Key]attribute.Value
	ended      bool
}

func (r *recorder) Start(ctx context.Context, name string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &span{Span: noop.Span{}, name: name, attributes: map[attribute.Key]attribute.Value{}}
	r.spans = append(r.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

func (s *span) IsRecording() bool          { return true }
func (s *span) End(...trace.SpanEndOption) { s.ended = true }

func (s *span) SetAttributes(attributes ...attribute.KeyValue) {
	for _, a := range attributes {
		s.attributes[a.Key] = a.Value
	}
}

func TestAttemptsAreSpansWithoutURLs(t *testing.T) {
	r := &recorder{}
	otel.SetTracerProvider(provider{recorder: r})
	defer otel.SetTracerProvider(noop.NewTracerProvider())
	secretive := upstream.EndpointOptions{
		URL: "http://account-0123456789.provider.invalid:8545/key-0123456789", Attributes: []attribute.KeyValue{attribute.Int("crossgate.chain.id", 137)},
	}
	pool := upstream.NewPool("chain", endpoint(t, "a", always(502, ""), secretive), endpoint(t, "b", always(200, "{}"), secretive))
	call := upstream.Request{Body: []byte("{}"), Kind: "eth_chainId", Attributes: func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("rpc.method", "eth_chainId")}
	}}
	must.Get(pool.Do(t.Context(), call, nil))(t)
	must.Get(pool.Endpoints()[1].Probe(t.Context(), call))(t)
	if len(r.spans) != 3 || r.spans[2].attributes["crossgate.attempt"].AsInt64() != 1 {
		t.Fatalf("%d spans, want one for each attempt, and a probe's as a first one", len(r.spans))
	}
	for i, want := range []struct{ endpoint, outcome string }{{"a", "server error"}, {"b", "ok"}} {
		s := r.spans[i]
		if s.name != "eth_chainId" || !s.ended {
			t.Errorf("span %d is %q, ended: %v", i, s.name, s.ended)
		}
		if s.attributes["crossgate.endpoint"].AsString() != want.endpoint || s.attributes["crossgate.outcome"].AsString() != want.outcome ||
			s.attributes["crossgate.attempt"].AsInt64() != int64(i+1) || s.attributes["rpc.method"].AsString() != "eth_chainId" ||
			s.attributes["crossgate.chain.id"].AsInt64() != 137 {
			t.Errorf("span %d has %v", i, s.attributes)
		}
		for key, value := range s.attributes {
			if strings.Contains(value.String(), "0123456789") {
				t.Errorf("attribute %s = %s tells the URL", key, value.String())
			}
		}
	}
}

// TestHedgesTellWhetherTheyWon looks at both attempts of a race, with either as the faster one.
func TestHedgesTellWhetherTheyWon(t *testing.T) {
	for want, second := range map[string]time.Duration{"won": 20 * time.Millisecond, "lost": 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{}
			otel.SetTracerProvider(provider{recorder: r})
			defer otel.SetTracerProvider(noop.NewTracerProvider())
			p := newPair(t, time.Second, second) // nothing is known of them: the hedge begins after half a second
			p.ask(t)
			if len(r.spans) != 2 {
				t.Fatalf("%d spans, want one for each attempt", len(r.spans))
			}
			outcomes := map[string]string{"won": "canceled ok", "lost": "ok canceled"}
			got := r.spans[0].attributes["crossgate.outcome"].AsString() + " " + r.spans[1].attributes["crossgate.outcome"].AsString()
			if got != outcomes[want] {
				t.Errorf("when the hedge %s, the outcomes are %s, want %s", want, got, outcomes[want])
			}
			if _, told := r.spans[0].attributes["crossgate.hedge"]; told {
				t.Errorf("the first attempt is told as a hedge: %v", r.spans[0].attributes)
			}
			if got := r.spans[1].attributes["crossgate.hedge"].AsString(); got != want {
				t.Errorf("crossgate.hedge = %q, want %q", got, want)
			}
		})
	}
}
