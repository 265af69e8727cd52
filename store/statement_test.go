package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/token"
)

func TestSummaryOf(t *testing.T) {
	for statement, want := range map[string]string{
		`SELECT 1`: "SELECT ",
		"SELECT a,\n\t\tb FROM events WHERE c IN (SELECT d FROM orders)":                   "SELECT events",
		`SELECT a, (SELECT b FROM orders WHERE c IN ('d')) FROM events`:                    "SELECT events",
		`SELECT EXISTS (SELECT 1 FROM listed)`:                                             "SELECT listed",
		`SELECT COUNT(*) FROM (SELECT 1 AS one FROM uncounted LIMIT $1) AS waiting`:        "SELECT uncounted",
		`INSERT INTO listed_counts (day, chain) VALUES ($1, $2) ON CONFLICT DO UPDATE SET`: "INSERT listed_counts",
		`UPDATE leases SET expires = EXTRACT(EPOCH FROM clock_timestamp()) WHERE job = 1`:  "UPDATE leases",
		`DELETE FROM blocks WHERE chain = $1`:                                              "DELETE blocks",
		`COMMIT`:                                                                           "COMMIT ",
	} {
		operation, collection := summaryOf(statement)
		if got := operation + " " + collection; got != want {
			t.Errorf("summaryOf(%q) = %q, want %q", statement, got, want)
		}
	}
}

// TestStatementsAreSpans checks that spans identify the database and the operation, and contain nothing else.
func TestStatementsAreSpans(t *testing.T) {
	for system, open := range map[string]func(*testing.T) *DB{"sqlite": openStore, "postgresql": openPostgres} {
		t.Run(system, func(t *testing.T) {
			db, recorder := open(t), tracetest.NewSpanRecorder()
			before := otel.GetTracerProvider()
			otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(recorder)))
			t.Cleanup(func() { otel.SetTracerProvider(before) })
			ctx, request := otel.Tracer("test").Start(t.Context(), "request")
			readings := map[token.Key]token.Reading{}
			for i := range byte(2) {
				decimals := uint8(6)
				readings[token.Key{Chain: 1, Address: chain.NewAddress([]byte{i})}] = token.Reading{Decimals: &decimals}
			}
			must.Do(t, db.SaveTokens(ctx, readings))
			if known, err := db.Tokens(ctx, []token.Key{{Chain: 1, Address: chain.NewAddress([]byte{1})}}); err != nil || len(known) != 1 {
				t.Errorf("Tokens() = %v, %v", known, err)
			}
			request.End()
			var got []string
			for _, span := range recorder.Ended() {
				if span.Name() != "request" {
					got = append(got, spanText(span))
				}
			}
			of := " db.system.name=" + system
			want := []string{
				"BEGIN" + of + " db.operation.name=BEGIN",
				"LOCK" + of + " db.operation.name=LOCK",
				"BATCH INSERT tokens" + of + " db.operation.name=BATCH INSERT db.collection.name=tokens",
				"COMMIT" + of + " db.operation.name=COMMIT",
				"SELECT tokens" + of + " db.operation.name=SELECT db.collection.name=tokens",
			}
			if !db.IsReplicated() {
				want = append(want[:1], want[2:]...) // its writers wait for each other in the process
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}

// spanText returns a span's name with its attributes.
func spanText(span trace.ReadOnlySpan) string {
	text := span.Name()
	for _, key := range []attribute.Key{
		semconv.DBSystemNameKey, semconv.DBOperationNameKey, semconv.DBCollectionNameKey, semconv.ErrorTypeKey,
	} {
		for _, each := range span.Attributes() {
			if each.Key == key {
				text += fmt.Sprintf(" %s=%s", key, each.Value.String())
			}
		}
	}
	return text
}

// TestStatementsEndWhenTheirCallerLeaves starts statements that never end.
func TestStatementsEndWhenTheirCallerLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		db        *DB
		statement string
	}{
		"SQLite":     {openStore(t), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n`},
		"PostgreSQL": {openPostgres(t), `SELECT COUNT(*) FROM (SELECT pg_sleep(1) FROM generate_series(1, 1000000)) AS long`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer leave()
			var count int
			if _, err := test.db.QueryRow(ctx, []any{&count}, test.statement); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a statement whose caller left: %v", err)
			}
			if !test.db.IsReplicated() {
				return // it returned, so the statement has ended
			}
			for left := 1; left > 0 && t.Context().Err() == nil; {
				must.Get(test.db.QueryRow(t.Context(), []any{&left}, `SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series(%' AND pid <> pg_backend_pid()`))(t)
			}
		})
	}
}

// claimed makes a claim on one plan and returns for how long the plan is then spent.
func claimed(t *testing.T, store *DB, service, endpoint string, claim time.Duration) time.Duration {
	t.Helper()
	refilled := must.Get(store.ClaimPlans(t.Context(), []PlanClaim{{service, endpoint, claim}}))(t)
	return time.Until(refilled[0]).Round(time.Minute) // the test takes less than half a minute
}

// TestClaimsOfTheRefilledCountFromNow lets a plan rest for longer than it was spent.
func TestClaimsOfTheRefilledCountFromNow(t *testing.T) {
	for name, store := range map[string]*DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		claimed(t, store, "1", "node", time.Hour)
		must.Get(store.writer.ExecContext(t.Context(), `UPDATE plans SET refilled = refilled - $1`, (3 * time.Hour).Microseconds()))(t)
		if got := claimed(t, store, "1", "node", time.Minute); got != time.Minute {
			t.Errorf("%s: spent for %v, want a minute", name, got)
		}
	}
}

func TestClaimsThatFailAreNone(t *testing.T) {
	store := openStoreAt(t, filepath.Join(t.TempDir(), "orders.db"))
	must.Do(t, store.Close())
	if refilled, err := store.ClaimPlans(t.Context(), []PlanClaim{{"1", "node", time.Hour}}); err == nil || refilled != nil {
		t.Errorf("ClaimPlans of a closed store = %v, %v, want an error", refilled, err)
	}
}
