package orders

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// encodeOrders returns the records of orders, and the life that suits all of them.
func (s *Orders) encodeOrders(ctx context.Context, orders []query.Found) ([]proxy.Body, cache.Life, error) {
	var keys []token.Key
	for _, o := range orders {
		keys = append(keys, TokensOf(o.Order)...)
	}
	tokens, err := s.Tokens(ctx, keys)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	bodies := make([]proxy.Body, len(orders))
	for i := range orders {
		o := &orders[i]
		o.Basis = resting(o.Basis, tokens, TokensOf(o.Order)...)
		const typical = 13 << 10 // bytes of a record with all its steps
		record := recordOf(o.Order, tokens)
		bodies[i] = bodyOf(s.encoder.AppendOrder(make([]byte, 0, typical), record), *o)
		bodies[i].Link, bodies[i].Value = seriesLink(i, len(orders)), record
	}
	return bodies, lifeOf(orders), nil
}

// lifeOf returns the life of an answer about orders: short until they are final and confirmed by a second reading.
func lifeOf(orders []query.Found) cache.Life {
	for _, o := range orders {
		isRead := isProven(o.Basis, o.Terms.Give.Chain, o.GiveBlock) && isProven(o.Basis, o.Terms.Take.Chain, o.TakeBlock)
		if !isRead || !isFinal(o.Order) || !o.Basis.IsFinal() || len(o.Gaps) > 0 {
			return proxy.MovingLife
		}
	}
	return proxy.SettledLife
}

// isProven reports whether no second reading of a chain's block is still pending.
func isProven(b order.Basis, id chain.ID, block uint64) bool {
	on := b.Of(id)
	return !on.Followed || block < on.From.Number || block <= on.Proven
}

// isFinal reports whether only a reorg can change the order.
func isFinal(o *order.Order) bool { return o.State.IsFinal() && o.Call.IsFinal() }

// TokensOf returns the tokens that an order gives and takes, and the one that its maker swapped for the give token.
func TokensOf(o *order.Order) []token.Key {
	give, take := o.Terms.Give, o.Terms.Take
	keys := []token.Key{{Chain: give.Chain, Address: give.Token}, {Chain: take.Chain, Address: take.Token}}
	if o.Created != nil && o.Created.Fact.Preswap != nil {
		keys = append(keys, token.Key{Chain: give.Chain, Address: o.Created.Fact.Preswap.TokenIn})
	}
	return keys
}

func recordOf(o *order.Order, tokens map[token.Key]token.Token) wire.Record {
	of := TokensOf(o)
	r := wire.Record{Order: o, Give: tokens[of[0]], Take: tokens[of[1]]}
	if len(of) > 2 {
		r.PreswapIn = tokens[of[2]]
	}
	return r
}

// resting returns the basis of an answer that names tokens: metadata from a single endpoint may yet be corrected.
func resting(on order.Basis, tokens map[token.Key]token.Token, named ...token.Key) order.Basis {
	on.Chains = slices.Clone(on.Chains)
	for i := range on.Chains {
		c := &on.Chains[i]
		isSingle := func(key token.Key) bool { return key.Chain == c.Chain && tokens[key].IsSingle }
		if slices.ContainsFunc(named, isSingle) {
			c.Single, c.Final = true, false
		}
	}
	return on
}

// unreadTokens is an error with the chains whose token metadata could not be read.
type unreadTokens struct {
	error
	chains []chain.ID // ascending
}

func (u *unreadTokens) Unwrap() error { return u.error }

// tokensInTime is Tokens for answers about many, which one chain must not fail: metadata that takes too long is left
// empty, and unread are the chains that it is missing from.
func (s *Orders) tokensInTime(ctx context.Context, keys []token.Key) (found map[token.Key]token.Token, unread []chain.ID, err error) {
	const patience = time.Second
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err = s.Tokens(limited, keys)
	if failed, is := errors.AsType[*unreadTokens](err); is && ctx.Err() == nil {
		return found, failed.chains, nil
	}
	return found, nil, err
}

// Tokens looks up metadata on all chains concurrently, with one call per chain and token. An error is an *unreadTokens
// besides the underlying ones.
func (s *Orders) Tokens(ctx context.Context, keys []token.Key) (map[token.Key]token.Token, error) {
	byChain, found := map[chain.ID][]chain.Address{}, make(map[token.Key]token.Token, len(keys))
	for _, key := range keys {
		if _, repeated := found[key]; repeated {
			continue
		}
		found[key] = token.Token{}
		byChain[key.Chain] = append(byChain[key.Chain], key.Address)
	}
	var (
		lookups sync.WaitGroup
		mu      sync.Mutex
		failed  unreadTokens
	)
	for id, addresses := range byChain {
		lookups.Go(func() {
			tokens, err := s.Options().Tokens.Lookup(ctx, id, addresses...)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed.error, failed.chains = errors.Join(failed.error, err), append(failed.chains, id)
			}
			for i, t := range tokens {
				found[token.Key{Chain: id, Address: addresses[i]}] = t
			}
		})
	}
	lookups.Wait()
	if failed.error == nil {
		return found, nil
	}
	slices.Sort(failed.chains)
	return found, &failed
}
