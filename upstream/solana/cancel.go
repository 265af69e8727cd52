package solana

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
)

// sendTable is the lookup table of the accounts of messages (@debridge-finance/dln-client 8.3.6): without one, most
// cancels are too long for a transaction.
var sendTable = solana.MustAccount("Z9SwCHdnxCpAEHdTewMXqZedbQBuBpQr16G9yedAU9q")

// cancelUnits are the compute units that the protocol's own client takes for a cancel.
const cancelUnits = 500_000

// Cancel is the transaction by which an order's authority cancels it on this chain, its take chain, and sends the
// message about it. It was simulated, unless the authority is too poor for it. Errors: those of cancels in package
// creation, and quote.ErrReverted.
func (c *Chain) Cancel(ctx context.Context, id order.ID, t order.Terms) (creation.Transaction, error) {
	stored, err := c.TakeStates(ctx, []order.ID{id})
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("state of the order: %w", err)
	}
	switch stored[0].State {
	case order.None:
	case order.StateOrderCancelled, order.StateSentOrderCancel:
		return creation.Transaction{}, creation.ErrCancelled
	default:
		return creation.Transaction{}, creation.ErrFulfilled
	}
	states, err := c.readAccounts(ctx, []chain.Address{creation.MessageSettings(), sendTable})
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("settings of the gate: %w", err)
	}
	var fees chain.Address
	if states[0] != nil {
		fees = creation.FeeBeneficiary(states[0].Data)
	}
	if fees.IsAbsent() {
		return creation.Transaction{}, fmt.Errorf("chain %d: no settings of the gate", c.chain.ID)
	}
	price, err := c.GasPrice(ctx, quote.Normal)
	if err != nil {
		return creation.Transaction{}, err
	}
	var hash blockhashReply
	if err := c.rpc.All(ctx, latestBlockhashCall(&hash)); err != nil {
		return creation.Transaction{}, err
	}
	bid, _ := price.Bid.Uint64()
	d := solana.Draft{
		FeePayer: t.Authorities.Order, Blockhash: hash.Value.Blockhash,
		Instructions: solana.Budget{Units: cancelUnits, Price: bid}.Instructions(),
	}
	d.Instructions = append(d.Instructions, creation.CancelOnSolana(c.chain.Contracts, c.chain.WrappedCoin, fees, id, t)...)
	if holds := tableOf(states[1]); len(holds) > 0 {
		d.Tables = []solana.LookupTable{{Address: sendTable, Holds: holds}}
	}
	data, err := d.Compile()
	if err != nil {
		return creation.Transaction{}, err
	}
	ran, err := c.run(ctx, quote.Tx{Data: data})
	if err != nil {
		return creation.Transaction{}, err
	}
	if failure := ran.failure(); failure != nil && !ran.isOf(poorSender) {
		return creation.Transaction{}, failure
	}
	return creation.Transaction{Sender: t.Authorities.Order, Data: data}, nil
}

// CancelCall is creation.ErrNotHere: the executor's instructions for it are not made here.
func (*Chain) CancelCall(context.Context, order.ID, order.Terms, ...chain.Amount) (creation.Transaction, error) {
	return creation.Transaction{}, creation.ErrNotHere
}
