package store

import (
	"context"
	"fmt"
	"time"
)

// PlanClaim is what an endpoint of a service takes from its monthly plan, as the time in which that is refilled.
type PlanClaim struct {
	Service, Endpoint string
	Claim             time.Duration
}

// ClaimPlans adds claims to what has been spent and returns, in the order of the claims, when all that was ever claimed
// of each plan is refilled. Claims of several gateways add up. All of them are stored, or none.
func (db *DB) ClaimPlans(ctx context.Context, claims []PlanClaim) (refilled []time.Time, err error) {
	refilled = make([]time.Time, len(claims))
	err = db.Update(ctx, func(tx *Tx) error {
		now := time.Now()
		for i, each := range claims {
			row := tx.QueryRowContext(ctx, `INSERT INTO plans (service, endpoint, refilled) VALUES ($1, $2, $3)
				ON CONFLICT (service, endpoint) DO UPDATE SET refilled =
					CASE WHEN plans.refilled + $4 > excluded.refilled THEN plans.refilled + $4 ELSE excluded.refilled END
				RETURNING refilled`, each.Service, each.Endpoint, now.Add(each.Claim).UnixMicro(), each.Claim.Microseconds())
			var at int64
			if err := row.Scan(&at); err != nil {
				return err
			}
			refilled[i] = time.UnixMicro(at)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim from %d plans: %w", len(claims), err)
	}
	return refilled, nil
}
