package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Capabilities are what an endpoint of a service was found not to do.
type Capabilities struct {
	Service, Endpoint string
	Limits            []byte // JSON
	Learned           time.Time
}

// KeepCapabilities stores what is known of endpoints now, in place of what was. All of it is stored, or nothing.
func (db *DB) KeepCapabilities(ctx context.Context, known []Capabilities) (err error) {
	err = db.Update(ctx, func(tx *Tx) error {
		for _, each := range known {
			_, err := tx.ExecContext(ctx, `INSERT INTO capabilities (service, endpoint, limits, learned) VALUES ($1, $2, $3, $4)
				ON CONFLICT (service, endpoint) DO UPDATE SET limits = excluded.limits, learned = excluded.learned`,
				each.Service, each.Endpoint, string(each.Limits), each.Learned.UnixMicro())
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep capabilities of %d endpoints: %w", len(known), err)
	}
	return nil
}

// Capabilities returns what was stored of all endpoints.
func (db *DB) Capabilities(ctx context.Context) (known []Capabilities, err error) {
	err = db.ForEachRow(ctx, func(rows *sql.Rows) error {
		var each Capabilities
		var limits string
		var learned int64
		if err := rows.Scan(&each.Service, &each.Endpoint, &limits, &learned); err != nil {
			return err
		}
		each.Limits, each.Learned = []byte(limits), time.UnixMicro(learned)
		known = append(known, each)
		return nil
	}, `SELECT service, endpoint, limits, learned FROM capabilities ORDER BY service, endpoint`)
	if err != nil {
		return nil, fmt.Errorf("read capabilities: %w", err)
	}
	return known, nil
}
