package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
	"modernc.org/sqlite"
)

// telemetry measures the duration of statements by kind, and adds a span for each to a recorded trace. The text and the
// arguments of statements are omitted, as they may be confidential.
type telemetry struct {
	duration metric.Float64Histogram
	system   attribute.KeyValue
}

func newTelemetry(system string) *telemetry {
	return &telemetry{duration: newDuration(), system: semconv.DBSystemNameKey.String(system)}
}

// begin measures a statement until end is called with its error, which end returns with the statement's name. calls is
// how often it runs in one batch.
func (t *telemetry) begin(ctx context.Context, statement string, calls int) (end func(error) error) {
	operation, collection := summaryOf(statement)
	if calls > 1 {
		operation = "BATCH " + operation
	}
	attributes := []attribute.KeyValue{t.system, semconv.DBOperationName(operation)}
	began := time.Now()
	var span trace.Span
	if trace.SpanFromContext(ctx).IsRecording() {
		_, span = otel.Tracer("crossgate/store").Start(ctx, strings.TrimSpace(operation+" "+collection),
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
		if collection != "" {
			span.SetAttributes(semconv.DBCollectionName(collection))
		}
	}
	return func(err error) error {
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			failure := semconv.ErrorTypeKey.String(errorType(ctx, err))
			attributes = append(attributes, failure)
			if span != nil {
				span.SetAttributes(failure)
				span.SetStatus(codes.Error, "")
			}
		}
		t.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attributes...))
		if span != nil {
			span.End()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(operation+" "+collection), err)
		}
		return nil
	}
}

// summaryOf returns a statement's operation and the first table that it names; none for a function. All statements are
// this program's own, so it need not be a parser.
func summaryOf(statement string) (operation, collection string) {
	named := false          // the next word is a table
	before, within := "", 0 // previous word; open parentheses of a column that is a subquery
	for word := range strings.FieldsSeq(statement) {
		isColumn := strings.HasSuffix(before, ",") && strings.HasPrefix(word, "(SELECT")
		before = word
		switch {
		case within > 0 || isColumn:
			within += strings.Count(word, "(") - strings.Count(word, ")")
		case operation == "":
			operation = word
			named = word == "UPDATE"
		case word == "FROM", word == "INTO":
			named = true
		case named && word[0] != '(':
			collection, _, _ = strings.Cut(strings.TrimRight(word, "),"), "(")
			return operation, collection
		default:
			named = false
		}
	}
	return operation, ""
}

// codeOf returns SQLite's result code or PostgreSQL's SQLSTATE; empty if the database did not answer.
func codeOf(err error) string {
	var file *sqlite.Error
	var server *pgconn.PgError
	switch {
	case errors.As(err, &file):
		return strconv.Itoa(file.Code())
	case errors.As(err, &server):
		return server.Code
	}
	return ""
}

// errorType returns the database's code, or why there is none.
func errorType(ctx context.Context, err error) string {
	switch code := codeOf(err); {
	case code != "":
		return code
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "canceled"
	case errors.Is(err, ErrUnavailable), isOfConnection(err):
		return "unavailable"
	}
	return "_OTHER" // the conventions' value for anything else
}

// runner runs statements: a pool of connections, or a transaction.
type runner interface {
	querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
	PrepareContext(ctx context.Context, statement string) (*sql.Stmt, error)
}

// observed is a runner that measures its statements.
type observed struct {
	runner
	telemetry *telemetry
}

// QueryRow scans the single row of a query into dest; sql.ErrNoRows if there is none.
func (o observed) QueryRow(ctx context.Context, dest []any, query string, args ...any) error {
	end := o.telemetry.begin(ctx, query, 1)
	return end(o.runner.QueryRowContext(ctx, query, args...).Scan(dest...))
}

func (o observed) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	end := o.telemetry.begin(ctx, statement, 1)
	result, err := o.runner.ExecContext(ctx, statement, args...)
	return result, end(err)
}

// ForEachRow calls scan for every row of a query, until it returns an error.
func (o observed) ForEachRow(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	end := o.telemetry.begin(ctx, query, 1)
	return end(forEachRow(ctx, o.runner, scan, query, args))
}

const (
	poolKey            = attribute.Key("crossgate.store.pool")
	connectionStateKey = attribute.Key("crossgate.store.connection.state")
)

// operationBounds, in seconds, suit a file cached in memory as well as a distant server.
var operationBounds = []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// newDuration returns the histogram of statement durations, which has the same name as the shared cache's. Only an
// invalid name could fail, and this one is valid.
func newDuration() metric.Float64Histogram {
	made, _ := otel.Meter("crossgate/store").Float64Histogram("db.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of calls to the database and to the shared cache."),
		metric.WithExplicitBucketBoundaries(operationBounds...))
	return made
}

// observe measures, until stop is called, whether the database answers and the state of its connections. Creating
// instruments could fail only for invalid names, and these are valid.
func (db *DB) observe() (stop func() error, err error) {
	meter := otel.Meter("crossgate/store")
	var all []metric.Observable
	gauge := func(name, description string) metric.Int64Observable {
		made, _ := meter.Int64ObservableGauge("crossgate.store."+name, metric.WithDescription(description))
		all = append(all, made)
		return made
	}
	up := gauge("up", "1 while the database answers, as far as this gateway knows.")
	writable := gauge("writable", "1 while the database takes changes, as far as this gateway knows.")
	connections := gauge("connections", "Connections to the database, by pool and state: used or idle.")
	most := gauge("connections.max", "Connections that a pool may open.")
	waits, _ := meter.Int64ObservableCounter("crossgate.store.connection.waits",
		metric.WithDescription("Waits for a connection because the pool was exhausted."))
	waited, _ := meter.Float64ObservableCounter("crossgate.store.connection.wait", metric.WithUnit("s"),
		metric.WithDescription("Time spent waiting for a connection."))
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(up, Bit(db.Available() == nil))
		o.ObserveInt64(writable, Bit(db.Writable() == nil))
		for name, pool := range map[string]*sql.DB{"read": db.reader, "write": db.writer} {
			now, of := pool.Stats(), poolKey.String(name)
			o.ObserveInt64(connections, int64(now.InUse), metric.WithAttributes(of, connectionStateKey.String("used")))
			o.ObserveInt64(connections, int64(now.Idle), metric.WithAttributes(of, connectionStateKey.String("idle")))
			o.ObserveInt64(most, int64(now.MaxOpenConnections), metric.WithAttributes(of))
			o.ObserveInt64(waits, now.WaitCount, metric.WithAttributes(of))
			o.ObserveFloat64(waited, now.WaitDuration.Seconds(), metric.WithAttributes(of))
		}
		return nil
	}, append(all, waits, waited)...)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
