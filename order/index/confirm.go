package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// confirm asks the give chains about what the store alone cannot be sure of, and returns what is locked: of
// the certain locks those that were not claimed where a follower is behind, of the unconfirmed ones those
// whose order was created and not claimed; unread are the chains of these. When a chain cannot be asked, certain locks
// stay as they were indexed, since the basis shows the chain's lag; unconfirmed ones are an error, since nothing would
// show that they are missing.
func (x *Index) confirm(ctx context.Context, certain, unconfirmed []order.Lock) (sure []order.Lock, unread []chain.ID, err error) {
	if len(unconfirmed) == 0 && !slices.ContainsFunc(x.followers, x.isBehind) {
		return certain, nil, nil
	}
	doubtful, sure := split(certain, func(l order.Lock) bool { return x.isBehind(x.byChain[l.Give.Chain]) })
	kept, failed := x.kept(ctx, slices.Concat(doubtful, unconfirmed))
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var unreachable UnreachableError
	for _, l := range unconfirmed {
		if err := failed[l.Give.Chain]; err != nil && !slices.Contains(unreachable.Chains, l.Give.Chain) {
			unreachable.add(l.Give.Chain, err)
		}
		if known := kept[l.Order]; known.State == order.StateCreated {
			l.Give.Amount = known.Amount
			sure, unread = append(sure, l), append(unread, l.Give.Chain)
		}
	}
	if len(unreachable.Chains) > 0 {
		return nil, nil, fmt.Errorf("confirm locked orders: %w", &unreachable)
	}
	for _, l := range doubtful {
		if known, told := kept[l.Order]; !told || known.State == order.StateCreated {
			sure = append(sure, l)
		}
	}
	return sure, unread, nil
}

// isBehind reports whether the store lacks what a followed chain said lately.
func (x *Index) isBehind(f *follower) bool {
	return f != nil && f.lag().By(time.Now()) > x.options.Behind
}

// split parts locks into those that are and those that are not.
func split(locks []order.Lock, is func(order.Lock) bool) (those, others []order.Lock) {
	for _, l := range locks {
		if is(l) {
			those = append(those, l)
		} else {
			others = append(others, l)
		}
	}
	return those, others
}

// kept asks the give chains of locks, all at once, for what they keep. Of a chain that cannot be asked
// nothing is told: it has failed, unless it is none of those that are followed or keeps nothing to ask for.
func (x *Index) kept(ctx context.Context, locks []order.Lock) (map[order.ID]order.StoredState, map[chain.ID]error) {
	now := time.Now()
	kept := map[order.ID]order.StoredState{}
	questions := map[chain.ID][]order.ID{}
	views := map[chain.ID]view{}
	for _, f := range x.followers {
		views[f.chain] = f.view()
	}
	for _, l := range locks {
		id := l.Give.Chain
		if known, fresh := x.confirmed.recall(l.Order, views[id], now); fresh {
			kept[l.Order] = known
		} else if _, tells := x.sources[id].(order.StateReader); tells {
			questions[id] = append(questions[id], l.Order)
		}
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	failed := map[chain.ID]error{}
	for id, ids := range questions {
		asking.Go(func() {
			answers, err := x.sources[id].(order.StateReader).States(ctx, ids)
			if err == nil && len(answers) != len(ids) {
				err = errors.New("answers do not fit the questions")
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[id] = err
				return
			}
			for i, answer := range answers {
				kept[ids[i]] = answer
				x.confirmed.remember(ids[i], answer, views[id], now)
			}
		})
	}
	asking.Wait()
	return kept, failed
}

// confirmations remembers what give chains keep, for as long as it is likely to stay.
type confirmations struct {
	mu    sync.Mutex
	known map[order.ID]confirmation
}

type confirmation struct {
	order.StoredState
	on    view
	again bool // the chain had said the same at another head, with no reorg in between
	until time.Time
}

// How long an answer of a chain is good for that is told again, unless a reorg is seen. A claim is for ever but for
// them; a fulfilled order that does not exist is a forgery, and a forger can make many; a created one may be claimed
// with the next block. What is told for the first time may be in a block that was not read and that a reorg drops
// unseen: it is good until the chain's next head.
var confirmationLife = map[order.State]time.Duration{
	order.None:                    time.Minute,
	order.StateCreated:            10 * time.Second,
	order.StateClaimedUnlock:      time.Hour,
	order.StateClaimedOrderCancel: time.Hour,
}

func (c *confirmations) recall(id order.ID, on view, now time.Time) (order.StoredState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, told := c.known[id]
	holds := known.on == on || known.again && known.on.reorgs == on.reorgs
	return known.StoredState, told && holds && now.Before(known.until)
}

func (c *confirmations) remember(id order.ID, kept order.StoredState, on view, now time.Time) {
	const most = 200_000
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= most {
		c.known = make(map[order.ID]confirmation)
	}
	before, told := c.known[id]
	again := told && before.State == kept.State && before.on.reorgs == on.reorgs && (before.again || before.on.head != on.head)
	c.known[id] = confirmation{kept, on, again, now.Add(confirmationLife[kept.State])}
}
