package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
)

// confirm asks the give chains about locks that the store cannot be sure of, and returns those on followed chains that
// still hold: certain ones, unless their follower is behind and the chain says they were claimed, and unconfirmed ones
// whose order the chain says is created and unclaimed. unread lists the chains of the latter, single those where a
// single endpoint decided. If a chain cannot be asked, certain locks are kept, since the basis shows its lag;
// unconfirmed ones are an error, since nothing would show that they are missing.
func (x *Index) confirm(
	ctx context.Context, certain, unconfirmed []order.Lock,
) (sure []order.Lock, unread, single []chain.ID, err error) {
	isUnfollowed := func(l order.Lock) bool { return x.Of(l.Give.Chain) == nil }
	certain = slices.DeleteFunc(certain, isUnfollowed)
	unconfirmed = slices.DeleteFunc(unconfirmed, func(l order.Lock) bool { return isUnfollowed(l) || x.isUncreated(l.Order) })
	if len(unconfirmed) == 0 && !slices.ContainsFunc(x.Followers, x.isBehind) {
		return certain, nil, nil, nil
	}
	var outdated []order.Lock
	for _, l := range certain {
		if x.isBehind(x.Of(l.Give.Chain)) {
			outdated = append(outdated, l)
		} else {
			sure = append(sure, l)
		}
	}
	states := x.states(ctx, slices.Concat(outdated, unconfirmed))
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	var unreachable UnreachableError
	for _, l := range unconfirmed {
		switch known, isKnown := states[l.Order]; {
		case known.Err != nil:
			if !slices.Contains(unreachable.Chains, l.Give.Chain) {
				unreachable.add(l.Give.Chain, known.Err)
			}
		case known.State == order.StateCreated:
			l.Give.Amount = known.Amount
			sure, unread = append(sure, l), append(unread, l.Give.Chain)
		case isKnown && known.State == order.None && (!known.IsSingle || x.Of(l.Give.Chain).Basis().Single):
			x.uncreated.Put(l.Order, time.Now())
		}
	}
	if len(unreachable.Chains) > 0 {
		return nil, nil, nil, fmt.Errorf("confirm locked orders: %w", &unreachable)
	}
	for _, l := range outdated {
		known, isKnown := states[l.Order]
		isLonely := known.State != order.None && x.Of(l.Give.Chain).Basis().Single
		isDenied := known.IsSingle && !isLonely // by one endpoint, which is not enough
		if !isKnown || known.Err != nil || isDenied || known.State == order.StateCreated {
			sure = append(sure, l)
		}
	}
	for _, l := range slices.Concat(outdated, unconfirmed) {
		if states[l.Order].IsSingle {
			single = append(single, l.Give.Chain)
		}
	}
	return sure, unread, single, nil
}

// uncreatedFor is how long a give chain is not asked again about a delivered order that it does not have: anyone can
// make such deliveries for any unlock authority. Should an order be created after its delivery, that event is read.
// mostUncreated, per generation, limits the memory for them to some 15 MB.
const (
	uncreatedFor  = time.Hour
	mostUncreated = 50_000
)

func (x *Index) isUncreated(id order.ID) bool {
	asked, is := x.uncreated.Get(id)
	return is && time.Since(asked) < uncreatedFor
}

// isBehind reports whether the store lacks recent blocks of a followed chain.
func (x *Index) isBehind(f *follow.Follower) bool {
	read := f.Basis()
	return order.Basis{Behind: x.Behind}.IsBehind(&read, read.By(time.Now()))
}

// states reads what the give chains of locks store about their orders, from all chains concurrently. It omits chains
// that cannot return states.
func (x *Index) states(ctx context.Context, locks []order.Lock) map[order.ID]order.StoredState {
	states := map[order.ID]order.StoredState{}
	unknown := map[chain.ID][]order.ID{}
	for _, l := range locks {
		id := l.Give.Chain
		if x.Of(id).Orders != nil {
			unknown[id] = append(unknown[id], l.Order)
		}
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for id, ids := range unknown {
		asking.Go(func() {
			read, err := x.Of(id).Orders.States(ctx, ids)
			mu.Lock()
			defer mu.Unlock()
			for i, each := range ids {
				if states[each] = (order.StoredState{Err: err}); err == nil {
					states[each] = read[i]
				}
			}
		})
	}
	asking.Wait()
	return states
}

// doubtLimit is how long answers wait for the withdrawal of blocks that a reorg dropped.
const doubtLimit = 2 * time.Second

// errDoubt is the reason why a chain in doubt cannot be read.
var errDoubt = errors.New("a reorg has dropped blocks that could not be withdrawn yet")

// awaitWithdrawals waits until no chain is in doubt, that is, until all blocks known to be dropped by a reorg are
// withdrawn. It returns *UnreachableError if that takes too long. It does not wait for an unavailable store.
func (x *Index) awaitWithdrawals(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, doubtLimit, errDoubt)
	defer cancel()
	for _, f := range x.Followers {
		if cause := f.State().Stopped; cause != nil && x.DB.Available() == nil {
			return &UnreachableError{Chains: []chain.ID{f.ID}, Err: cause}
		}
		for doubt := f.State().Doubt; doubt != nil && x.DB.Available() == nil; doubt = f.State().Doubt {
			select {
			case <-doubt:
			case <-ctx.Done():
				if errors.Is(context.Cause(ctx), errDoubt) {
					return &UnreachableError{Chains: []chain.ID{f.ID}, Err: errDoubt}
				}
				return ctx.Err()
			}
		}
	}
	return nil
}
