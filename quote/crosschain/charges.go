package crosschain

import (
	"context"
	"fmt"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/quote"
)

// Charges are the fees of a chain's contracts for orders with another chain, as read from them.
type Charges struct {
	Fixed       chain.Amount // of the coin, for creating an order
	TransferBps int          // of the gross amount
	Message     chain.Amount // of the coin, charged by the gate for a message to the other chain
}

// chargesLife is how long charges are current: they change by governance.
const chargesLife = 30 * time.Second

type pair struct{ on, with chain.ID }

// charges returns a chain's charges of at most a minute ago, usually without a round trip.
func (e *Estimator) charges(ctx context.Context, p pair) (Charges, error) {
	return e.knownCharges.of(p).Get(ctx, e.readCharges(p))
}

func (e *Estimator) renewCharges(ctx context.Context, p pair) {
	e.knownCharges.of(p).Renew(ctx, e.readCharges(p))
}

func (e *Estimator) readCharges(p pair) quote.Read[Charges] {
	return func(ctx context.Context) (Charges, time.Duration, error) {
		read := e.Chains[p.on].Charges
		if read == nil {
			return Charges{}, 0, fmt.Errorf("the order contracts of chain %d are not read", p.on)
		}
		charges, err := read(ctx, p.with)
		return charges, chargesLife, err
	}
}

// renewed keeps a value per key. The zero value has none.
type renewed[K comparable, T any] struct{ values sync.Map }

func (r *renewed[K, T]) of(key K) *quote.Renewed[T] {
	value, _ := r.values.LoadOrStore(key, new(quote.Renewed[T]))
	return value.(*quote.Renewed[T])
}
