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

// sendTable is the lookup table for the accounts of messages (@debridge-finance/dln-client 8.3.6): without one, most
// cancels are too long for a transaction.
var sendTable = solana.MustAccount("Z9SwCHdnxCpAEHdTewMXqZedbQBuBpQr16G9yedAU9q")

// messageUnits are the compute units that the protocol's own client requests for a cancel or an unlock.
const messageUnits = 500_000

// Cancel returns the transaction by which an order's authority cancels it on this chain, its take chain, and sends the
// message about it. Errors: those of cancels in package creation, and quote.ErrReverted.
func (c *Chain) Cancel(ctx context.Context, id order.ID, t order.Terms) (creation.Transaction, error) {
	stored, err := c.TakeStates(ctx, []order.ID{id})
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("state of the order: %w", err)
	}
	if err := creation.CanCancel(t, stored[0].State); err != nil {
		return creation.Transaction{}, err
	}
	return c.message(ctx, t.Give.Chain, t.Authorities.Order, func(m creation.SolanaMessage) []solana.DraftInstruction { return m.Cancel(id, t) })
}

// Unlock returns the transaction by which the authority of delivered orders sends the message that releases their
// payment. Errors: those of unlocks in package creation, and quote.ErrReverted.
func (c *Chain) Unlock(ctx context.Context, u creation.Unlock) (creation.Transaction, error) {
	stored, err := c.TakeStates(ctx, u.IDs)
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("state of the orders: %w", err)
	}
	if err := u.Owed(stored); err != nil {
		return creation.Transaction{}, err
	}
	return c.message(ctx, u.Terms[0].Give.Chain, u.Authority, func(m creation.SolanaMessage) []solana.DraftInstruction { return m.Unlock(u) })
}

// message returns the transaction that sends a message to a chain. Its value is the gate's own fee. It has been
// simulated, unless its sender lacks the coin for it.
func (c *Chain) message(
	ctx context.Context, to chain.ID, sender chain.Address, instructions func(creation.SolanaMessage) []solana.DraftInstruction,
) (creation.Transaction, error) {
	states, err := c.readAccounts(ctx, []chain.Address{creation.MessageSettings(), creation.MessageSupport(to), sendTable})
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("settings of the gate: %w", err)
	}
	fees, err := creation.ReadMessageFees(dataOf(states[0]), dataOf(states[1]))
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("messages from chain %d to %d: %w", c.chain.ID, to, err)
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
	m := creation.SolanaMessage{At: c.chain.Contracts, Wrapped: c.chain.WrappedCoin, Fees: fees.To, Sender: sender}
	d := solana.Draft{
		FeePayer: sender, Blockhash: hash.Value.Blockhash,
		Instructions: append(solana.Budget{Units: messageUnits, Price: bid}.Instructions(), instructions(m)...),
	}
	if holds := tableOf(states[2]); len(holds) > 0 {
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
	return creation.Transaction{Sender: sender, Value: fees.Amount, Data: data}, nil
}

// dataOf returns the data of an account, nil if there is none.
func dataOf(state *accountInfo) []byte {
	if state == nil {
		return nil
	}
	return state.Data
}

// CancelCall returns creation.ErrNotHere: the executor's instructions for it are not implemented here.
func (*Chain) CancelCall(context.Context, order.ID, order.Terms, ...chain.Amount) (creation.Transaction, error) {
	return creation.Transaction{}, creation.ErrNotHere
}
