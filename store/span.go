package store

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"modernc.org/sqlite"
)

// Attribute keys of a query: OpenTelemetry's semantic conventions for database clients
// (opentelemetry.io/docs/specs/semconv/db, v1.44). Statements and the server's address are left out: both can hold
// confidential values.
const (
	systemKey     = attribute.Key("db.system.name")
	operationKey  = attribute.Key("db.operation.name")
	collectionKey = attribute.Key("db.collection.name")
	statusCodeKey = attribute.Key("db.response.status_code")
	errorTypeKey  = attribute.Key("error.type")
)

// StartSpan opens the client span of a query on a table, and end closes it. Outside of a recorded trace there is none:
// the followers of the chains query all the time.
func (db *DB) StartSpan(ctx context.Context, operation, table string) (within context.Context, end func(error)) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(error) {}
	}
	system := "sqlite"
	if db.IsReplicated() {
		system = "postgresql"
	}
	ctx, span := otel.Tracer("crossgate/store").Start(ctx, operation+" "+table,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			systemKey.String(system), operationKey.String(operation), collectionKey.String(table),
		))
	return ctx, func(err error) {
		defer span.End()
		if err == nil {
			return
		}
		code := codeOf(err)
		if code != "" {
			span.SetAttributes(statusCodeKey.String(code))
		}
		span.SetAttributes(errorTypeKey.String(errorType(ctx, code)))
		span.SetStatus(codes.Error, "")
	}
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
func errorType(ctx context.Context, code string) string {
	switch {
	case code != "":
		return code
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "canceled"
	}
	return "_OTHER" // the conventions' word for anything else
}
