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

// PostgresOptions say how a PostgreSQL is opened.
type PostgresOptions struct {
	// Wait is how long to wait for a server that does not answer yet; not at all when zero.
	Wait time.Duration
	// Readers is how many connections are open for reading at most, 8 for 0. Those for writing are 3, and notifications
	// and probes have one each.
	Readers int
	Logger  *slog.Logger // for the beginning and the end of outages; nil: nothing is logged
}

// OpenPostgres opens the PostgreSQL database at url (postgres://user:password@host/name) and brings its schema up to
// date. Any number of replicas may use it at a time.
func OpenPostgres(ctx context.Context, url string, o PostgresOptions) (*DB, error) {
	const readers, writers = 8, 3 // unless the options say otherwise
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
		a.log.WarnContext(ctx, "database takes no changes; chains are not followed", "error", readOnly)
	}
	db := &DB{
		name: "PostgreSQL", reader: reader, writer: writer, telemetry: newTelemetry("postgresql"),
		replica: &replica{config: config, name: replicaName()}, availability: a, writes: &writeState{failed: readOnly, since: time.Now()},
	}
	return db.measured()
}

// checkWritable returns why a server takes no changes.
func checkWritable(ctx context.Context, db *sql.DB) error {
	var isReadOnly bool
	err := db.QueryRowContext(ctx, `SELECT current_setting('transaction_read_only')::boolean`).Scan(&isReadOnly)
	if err == nil && isReadOnly {
		return errors.New(readOnlyStandby)
	}
	return err
}

// isBroken reports whether an idle connection was ended from the other side. Unlike a ping, which takes a round trip
// before the statement, it asks nothing: what a server says when it ends a connection is there to be read. One that was
// lost without a word is found by the statement, or by the probes of availability, like any other.
func isBroken(_ context.Context, p stdlib.ShouldPingParams) bool {
	//lint:ignore SA1019 it says to prefer Ping where latency is low
	return p.IdleDuration > time.Second && p.Conn.PgConn().CheckConn() != nil
}

// patience is how long the server is waited for, and how long it waits for a replica that vanished in a transaction.
const patience = 5 * time.Second

// setSession bounds how long a connection is waited for, unless the URL does, and has the server end transactions in
// which nothing happens for as long. One process runs a statement: beside other work several took four times as long to
// count a long list. Poolers refuse to pass such settings on when a connection begins, so they are made right after.
func setSession(config *pgx.ConnConfig) {
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, patience)
	config.RuntimeParams["application_name"] = "crossgate"
	settings := fmt.Sprintf("SET idle_in_transaction_session_timeout = %d; SET tcp_user_timeout = %d; "+
		"SET max_parallel_workers_per_gather = 0", patience.Milliseconds(), patience.Milliseconds())
	config.AfterConnect = func(ctx context.Context, connection *pgconn.PgConn) error {
		return connection.Exec(ctx, settings).Close()
	}
}

// findingByIndex are connections on which rows are found by indexes wherever there is one, as those that write always
// want them. A plan that the server keeps from when a table was nearly empty would read all of the table when it has
// grown, for each row that is written, until autovacuum has looked at it. Without jit, since what has no index seems
// dear then, and is not.
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

var errPooled = errors.New("a pooler gives its connections to each transaction anew, so notifications and locks would get lost: " +
	"set pool_mode = session (PgBouncer), or connect to the server itself")

// checkSessions returns errPooled when two connections are one of the server's. It asks by the simple protocol, which
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

// migratePostgres lets one replica at a time change the schema, by connections of its own: it reads whole tables.
func migratePostgres(ctx context.Context, config pgx.ConnConfig) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(config)
	return errors.Join(migrate(ctx, db, goose.DialectPostgres, goose.WithSessionLocker(locker)), db.Close())
}
