package solana

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/upstream/jsonrpc"
)

// sendTable is the lookup table for the accounts of messages (@debridge-finance/dln-client 8.3.6): without one, most
// cancels are too long for a transaction.
var sendTable = solana.MustAccount("Z9SwCHdnxCpAEHdTewMXqZedbQBuBpQr16G9yedAU9q")

// messageUnits are the compute units that the protocol's own client requests for a cancel or an unlock; a call's cancel
// takes fewer.
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

// message returns the transaction that sends a message to a chain. Its value is the gate's own fee.
func (c *Chain) message(
	ctx context.Context, to chain.ID, sender chain.Address, instructions func(creation.SolanaMessage) []solana.DraftInstruction,
) (creation.Transaction, error) {
	type settings struct {
		creation.MessageFees
		table []chain.Address
	}
	accounts := []chain.Address{creation.MessageSettings(), creation.MessageSupport(to), sendTable}
	found, err := find(ctx, c, accounts, func(states []*accountInfo) (s settings, err error) {
		if s.table = tableOf(states[2]); len(s.table) == 0 {
			return s, fmt.Errorf("%s is not a lookup table", sendTable.Format(chain.SVM))
		}
		s.MessageFees, err = creation.ReadMessageFees(dataOf(states[0]), dataOf(states[1]))
		return s, err
	})
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("messages from chain %d to %d: %w", c.chain.ID, to, err)
	}
	m := creation.SolanaMessage{At: c.chain.Contracts, Wrapped: c.chain.WrappedCoin, Fees: found.To, Sender: sender}
	tx := creation.Transaction{Sender: sender, Value: found.Amount}
	return c.simulated(ctx, tx, instructions(m), solana.LookupTable{Address: sendTable, Holds: found.table})
}

// simulated returns a transaction with its data: instructions, compute budget and priority fee. It has been simulated,
// unless its sender lacks the coin for it.
func (c *Chain) simulated(
	ctx context.Context, tx creation.Transaction, instructions []solana.DraftInstruction, tables ...solana.LookupTable,
) (creation.Transaction, error) {
	price, err := c.GasPrice(ctx, quote.Normal)
	if err != nil {
		return creation.Transaction{}, err
	}
	var hash blockhashReply
	if err := c.rpc.All(ctx, latestBlockhashCall(&hash)); err != nil {
		return creation.Transaction{}, err
	}
	bid, _ := price.Bid.Uint64()
	tx.Data, err = solana.Draft{
		FeePayer: tx.Sender, Blockhash: hash.Value.Blockhash, Tables: tables,
		Instructions: append(solana.Budget{Units: messageUnits, Price: bid}.Instructions(), instructions...),
	}.Compile()
	if err != nil {
		return creation.Transaction{}, err
	}
	ran, err := c.run(ctx, quote.Tx{Data: tx.Data})
	if err != nil {
		return creation.Transaction{}, err
	}
	failure := ran.failure()
	if failure == nil || ran.isOf(poorSender) {
		return tx, nil
	}
	has, err := c.Balance(ctx, chain.NativeCoin(chain.SVM), tx.Sender)
	if err == nil && has.Cmp(tx.Value.Add(chain.NewAmount(reserveLamports))) < 0 {
		return tx, nil
	}
	return creation.Transaction{}, failure
}

func dataOf(state *accountInfo) []byte {
	if state == nil {
		return nil
	}
	return state.Data
}

// CancelCall returns the transaction by which an order's authority takes what waits for its external call. Errors:
// creation's for calls, quote.ErrReverted.
func (c *Chain) CancelCall(ctx context.Context, id order.ID, t order.Terms, _ ...chain.Amount) (creation.Transaction, error) {
	if err := creation.CanCancelCall(t, c.chain.Contracts); err != nil {
		return creation.Transaction{}, err
	}
	accounts, adapter := []chain.Address{onchain.CallAccount(c.chain.Contracts, id)}, c.chain.Contracts.ExternalCallAdapter
	states, err := c.readAccounts(ctx, accounts, func(call *jsonrpc.Call) { byAccount(call, onchain.DecodeCallAccount, adapter) })
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("state of the external call: %w", err)
	}
	if err := creation.CanCancelSolanaCall(dataOf(states[0])); err != nil {
		return creation.Transaction{}, err
	}
	program, err := find(ctx, c, []chain.Address{t.Take.Token}, programOf(t.Take.Token))
	if err != nil {
		return creation.Transaction{}, err
	}
	return c.simulated(ctx, creation.Transaction{Sender: t.Authorities.Order}, creation.CancelSolanaCall(c.chain.Contracts, id, t, program))
}
