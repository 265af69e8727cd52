package index

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

// OpenPostgres opens the store in the PostgreSQL database that url names (postgres://user:password@host/name)
// and brings its schema up to date. Any number of replicas may use it at a time: one of them follows each
// chain, all of them answer.
func OpenPostgres(ctx context.Context, url string) (*Store, error) {
	const readers, writers = 8, 3
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("open order index: the PostgreSQL address is none") // the cause quotes it
	}
	harden(config)
	writer := connect(config, writers)
	if err := migratePostgres(ctx, writer); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare order index on PostgreSQL: %w", err), writer.Close())
	}
	return &Store{
		name: "PostgreSQL", reader: connect(config, readers), writer: writer,
		cluster: &cluster{config: config, name: replicaName()},
	}, nil
}

// harden sees to it that a replica which vanished does not keep the others waiting: the server ends
// transactions in which nothing happens.
func harden(config *pgx.ConnConfig) {
	const patience = 5 * time.Second
	config.ConnectTimeout = patience
	config.RuntimeParams["application_name"] = "crossgate"
	config.RuntimeParams["idle_in_transaction_session_timeout"] = fmt.Sprint(patience.Milliseconds())
	config.RuntimeParams["tcp_user_timeout"] = fmt.Sprint(patience.Milliseconds())
}

func connect(config *pgx.ConnConfig, connections int) *sql.DB {
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
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
