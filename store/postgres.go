package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// OpenPostgres opens the PostgreSQL database at url (postgres://user:password@host/name) and brings its schema up to
// date. Any number of replicas may use it at a time.
func OpenPostgres(ctx context.Context, url string) (*DB, error) {
	const readers, writers = 8, 3
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("open database: malformed PostgreSQL URL") // the cause quotes it, password included
	}
	setTimeouts(config)
	writer := limited(stdlib.OpenDB(*config), writers)
	if err := migratePostgres(ctx, writer); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate PostgreSQL database: %w", err), writer.Close())
	}
	return &DB{
		name: "PostgreSQL", reader: limited(stdlib.OpenDB(*config), readers), writer: writer,
		replica: &replica{config: config, name: replicaName()},
	}, nil
}

// setTimeouts has the server end idle transactions, so that a replica that vanished does not keep others waiting.
func setTimeouts(config *pgx.ConnConfig) {
	const limit = 5 * time.Second
	config.ConnectTimeout = limit
	config.RuntimeParams["application_name"] = "crossgate"
	config.RuntimeParams["idle_in_transaction_session_timeout"] = fmt.Sprint(limit.Milliseconds())
	config.RuntimeParams["tcp_user_timeout"] = fmt.Sprint(limit.Milliseconds())
}

// migratePostgres lets one replica at a time change the schema.
func migratePostgres(ctx context.Context, db *sql.DB) error {
	if err := inspect(ctx, db, goose.DialectPostgres); err != nil {
		return err
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	return migrate(ctx, db, goose.DialectPostgres, goose.WithSessionLocker(locker))
}
