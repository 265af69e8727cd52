package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
)

// dropTriggers drops the triggers that noted what earlier releases wrote: none of those can use the schema any more.
// The databases have no common way to say so.
var dropTriggers = map[goose.Dialect][]string{
	goose.DialectSQLite3: {
		`DROP TRIGGER IF EXISTS unlisted_inserted`, `DROP TRIGGER IF EXISTS unlisted_updated`, `DROP TRIGGER IF EXISTS unlisted_deleted`,
	},
	goose.DialectPostgres: {`DROP FUNCTION IF EXISTS unlist() CASCADE`},
}

// triggerMigration is version 26 of the schema.
func triggerMigration(dialect goose.Dialect) *goose.Migration {
	return goose.NewGoMigration(26, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		for _, statement := range append(dropTriggers[dialect], `ALTER TABLE orders DROP COLUMN writes`, `UPDATE compatibility SET oldest = 26`) {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}}, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE compatibility SET oldest = 25`)
		if err == nil {
			_, err = tx.ExecContext(ctx, `ALTER TABLE orders ADD COLUMN writes BIGINT NOT NULL DEFAULT 0`)
		}
		return err
	}})
}
