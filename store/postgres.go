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
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// PostgresOptions say how a PostgreSQL is opened.
type PostgresOptions struct {
	// Wait is how long to wait for a server that does not answer yet; not at all when zero.
	Wait   time.Duration
	Logger *slog.Logger // for the beginning and the end of outages; nil: nothing is logged
}

// OpenPostgres opens the PostgreSQL database at url (postgres://user:password@host/name) and brings its schema up to
// date. Any number of replicas may use it at a time.
func OpenPostgres(ctx context.Context, url string, o PostgresOptions) (*DB, error) {
	const readers, writers = 8, 3
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("open database: malformed PostgreSQL URL") // the cause quotes it, password included
	}
	setTimeouts(config)
	a := newAvailability(limited(stdlib.OpenDB(*config), 1), cmp.Or(o.Logger, slog.New(slog.DiscardHandler)))
	if err := a.await(ctx, o.Wait); err != nil {
		return nil, errors.Join(fmt.Errorf("open PostgreSQL database: %w", err), a.close())
	}
	config.DialFunc = a.dial
	writer := limited(stdlib.OpenDB(*config), writers)
	if err := migratePostgres(ctx, writer); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate PostgreSQL database: %w", err), writer.Close(), a.close())
	}
	reader := limited(stdlib.OpenDB(*config), readers)
	a.pools = []*sql.DB{reader, writer}
	return &DB{
		name: "PostgreSQL", reader: reader, writer: writer,
		replica: &replica{config: config, name: replicaName()}, availability: a,
	}, nil
}

// setTimeouts bounds how long a connection is waited for, unless the URL does, and has the server end idle
// transactions, so that a replica that vanished does not keep others waiting.
func setTimeouts(config *pgx.ConnConfig) {
	const limit = 5 * time.Second
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, limit)
	config.RuntimeParams["application_name"] = "crossgate"
	config.RuntimeParams["idle_in_transaction_session_timeout"] = fmt.Sprint(limit.Milliseconds())
	config.RuntimeParams["tcp_user_timeout"] = fmt.Sprint(limit.Milliseconds())
}

// migratePostgres lets one replica at a time change the schema.
func migratePostgres(ctx context.Context, db *sql.DB) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	return migrate(ctx, db, goose.DialectPostgres, goose.WithSessionLocker(locker))
}
