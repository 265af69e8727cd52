package query

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	client "go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// recordSpans has spans kept until the test ends.
func recordSpans(t *testing.T) *tracetest.SpanRecorder {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(recorder)))
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	return recorder
}

// TestQuestionsToTheDatabaseAreSpans wants one span for each statement; what it tells is the store's.
func TestQuestionsToTheDatabaseAreSpans(t *testing.T) {
	for system, open := range map[string]func(testing.TB) *store.DB{"sqlite": openStore, "postgresql": openPostgres} {
		t.Run(system, func(t *testing.T) {
			store, recorder := open(t), recordSpans(t)
			checkQuestions(t.Context(), t, store)
			if spans := recorder.Ended(); len(spans) != 0 {
				t.Fatalf("%d spans outside of any trace", len(spans))
			}
			ctx, request := otel.Tracer("test").Start(t.Context(), "request")
			checkQuestions(ctx, t, store)
			request.End()
			var got []string
			for _, span := range recorder.Ended() {
				if span.Name() == "request" {
					continue
				}
				got = append(got, span.Name())
				if span.SpanKind() != client.SpanKindClient || span.Parent().SpanID() != request.SpanContext().SpanID() {
					t.Errorf("%s is of kind %s and below %s", span.Name(), span.SpanKind(), span.Parent().SpanID())
				}
			}
			want := []string{"SELECT events", "SELECT events", "SELECT orders"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}

// checkQuestions asks a store for everything that requests ask it for.
func checkQuestions(ctx context.Context, t *testing.T, store *store.DB) {
	t.Helper()
	if _, err := (ledger.Ledger{DB: store}).OfOrder(ctx, order.ID{1}); err != nil {
		t.Error(err)
	}
	if _, err := (ledger.Ledger{DB: store}).CreatedIn(ctx, chain.NewTxHash(make([]byte, 32))); err != nil {
		t.Error(err)
	}
	if _, _, err := (ledger.Ledger{DB: store}).Locks(ctx, taker); err != nil {
		t.Error(err)
	}
}

func TestFailedQuestionsToTheDatabaseSayWhy(t *testing.T) {
	store, recorder := openStore(t), recordSpans(t)
	ctx, request := otel.Tracer("test").Start(t.Context(), "request")
	defer request.End()
	gone, leave := context.WithCancel(ctx)
	leave()
	if _, err := (ledger.Ledger{DB: store}).OfOrder(gone, order.ID{1}); err == nil {
		t.Error("a question of nobody was answered")
	}
	execute(t, store, `DROP TABLE events`)
	if _, err := (ledger.Ledger{DB: store}).OfOrder(ctx, order.ID{1}); err == nil {
		t.Error("events were read of no table")
	}
	spans := recorder.Ended()
	if len(spans) != 2 {
		t.Fatalf("%d spans, want 2", len(spans))
	}
	for i, want := range []string{"canceled", "1"} { // SQLITE_ERROR
		said := map[string]string{}
		for _, attribute := range spans[i].Attributes() {
			said[string(attribute.Key)] = attribute.Value.AsString()
		}
		if said["error.type"] != want || spans[i].Status().Code != codes.Error {
			t.Errorf("span %d says %v with status %v, want error.type %s", i, said, spans[i].Status(), want)
		}
	}
}
