package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"crossgate/chain"
	"crossgate/token"
)

// TestQueriesOfTokensAreSpans wants the spans to say which database was asked for what and no more.
func TestQueriesOfTokensAreSpans(t *testing.T) {
	for system, open := range map[string]func(*testing.T) *DB{"sqlite": openStore, "postgresql": openPostgres} {
		t.Run(system, func(t *testing.T) {
			db, recorder := open(t), tracetest.NewSpanRecorder()
			before := otel.GetTracerProvider()
			otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(recorder)))
			t.Cleanup(func() { otel.SetTracerProvider(before) })
			ctx, request := otel.Tracer("test").Start(t.Context(), "request")
			decimals := uint8(6)
			key := token.Key{Chain: 1, Address: chain.NewAddress([]byte("usdc of twenty bytes"))}
			if err := db.SaveTokens(ctx, map[token.Key]token.Reading{key: {Decimals: &decimals}}); err != nil {
				t.Error(err)
			}
			if known, err := db.Tokens(ctx, []token.Key{key}); err != nil || len(known) != 1 {
				t.Errorf("Tokens() = %v, %v", known, err)
			}
			request.End()
			var got []string
			for _, span := range recorder.Ended()[:2] {
				said := span.Name()
				for _, attribute := range span.Attributes() {
					said += " " + string(attribute.Key) + "=" + attribute.Value.AsString()
				}
				got = append(got, said)
			}
			want := []string{
				"INSERT tokens db.system.name=" + system + " db.operation.name=INSERT db.collection.name=tokens",
				"SELECT tokens db.system.name=" + system + " db.operation.name=SELECT db.collection.name=tokens",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}
