package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// PostgresOptions configure how a PostgreSQL is opened.
type PostgresOptions struct {
	// Wait is how long to wait for a server that does not answer yet; zero: not at all.
	Wait time.Duration
	// Readers is the maximum number of connections for reading; 0: 8. There are up to 3 for writing, and one each for
	// notifications and probes.
	Readers int
	Logger  *slog.Logger // for the start and end of outages; nil: nothing is logged
}

// OpenPostgres opens the PostgreSQL database at url (postgres://user:password@host/name) and brings its schema up to
// date. Any number of replicas may use it concurrently.
func OpenPostgres(ctx context.Context, url string, o PostgresOptions) (*DB, error) {
	const readers, writers = 8, 3 // defaults
	config, err := parsePostgres(url)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	setSession(config)
	withoutPing := stdlib.OptionShouldPing(isBroken)
	a := newAvailability(limited(stdlib.OpenDB(*config, withoutPing), 1), o.Logger)
	if err := a.await(ctx, o.Wait); err != nil {
		return nil, errors.Join(fmt.Errorf("open PostgreSQL database: %w", err), a.close())
	}
	config.DialFunc = a.dial
	writer := limited(stdlib.OpenDB(findingByIndex(*config), withoutPing), writers)
	if err := checkSessions(ctx, writer); err != nil {
		return nil, errors.Join(fmt.Errorf("open PostgreSQL database: %w", err), writer.Close(), a.close())
	}
	if err := migratePostgres(ctx, *config); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate PostgreSQL database: %w", err), writer.Close(), a.close())
	}
	reader := limited(stdlib.OpenDB(*config, withoutPing), cmp.Or(o.Readers, readers))
	a.hasTables, a.mode, a.pools = true, []any{pgx.QueryExecModeSimpleProtocol}, []*sql.DB{reader, writer}
	readOnly := checkWritable(ctx, reader)
	if readOnly != nil {
		a.log.WarnContext(ctx, "database rejects writes; chains are not followed", "error", readOnly)
	}
	db := &DB{
		name: "PostgreSQL", reader: reader, writer: writer, telemetry: newTelemetry("postgresql"),
		replica: &replica{config: config, name: replicaName()}, availability: a, writes: &writeState{failed: readOnly, since: time.Now()},
	}
	return db.measured()
}

// checkWritable returns why a server accepts no changes.
func checkWritable(ctx context.Context, db *sql.DB) error {
	var isReadOnly bool
	err := db.QueryRowContext(ctx, `SELECT current_setting('transaction_read_only')::boolean`).Scan(&isReadOnly)
	if err == nil && isReadOnly {
		return errors.New(readOnlyServer)
	}
	return err
}

// isBroken reports whether the server has ended an idle connection. Unlike a ping, which takes a round trip before the
// statement, it sends nothing, but looks for the message that a server sends when it ends a connection. A connection
// lost without notice is found by the statement, or by the probes of availability, like any other.
func isBroken(_ context.Context, p stdlib.ShouldPingParams) bool {
	//lint:ignore SA1019 it says to prefer Ping where latency is low
	return p.IdleDuration > time.Second && p.Conn.PgConn().CheckConn() != nil
}

// patience is how long to wait for the server, and how long it waits for a replica that vanished during a transaction.
const patience = 5 * time.Second

// setSession limits how long to wait for a connection, unless the URL does, and makes the server end transactions that
// are idle for that long. A statement uses a single server process: with several, counting a long list took four times
// as long beside other work. Poolers reject such settings at connection start, so they are made right after.
func setSession(config *pgx.ConnConfig) {
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, patience)
	config.RuntimeParams["application_name"] = "crossgate"
	settings := fmt.Sprintf("SET idle_in_transaction_session_timeout = %d; SET tcp_user_timeout = %d; "+
		"SET max_parallel_workers_per_gather = 0", patience.Milliseconds(), patience.Milliseconds())
	config.AfterConnect = func(ctx context.Context, connection *pgconn.PgConn) error {
		return connection.Exec(ctx, settings).Close()
	}
}

// findingByIndex returns a config whose connections find rows by index wherever one exists, as writers always want. A
// plan that the server cached while a table was nearly empty would scan the grown table for each row written, until
// autovacuum has analysed it. jit is off, since statements without an index now seem expensive, but are not.
func findingByIndex(config pgx.ConnConfig) pgx.ConnConfig {
	connected := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, connection *pgconn.PgConn) error {
		if err := connected(ctx, connection); err != nil {
			return err
		}
		return connection.Exec(ctx, `SET enable_seqscan = off; SET jit = off`).Close()
	}
	return config
}

var errPooled = errors.New("a pooler assigns connections per transaction, which loses notifications and locks: " +
	"set pool_mode = session (PgBouncer), or connect to the server directly")

// checkSessions returns errPooled if two connections share one of the server's. It uses the simple protocol, which
// every pooler passes on.
func checkSessions(ctx context.Context, db *sql.DB) error {
	one, err := db.Conn(ctx)
	if err != nil {
		return inOneLine(err)
	}
	defer one.Close() //nolint:errcheck // it goes back to the pool
	other, err := db.Conn(ctx)
	if err != nil {
		return inOneLine(err)
	}
	defer other.Close() //nolint:errcheck // it goes back to the pool
	const looks = 3
	seen := map[int]*sql.Conn{}
	for range looks {
		for _, connection := range []*sql.Conn{one, other} {
			var process int
			row := connection.QueryRowContext(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol)
			if err := row.Scan(&process); err != nil {
				return err
			}
			if of, known := seen[process]; known && of != connection {
				return errPooled
			}
			seen[process] = connection
		}
	}
	return nil
}

// migratePostgres lets one replica at a time change the schema, on separate connections since it reads whole tables.
func migratePostgres(ctx context.Context, config pgx.ConnConfig) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(config)
	return errors.Join(migrate(ctx, db, goose.DialectPostgres, goose.WithSessionLocker(locker)), db.Close())
}
