package index

import (
	"context"
	"fmt"
	"time"
)

// PlanClaim is what an endpoint of a service takes from its monthly plan, as the time in which it is refilled.
type PlanClaim struct {
	Service, Endpoint string
	Claim             time.Duration
}

// ClaimPlans writes claims down and returns, in their sequence, when all that was ever claimed of each plan is refilled.
// Claims of several gateways add up. All of them are written, or none.
func (s *Store) ClaimPlans(ctx context.Context, claims []PlanClaim) (refilled []time.Time, err error) {
	ctx, end := s.startSpan(ctx, "INSERT", "plans")
	defer func() { end(err) }()
	refilled = make([]time.Time, len(claims))
	err = s.change(ctx, func(tx *transaction) error {
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
		return nil, fmt.Errorf("claim of %d plans: %w", len(claims), err)
	}
	return refilled, nil
}
