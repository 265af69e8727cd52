package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
)

// triggers note in unlisted which orders were written by a release that does not keep order_list: it leaves the column
// writes as it is. The databases have no common way to say so.
var triggers = map[goose.Dialect]struct{ up, down []string }{
	goose.DialectSQLite3: {
		up: []string{
			`CREATE TRIGGER unlisted_inserted AFTER INSERT ON orders WHEN NEW.writes = 0
				BEGIN INSERT INTO unlisted VALUES (NEW.id); END`,
			`CREATE TRIGGER unlisted_updated AFTER UPDATE ON orders WHEN NEW.writes = OLD.writes
				BEGIN INSERT INTO unlisted VALUES (NEW.id); END`,
			`CREATE TRIGGER unlisted_deleted AFTER DELETE ON orders
				BEGIN INSERT INTO unlisted VALUES (OLD.id); END`,
		},
		down: []string{`DROP TRIGGER unlisted_inserted`, `DROP TRIGGER unlisted_updated`, `DROP TRIGGER unlisted_deleted`},
	},
	goose.DialectPostgres: {
		up: []string{
			`CREATE FUNCTION unlist() RETURNS trigger LANGUAGE plpgsql AS
				'BEGIN INSERT INTO unlisted VALUES (COALESCE(NEW.id, OLD.id)); RETURN NULL; END'`,
			`CREATE TRIGGER unlisted_inserted AFTER INSERT ON orders FOR EACH ROW WHEN (NEW.writes = 0) EXECUTE FUNCTION unlist()`,
			`CREATE TRIGGER unlisted_updated AFTER UPDATE ON orders FOR EACH ROW WHEN (NEW.writes = OLD.writes) EXECUTE FUNCTION unlist()`,
			`CREATE TRIGGER unlisted_deleted AFTER DELETE ON orders FOR EACH ROW EXECUTE FUNCTION unlist()`,
		},
		down: []string{
			`DROP TRIGGER unlisted_inserted ON orders`, `DROP TRIGGER unlisted_updated ON orders`,
			`DROP TRIGGER unlisted_deleted ON orders`, `DROP FUNCTION unlist()`,
		},
	},
}

// triggerMigration is version 9 of the schema.
func triggerMigration(dialect goose.Dialect) *goose.Migration {
	const version = 9
	run := func(statements []string) *goose.GoFunc {
		return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			for _, statement := range statements {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	return goose.NewGoMigration(version, run(triggers[dialect].up), run(triggers[dialect].down))
}
