package upstream_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// book is the persistent account of one plan; it outlives processes.
type book struct{ refilled time.Time }

// write settles the outstanding claims of endpoints.
func (b *book) write(endpoints ...*upstream.Endpoint) {
	for _, e := range endpoints {
		claim, due := e.PlanClaim()
		if !due {
			continue
		}
		if now := time.Now(); b.refilled.Before(now) {
			b.refilled = now
		}
		b.refilled = b.refilled.Add(claim)
		e.PlanClaimed(claim, b.refilled)
	}
}

// planned returns an endpoint with a monthly plan, as in a process that has just started.
func planned(t *testing.T, monthly int) *upstream.Endpoint {
	t.Helper()
	return pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), upstream.EndpointOptions{Monthly: monthly})
}

// askAll sends requests until the endpoint refuses one or most have succeeded, and returns how many succeeded.
func askAll(t *testing.T, e *upstream.Endpoint, most int) (answered int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for answered < most {
		if _, err := e.Do(ctx, upstream.Request{}); err != nil {
			if upstream.ClassOf(err) != upstream.RateLimited {
				t.Fatal(err)
			}
			return answered
		}
		answered++
	}
	return answered
}

const (
	plenty = 1 << 30
	// planDays is the number of shares that a plan is split into.
	planDays = 32
)

// TestPlanHoldsForEveryMonth spends as much of a plan as it can for a year, with a new process every half day.
func TestPlanHoldsForEveryMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const monthly = 3200
		var account book
		spent := map[time.Month]int{}
		for range 2 * 366 {
			e := planned(t, monthly)
			account.write(e)
			for range 12 {
				spent[time.Now().UTC().Month()] += askAll(t, e, plenty)
				account.write(e)
				<-time.After(time.Hour)
			}
		}
		for month := time.January; month <= time.December; month++ {
			if got := spent[month]; got > monthly || got < monthly*85/100 {
				t.Errorf("%d units in %v, want most of %d and no more", got, month, monthly)
			}
		}
	})
}

// TestPlanIsOneForAll lets two processes spend one plan.
func TestPlanIsOneForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const monthly = 32_000
		var account book
		a, b := planned(t, monthly), planned(t, monthly)
		account.write(a, b)
		if got := askAll(t, a, plenty); got != 1000 {
			t.Errorf("%d units of a day's share of 1000", got)
		}
		account.write(a, b)
		const unheard = 10
		total := 1000 + askAll(t, b, unheard)
		account.write(a, b)
		if got := askAll(t, b, plenty); got != 0 {
			t.Errorf("the other process spent %d units of a day's share that was spent, after it was told", got)
		}
		for range 31 * 24 {
			<-time.After(time.Hour)
			total += askAll(t, a, unheard) + askAll(t, b, plenty)
			account.write(a, b)
		}
		if total > monthly*101/100 || total < monthly*95/100 {
			t.Errorf("two processes spent %d in a month, want about %d", total, monthly)
		}
	})
}

// TestKilledProcessesHaveCountedMore kills a process that has spent only part of its claim.
func TestKilledProcessesHaveCountedMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const share = 10_000
		var account book
		e := planned(t, share*planDays)
		account.write(e)
		spent := askAll(t, e, 20)
		account.write(e)
		for range 4 {
			spent += askAll(t, e, 20)
			if claim, due := e.PlanClaim(); due {
				t.Errorf("a claim of %v is due after %d units, want none as long as the last one lasts", claim, spent)
			}
		}
		next := planned(t, share*planDays)
		account.write(next)
		left := next.Health().Left
		if most := float64(share - spent); left > most || left < most-share/100 {
			t.Errorf("%v units are left after %d of %d were spent and a kill, want that or up to a hundredth less", left, spent, share)
		}
	})
}

// TestClaimsWaitForTheAccount settles claims only after more than one claim was spent.
func TestClaimsWaitForTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var account book
		e := planned(t, 100*planDays)
		const spent = 60
		askAll(t, e, spent)
		account.write(e)
		next := planned(t, 100*planDays)
		account.write(next)
		if got := askAll(t, next, plenty); got != 100-spent-1 {
			t.Errorf("the next process may spend %d units after %d of 100 and a claim of one, want 39", got, spent)
		}
	})
}

// TestPlanOutlivesAChange replaces an endpoint with one that has a larger plan.
func TestPlanOutlivesAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small, large := planned(t, 100*planDays), planned(t, 200*planDays)
		large.Replace(small)
		if got := askAll(t, small, plenty); got != 100 {
			t.Errorf("%d units of a day's share of 100", got)
		}
		if got := askAll(t, large, plenty); got != 0 {
			t.Errorf("%d units of the larger plan on a day whose share is spent, want none", got)
		}
		<-time.After(12 * time.Hour)
		if got := askAll(t, large, plenty); got != 100 {
			t.Errorf("%d units of the larger plan after half a day, want 100", got)
		}
		none := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"))
		none.Replace(large)
		none.PlanClaimed(time.Hour, time.Now())
		if _, due := none.PlanClaim(); due {
			t.Error("an endpoint without a plan has a claim")
		}
	})
}

// TestDearCallsWaitForAWholeShare makes single calls that cost more than a day's share.
func TestDearCallsWaitForAWholeShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := planned(t, 10*planDays)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		must.Get(e.Do(ctx, upstream.Request{Cost: 30}))(t)
		_, err := e.Do(ctx, upstream.Request{Cost: 30})
		if refused, is := errors.AsType[*upstream.Error](err); !is || refused.RetryAfter != 3*24*time.Hour {
			t.Errorf("the next call of three days' shares = %v, want a refusal for three days", err)
		}
	})
}
