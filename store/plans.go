package store

import (
	"context"
	"database/sql"
	"time"

	"crossgate/quote"
)

// PlanClaim is spending from the monthly plan of a service's endpoint, as the time in which that is refilled.
type PlanClaim struct {
	Service, Endpoint string
	Claim             time.Duration
}

// ClaimPlans adds claims to the stored spending, all or none of them. It returns, in the order of claims, when
// everything ever claimed from each plan is refilled. Claims of several gateways add up.
func (db *DB) ClaimPlans(ctx context.Context, claims []PlanClaim) (refilled []time.Time, err error) {
	refilled = make([]time.Time, len(claims))
	err = db.Update(ctx, func(tx *Tx) error {
		now := time.Now()
		for i, each := range claims {
			var at int64
			err := tx.QueryRow(ctx, []any{&at}, `INSERT INTO plans (service, endpoint, refilled) VALUES ($1, $2, $3)
				ON CONFLICT (service, endpoint) DO UPDATE SET refilled =
					CASE WHEN plans.refilled + $4 > excluded.refilled THEN plans.refilled + $4 ELSE excluded.refilled END
				RETURNING refilled`, each.Service, each.Endpoint, now.Add(each.Claim).UnixMicro(), each.Claim.Microseconds())
			if err != nil {
				return err
			}
			refilled[i] = time.UnixMicro(at)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return refilled, nil
}

// AddVenueDays adds to the stored results of venues, all or none. Counts of several gateways add up.
func (db *DB) AddVenueDays(ctx context.Context, days []quote.VenueDay) error {
	rows := Arguments(days, func(d quote.VenueDay) []any {
		return []any{int64(d.Day), d.Venue, int64(d.Quoted), int64(d.Won), int64(d.Contested), d.Gain}
	})
	return db.Update(ctx, func(tx *Tx) error {
		return tx.ExecEach(ctx, `INSERT INTO venue_days (day, venue, quoted, won, contested, gain) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (day, venue) DO UPDATE SET quoted = venue_days.quoted + excluded.quoted, won = venue_days.won + excluded.won,
				contested = venue_days.contested + excluded.contested, gain = venue_days.gain + excluded.gain`, rows)
	})
}

// Venues returns the results of venues in the UNIX days [from, to], those that won most often first. Their Day is zero.
func (db *DB) Venues(ctx context.Context, from, to uint64) ([]quote.VenueDay, error) {
	return All(ctx, db, func(rows *sql.Rows, d *quote.VenueDay) error {
		return rows.Scan(&d.Venue, &d.Quoted, &d.Won, &d.Contested, &d.Gain)
	}, `SELECT venue, CAST(SUM(quoted) AS BIGINT), CAST(SUM(won) AS BIGINT), CAST(SUM(contested) AS BIGINT), CAST(SUM(gain) AS BIGINT)
		FROM venue_days WHERE day >= $1 AND day <= $2 GROUP BY venue ORDER BY 3 DESC, 2 DESC, 1`, int64(from), int64(to))
}
