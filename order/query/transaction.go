package query

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
)

// Transaction reads a transaction from its chain, whole, for people to look at: order.ErrNotFound where the chain does
// not know it, *UnreachableError where it does not answer, and where it is not followed or cannot say.
func (x *Index) Transaction(ctx context.Context, id chain.ID, tx chain.TxHash) (order.Transaction, error) {
	source, can := x.Source(id).(order.TransactionSource)
	if !can {
		return order.Transaction{}, &UnreachableError{[]chain.ID{id}, errors.New("it is not followed")}
	}
	read, err := source.Transaction(ctx, tx)
	switch {
	case err == nil:
		return read, nil
	case callerLeft(ctx):
		return order.Transaction{}, ctx.Err()
	case errors.Is(err, order.ErrNotFound):
		return order.Transaction{}, fmt.Errorf("transaction %s on chain %s: %w", tx, id, err)
	}
	return order.Transaction{}, &UnreachableError{[]chain.ID{id}, err}
}

// Tellers returns the names of the endpoints that reported a transaction with events, in the block with a hash; none
// where that is not remembered.
func (x *Index) Tellers(id chain.ID, tx chain.TxHash, block chain.Hash) []string {
	source, remembers := x.Source(id).(order.TellerSource)
	if !remembers {
		return nil
	}
	return source.Tellers(tx, block)
}
