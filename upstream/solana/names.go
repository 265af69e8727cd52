package solana

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

// mostNames bounds the accounts of orders that are remembered: at most twice as many, about 20 MB.
const mostNames = 100_000

func noNames(chain.Address) (id order.ID, known bool) { return id, false }

// learn remembers the accounts of the orders that a transaction fulfilled.
func (c *Chain) learn(tx solana.Transaction) {
	found, _ := onchain.DecodeSolana(c.chain.Contracts, tx, noNames) // unreadable ones teach nothing
	for _, each := range found {
		fulfilled, ok := each.Fact.(order.Fulfilled)
		if !ok {
			continue
		}
		c.names.Put(onchain.TakeOrderAccount(c.chain.Contracts, each.Order), each.Order)
		if fulfilled.Terms.HasExternalCall() {
			c.names.Put(onchain.CallAccount(c.chain.Contracts, each.Order), each.Order)
		}
	}
}

// name finds the orders that the batches among transactions are about, by the transactions that fulfilled them, which
// name the same accounts. This takes two round trips for all accounts that are not remembered, none if all are. An
// order that was not fulfilled in the first transactions of its account that are not listed as failed, or so long ago
// that the nodes forgot it, stays unknown, and its unlock is left out of the events.
func (c *Chain) name(ctx context.Context, transactions []*transaction) error {
	for _, tx := range transactions {
		c.learn(tx.ran)
	}
	isUnknown := func(account chain.Address) bool {
		_, known := c.names.Get(account)
		return !known
	}
	var nameless []chain.Address
	var naming []*transaction // the transaction that names each
	for _, tx := range transactions {
		for _, account := range onchain.UnnamedOrders(c.chain.Contracts, tx.ran) {
			if isUnknown(account) && !slices.Contains(nameless, account) {
				nameless, naming = append(nameless, account), append(naming, tx)
			}
		}
	}
	if len(nameless) == 0 {
		return nil
	}
	lists := make([][]signature, len(nameless))
	calls := make([]*jsonrpc.Call, len(nameless))
	for i, account := range nameless {
		calls[i] = namingCall(&lists[i], account, naming[i].message.Signature)
	}
	c.rpc.Each(ctx, calls...)
	for i, call := range calls {
		if c.isGone(call.Err, naming[i].Slot) {
			return &order.UnreadableError{Block: naming[i].Slot, Err: call.Err}
		}
		if call.Err != nil {
			return call.Err
		}
	}
	const first = 8 // transactions of an account that include its fulfilment
	var oldest []signature
	rank := func(s signature) int {
		if isNull(s.Err) {
			return 0
		}
		return 1 // failed, according to a list
	}
	for _, list := range lists {
		list = distinct(list)
		slices.SortStableFunc(list, func(a, b signature) int { return cmp.Compare(rank(a), rank(b)) })
		for _, each := range list[:min(len(list), first)] {
			oldest = append(oldest, signature{Signature: each.Signature}) // its slot is one endpoint's word
		}
	}
	fulfilments, err := c.transactions(ctx, c.rpc, oldest, false)
	if err != nil && !errors.As(err, new(*order.UnreadableError)) {
		return err
	}
	fulfilments.transactions = slices.DeleteFunc(fulfilments.transactions, func(tx *transaction) bool { return tx == nil })
	for _, tx := range fulfilments.transactions {
		c.learn(tx.ran)
	}
	if err = cmp.Or(err, fulfilments.aside()); err != nil && slices.ContainsFunc(nameless, isUnknown) {
		return &order.UnreadableError{Block: naming[0].Slot, Err: err}
	}
	return nil
}
