package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// A backup is an SQLite file with the schema of the database that it was made of, whichever that is: both have the same
// tables. So one of PostgreSQL can be restored into a file, and the other way round.

// Say is told how far a backup or a restore is, a line at a time.
type Say func(format string, args ...any)

// Backup writes the database as it is at one moment into a new file, while gateways use it, and the file's checksum
// beside it.
func (l Location) Backup(ctx context.Context, file string, say Say) error {
	err := l.using(func(db database) error {
		version, err := inspect(ctx, db.DB, db.dialect)
		if err != nil {
			return err
		}
		if version == 0 {
			return errors.New("nothing is in it yet")
		}
		return writeNew(file, func(part string) error {
			if db.dialect == goose.DialectSQLite3 {
				_, err := db.ExecContext(ctx, `VACUUM INTO $1`, part)
				return err
			}
			return db.copyTo(ctx, part, version, say)
		})
	})
	if err != nil {
		return err
	}
	say("%s: computing the checksum", file)
	return writeChecksum(file)
}

// Restore makes the database what a backup holds. The database must be empty: a file that does not exist, or a
// PostgreSQL database in which nothing was ever read of any chain. A file that is not what its checksum says is
// refused.
func (l Location) Restore(ctx context.Context, file string, say Say) error {
	say("%s: checking the backup", file)
	err := verifyChecksum(file, say)
	if err == nil {
		err = checkBackup(ctx, file)
	}
	if err != nil {
		return fmt.Errorf("backup %s: %w", file, withRemedy(err))
	}
	if l.Postgres == "" {
		err := writeNew(l.Path, func(part string) error { return copyFile(ctx, file, part) })
		if err != nil {
			return fmt.Errorf("database %s: %w", l, withRemedy(err))
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "crossgate-restore")
	if err != nil {
		return err
	}
	// The copy is brought to this build's schema, the backup is not touched.
	copied := dir + "/orders.db"
	return errors.Join(l.restoreFrom(ctx, file, copied, say), os.RemoveAll(dir))
}

func (l Location) restoreFrom(ctx context.Context, file, copied string, say Say) error {
	if err := copyFile(ctx, file, copied); err != nil {
		return err
	}
	from, err := OpenSQLite(ctx, copied)
	if err != nil {
		return err
	}
	to, err := OpenPostgres(ctx, l.Postgres, PostgresOptions{})
	if err != nil {
		return errors.Join(err, from.Close())
	}
	err = to.Close() // what keeps tables locked would count as an outage
	if err == nil {
		err = l.using(func(db database) error { return db.copyFrom(ctx, from.reader, say) })
	}
	return errors.Join(err, from.Close())
}

// writeNew has write make a file beside its place, and moves it there: nobody finds half of it.
func writeNew(path string, write func(part string) error) error {
	if facts, err := os.Stat(path); err == nil && facts.Size() > 0 {
		return fmt.Errorf("%s exists and is left as it is: name another file, or move it away", path)
	}
	if facts, err := os.Stat(filepath.Dir(path)); err != nil || !facts.IsDir() {
		return fmt.Errorf("%s: its directory does not exist", path)
	}
	part := path + ".part"
	err := os.Remove(part) // what an interrupted one has left
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := write(part); err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	return os.Rename(part, path)
}

// copyFile writes an SQLite file anew.
func copyFile(ctx context.Context, from, to string) error {
	return Location{Path: from}.using(func(db database) error {
		_, err := db.ExecContext(ctx, `VACUUM INTO $1`, to)
		return err
	})
}

// checkBackup refuses a file that is no backup, or a damaged one.
func checkBackup(ctx context.Context, file string) error {
	db, err := Location{Path: file}.open()
	if err != nil {
		return err
	}
	version, err := inspect(ctx, db.DB, db.dialect)
	if err == nil && version == 0 {
		err = errors.New("it is empty")
	}
	var found string
	if err == nil {
		err = db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
	}
	if err == nil && found != "ok" {
		err = errors.New("it is damaged: " + found)
	}
	return errors.Join(err, db.Close())
}

// contents are the tables that a backup has: all but what goose keeps, what is there in any database of the version,
// and leases, which are of the gateways that hold them.
func (db database) contents(ctx context.Context, q querier) ([]string, error) {
	tables, err := tablesOf(ctx, q, db.dialect)
	slices.Sort(tables)
	return slices.DeleteFunc(tables, func(name string) bool {
		return name == goose.DefaultTablename || name == "compatibility" || name == "leases"
	}), err
}

// copyTo writes the tables of a PostgreSQL into a new file, all of them as they are at one moment.
func (db database) copyTo(ctx context.Context, file string, version int64, say Say) error {
	snapshot, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	defer snapshot.Rollback() //nolint:errcheck // it has only read
	made, err := openFile(file, 1, fileOptions(busyLimit))
	if err != nil {
		return err
	}
	provider, err := newProvider(made, goose.DialectSQLite3)
	if err == nil {
		_, err = provider.UpTo(ctx, min(version, newestOf(provider)))
	}
	if err == nil {
		err = db.copyTables(ctx, snapshot, made, say)
	}
	if err == nil {
		_, err = made.ExecContext(ctx, `PRAGMA journal_mode(DELETE)`) // so that the file is all of it
	}
	return errors.Join(err, made.Close())
}

func (db database) copyTables(ctx context.Context, snapshot *sql.Tx, made *sql.DB, say Say) error {
	tables, err := db.contents(ctx, snapshot)
	if err != nil {
		return err
	}
	writing, err := made.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer writing.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for _, table := range tables {
		rows, err := readTable(ctx, snapshot, table, say)
		if err != nil {
			return err
		}
		if _, err := writing.ExecContext(ctx, `DELETE FROM `+table); err != nil { // what triggers made of another table
			return err
		}
		insert, err := writing.PrepareContext(ctx, `INSERT INTO `+table+` (`+strings.Join(rows.columns, ", ")+
			`) VALUES (`+Placeholders(1, len(rows.columns))+`)`)
		for err == nil && rows.next() {
			var values []any
			if values, err = rows.values(); err == nil {
				_, err = insert.ExecContext(ctx, values...)
			}
		}
		if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return fmt.Errorf("copy table %s: %w", table, err)
		}
	}
	return writing.Commit()
}

// table is one that is read whole.
type table struct {
	*sql.Rows
	name       string
	columns    []string
	isBytes    []bool // columns
	read, rows int
	say        Say
}

func readTable(ctx context.Context, q querier, name string, say Say) (*table, error) {
	t := &table{name: name, say: say}
	err := forEachRow(ctx, q, func(rows *sql.Rows) error { return rows.Scan(&t.rows) }, `SELECT COUNT(*) FROM `+name, nil)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, `SELECT * FROM `+name)
	if err != nil {
		return nil, err
	}
	t.Rows = rows
	types, err := rows.ColumnTypes()
	for _, each := range types {
		t.columns, t.isBytes = append(t.columns, each.Name()), append(t.isBytes, each.DatabaseTypeName() == "BYTEA")
	}
	return t, err
}

// next goes on to the next row, and says from time to time, and at the end, how many were read.
func (t *table) next() bool {
	const often = 50_000
	more := t.Next()
	if more {
		t.read++
	}
	if more == (t.read%often == 0) && t.read > 0 {
		t.say("%s: %d of %d rows", t.name, t.read, t.rows)
	}
	return more
}

// values are those of the row. Bytes are never NULL in the schema: that is how SQLite's driver returns empty ones.
func (t *table) values() ([]any, error) {
	values, into := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range values {
		into[i] = &values[i]
	}
	err := t.Scan(into...)
	for i, value := range values {
		if raw, _ := value.([]byte); t.isBytes[i] && raw == nil {
			values[i] = []byte{}
		}
	}
	return values, err
}

// errNotEmpty keeps a restore from mixing two histories.
var errNotEmpty = errors.New("it is not empty: restore into a new database")

// copyFrom writes the tables of an SQLite database into an empty PostgreSQL of the same schema.
func (db database) copyFrom(ctx context.Context, from *sql.DB, say Say) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	begun, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer begun.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	tx := &Tx{observed{begun, newTelemetry("postgresql")}, conn, true}
	if err := tx.copyFrom(ctx, from, say); err != nil {
		return err
	}
	return begun.Commit()
}

func (tx *Tx) copyFrom(ctx context.Context, from *sql.DB, say Say) error {
	tables, err := database{from, goose.DialectSQLite3}.contents(ctx, from)
	if err != nil {
		return err
	}
	for _, name := range tables {
		var isUsed bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+name+`)`).Scan(&isUsed); err != nil {
			return err
		}
		if isUsed {
			return errNotEmpty
		}
	}
	indexes, err := tx.dropIndexes(ctx)
	if err != nil {
		return err
	}
	for _, name := range tables {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+name); err != nil { // what triggers made of another table
			return err
		}
		rows, err := readTable(ctx, from, name, say)
		if err != nil {
			return err
		}
		if err := errors.Join(tx.copyIn(ctx, rows), rows.Close()); err != nil {
			return fmt.Errorf("copy table %s: %w", name, err)
		}
	}
	say("%d indexes to make", len(indexes))
	for _, definition := range indexes {
		if _, err := tx.ExecContext(ctx, definition); err != nil {
			return fmt.Errorf("%s: %w", definition, err)
		}
	}
	for _, name := range tables { // without statistics, plans are for empty tables until autovacuum has looked
		if _, err := tx.ExecContext(ctx, `ANALYZE `+name); err != nil {
			return fmt.Errorf("analyze table %s: %w", name, err)
		}
	}
	return nil
}

// dropIndexes drops those that no constraint needs, and returns the statements that make them again: an index is made
// sooner of all rows than row by row.
func (tx *Tx) dropIndexes(ctx context.Context) (definitions []string, err error) {
	var names []string
	err = tx.ForEachRow(ctx, func(rows *sql.Rows) error {
		var name, definition string
		err := rows.Scan(&name, &definition)
		names, definitions = append(names, name), append(definitions, definition)
		return err
	}, `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
		AND indexname NOT IN (SELECT conname FROM pg_constraint) ORDER BY 1`)
	for _, name := range names {
		if err == nil {
			_, err = tx.ExecContext(ctx, `DROP INDEX `+name)
		}
	}
	return definitions, err
}

// copyIn is PostgreSQL's COPY.
func (tx *Tx) copyIn(ctx context.Context, rows *table) error {
	return tx.conn.Raw(func(driver any) error {
		connection, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("driver is %T, not pgx", driver)
		}
		next := func() ([]any, error) {
			if !rows.next() {
				return nil, rows.Err()
			}
			return rows.values()
		}
		_, err := connection.Conn().CopyFrom(ctx, pgx.Identifier{rows.name}, rows.columns, pgx.CopyFromFunc(next))
		return err
	})
}
