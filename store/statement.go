package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"modernc.org/sqlite"
)

// Attribute keys of a statement: OpenTelemetry's semantic conventions for database clients
// (opentelemetry.io/docs/specs/semconv/db, v1.44). Its text and arguments are left out: they can hold what is
// confidential.
const (
	systemKey     = attribute.Key("db.system.name")
	namespaceKey  = attribute.Key("db.namespace")
	operationKey  = attribute.Key("db.operation.name")
	collectionKey = attribute.Key("db.collection.name")
	batchSizeKey  = attribute.Key("db.operation.batch.size")
	statusCodeKey = attribute.Key("db.response.status_code")
	addressKey    = attribute.Key("server.address")
	portKey       = attribute.Key("server.port")
	errorTypeKey  = attribute.Key("error.type")
)

// telemetry is what is told of a database's statements: how long each kind takes and, of those that belong to a
// recorded trace, a span each.
type telemetry struct {
	duration metric.Float64Histogram
	system   attribute.KeyValue
	server   []attribute.KeyValue // what spans tell of it beside that
	kinds    sync.Map             // of kind: metric.MeasurementOption
}

// kind is what statements are measured by.
type kind struct{ operation, errorType string }

func newTelemetry(system string, server ...attribute.KeyValue) *telemetry {
	return &telemetry{duration: newDuration(), system: systemKey.String(system), server: server}
}

// serverOf is what spans tell of a PostgreSQL. A socket has no port.
func serverOf(c *pgx.ConnConfig) []attribute.KeyValue {
	server := []attribute.KeyValue{namespaceKey.String(c.Database), addressKey.String(c.Host)}
	if !strings.HasPrefix(c.Host, "/") {
		server = append(server, portKey.Int(int(c.Port)))
	}
	return server
}

// begin measures a statement until end, which is told its error. calls is how many times it is run in one.
func (t *telemetry) begin(ctx context.Context, statement string, calls int) (end func(error)) {
	operation, collection := summaryOf(statement)
	if calls > 1 {
		operation = "BATCH " + operation
	}
	began := time.Now()
	var span trace.Span
	if trace.SpanFromContext(ctx).IsRecording() {
		span = t.startSpan(ctx, operation, collection, calls)
	}
	return func(err error) {
		code, failure := codeOf(err), ""
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			failure = errorType(ctx, err, code)
		}
		t.duration.Record(ctx, time.Since(began).Seconds(), t.of(kind{operation, failure}))
		if span == nil {
			return
		}
		if code != "" {
			span.SetAttributes(statusCodeKey.String(code))
		}
		if failure != "" {
			span.SetAttributes(errorTypeKey.String(failure))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

func (t *telemetry) startSpan(ctx context.Context, operation, collection string, calls int) trace.Span {
	name, attributes := operation, append([]attribute.KeyValue{t.system, operationKey.String(operation)}, t.server...)
	if collection != "" {
		name, attributes = name+" "+collection, append(attributes, collectionKey.String(collection))
	}
	if calls > 1 {
		attributes = append(attributes, batchSizeKey.Int(calls))
	}
	_, span := otel.Tracer("crossgate/store").Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return span
}

// of is what statements of a kind are measured with, of which there are few.
func (t *telemetry) of(k kind) metric.MeasurementOption {
	if made, found := t.kinds.Load(k); found {
		return made.(metric.MeasurementOption) //nolint:forcetypeassert // nothing else is kept there
	}
	attributes := []attribute.KeyValue{t.system, operationKey.String(k.operation)}
	if k.errorType != "" {
		attributes = append(attributes, errorTypeKey.String(k.errorType))
	}
	made, _ := t.kinds.LoadOrStore(k, metric.WithAttributeSet(attribute.NewSet(attributes...)))
	return made.(metric.MeasurementOption) //nolint:forcetypeassert // as above
}

// summaryOf returns what a statement does and to which table, the first one that it names; none for a function.
// Statements are this program's own, so this need not be a parser.
func summaryOf(statement string) (operation, collection string) {
	named := false // a table is about to be
	for word := range strings.FieldsSeq(statement) {
		switch {
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

// codeOf is SQLite's result code or PostgreSQL's SQLSTATE; empty when the database did not answer.
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

// errorType is the database's code, or why there is none.
func errorType(ctx context.Context, err error, code string) string {
	switch {
	case code != "":
		return code
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "canceled"
	case errors.Is(err, ErrUnavailable), isOfConnection(err):
		return "unavailable"
	}
	return "_OTHER" // the conventions' word for anything else
}

// runner runs statements: a pool of connections, or a transaction.
type runner interface {
	querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
	PrepareContext(ctx context.Context, statement string) (*sql.Stmt, error)
}

// observed is a runner whose statements telemetry tells of.
type observed struct {
	runner
	telemetry *telemetry
}

// QueryRowContext is that of database/sql.
func (o observed) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	end := o.telemetry.begin(ctx, query, 1)
	row := o.runner.QueryRowContext(ctx, query, args...)
	end(row.Err())
	return row
}

// ExecContext is that of database/sql.
func (o observed) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	end := o.telemetry.begin(ctx, statement, 1)
	result, err := o.runner.ExecContext(ctx, statement, args...)
	end(err)
	return result, err
}

// ForEachRow calls scan for every row of a query, until it returns an error.
func (o observed) ForEachRow(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	end := o.telemetry.begin(ctx, query, 1)
	err := forEachRow(ctx, o.runner, scan, query, args)
	end(err)
	return err
}
