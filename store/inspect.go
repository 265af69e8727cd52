package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/stdlib"
)

// Inspect says what keeps the database from being used, and changes nothing: a PostgreSQL that does not answer, refuses
// the user, takes no changes or is behind a pooler by transaction, a file of a newer version or of another program, or
// no directory for it. Errors hold no password.
func (l Location) Inspect(ctx context.Context) error {
	if l.Postgres == "" {
		if facts, err := os.Stat(filepath.Dir(l.Path)); err != nil || !facts.IsDir() {
			return fmt.Errorf("database %s: its directory does not exist", l.Path)
		}
		return inspectFile(ctx, l.Path)
	}
	config, err := parsePostgres(l.Postgres)
	if err != nil {
		return err
	}
	setTimeouts(config, patience)
	db := stdlib.OpenDB(*config)
	err = checkSessions(ctx, db)
	if err == nil {
		err = checkWritable(ctx, db)
	}
	return errors.Join(err, db.Close())
}
