package store

import (
	"context"
	"database/sql"
	"fmt"

	"crossgate/quote"
)

// AddVenueDays adds to what became of venues. Counts of several gateways add up. All of them are stored, or none.
func (db *DB) AddVenueDays(ctx context.Context, days []quote.VenueDay) error {
	rows := make([][]any, len(days))
	for i, d := range days {
		rows[i] = []any{int64(d.Day), d.Venue, int64(d.Quoted), int64(d.Won), int64(d.Contested), d.Gain}
	}
	err := db.Update(ctx, func(tx *Tx) error {
		return tx.ExecEach(ctx, `INSERT INTO venue_days (day, venue, quoted, won, contested, gain) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (day, venue) DO UPDATE SET quoted = venue_days.quoted + excluded.quoted, won = venue_days.won + excluded.won,
				contested = venue_days.contested + excluded.contested, gain = venue_days.gain + excluded.gain`, rows)
	})
	if err != nil {
		return fmt.Errorf("store what became of venues: %w", err)
	}
	return nil
}

// Venues returns what became of venues from one UNIX day to another, both included, those that won most often first.
// Day is zero.
func (db *DB) Venues(ctx context.Context, from, to uint64) (all []quote.VenueDay, err error) {
	err = db.ForEachRow(ctx, func(rows *sql.Rows) error {
		var d quote.VenueDay
		err := rows.Scan(&d.Venue, &d.Quoted, &d.Won, &d.Contested, &d.Gain)
		all = append(all, d)
		return err
	}, `SELECT venue, CAST(SUM(quoted) AS BIGINT), CAST(SUM(won) AS BIGINT), CAST(SUM(contested) AS BIGINT), CAST(SUM(gain) AS BIGINT)
		FROM venue_days WHERE day >= $1 AND day <= $2 GROUP BY venue ORDER BY 3 DESC, 2 DESC, 1`, int64(from), int64(to))
	if err != nil {
		return nil, fmt.Errorf("read what became of venues: %w", err)
	}
	return all, nil
}
