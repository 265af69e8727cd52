package swap

import (
	"cmp"
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/upstream/evm"
)

// Cancel returns the transaction by which an order's authority cancels it on this chain, its take chain. Errors: those
// of cancels in package creation, and quote.ErrReverted.
func (s *Simulator) Cancel(ctx context.Context, id order.ID, t order.Terms) (creation.Transaction, error) {
	data, err := creation.CancelData(t)
	if err != nil {
		return creation.Transaction{}, err
	}
	stored, err := s.chain.TakeStates(ctx, []order.ID{id})
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("state of the order: %w", err)
	}
	if err := creation.CanCancel(t, stored[0].State); err != nil {
		return creation.Transaction{}, err
	}
	return s.message(ctx, t.Authorities.Order, t.Give.Chain, data)
}

// Unlock returns the transaction by which the authority of delivered orders sends the message that triggers their
// payment. Errors: those of unlocks in package creation, and quote.ErrReverted.
func (s *Simulator) Unlock(ctx context.Context, u creation.Unlock) (creation.Transaction, error) {
	stored, err := s.chain.TakeStates(ctx, u.IDs)
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("state of the orders: %w", err)
	}
	if err := u.Owed(stored); err != nil {
		return creation.Transaction{}, err
	}
	return s.message(ctx, u.Authority, u.Terms[0].Give.Chain, u.Data())
}

// message returns a simulated transaction that makes DlnDestination send a message to a chain. Its value is the gate's
// fee for that chain, or else for all, and no more, since the rest would come out as a token.
func (s *Simulator) message(ctx context.Context, sender chain.Address, to chain.ID, data []byte) (creation.Transaction, error) {
	contracts := s.chain.Facts().Contracts
	if contracts.Gate.IsAbsent() {
		return creation.Transaction{}, fmt.Errorf("%w: its gate is not known", creation.ErrNotHere)
	}
	answers, err := callTwice(ctx, s.chain, messageFees(contracts.Gate, to), cheaper)
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("message fee of the gate: %w", err)
	}
	tx := creation.Transaction{Sender: sender, To: contracts.DlnDestination, Data: data}
	if tx.Value, err = messageFee(answers, to); err != nil {
		return creation.Transaction{}, err
	}
	return tx, s.succeeds(ctx, tx)
}

// messageFees returns calls for a gate's fee for any message, and for its fee for messages to a chain.
func messageFees(gate chain.Address, to chain.ID) []chain.ContractCall {
	return []chain.ContractCall{
		{To: gate, Data: words.Call("globalFixedNativeFee()")}, {To: gate, Data: words.Call("getChainToConfig(uint256)", uint64(to))},
	}
}

// messageFee returns the second of the answers, or the first if the chain has no fee of its own. For Solana it is the
// larger, since DlnDestination itself wants the first (dln-contracts, _validateSolanaRewards).
func messageFee(answers [][]byte, to chain.ID) (chain.Amount, error) {
	general := words.New(answers[0])
	fee := general.Amount(0)
	if general.Err() != nil {
		return fee, fmt.Errorf("message fee of the gate: %w", general.Err())
	}
	if own := words.New(answers[1]).Amount(0); own.Cmp(fee) > 0 || !own.IsZero() && to != chain.Solana {
		fee = own
	}
	return fee, nil
}

// CancelCall returns a simulated transaction by which an order's authority takes the amount that waits for its external
// call: the first of amounts with a registered call. Errors: creation's for calls, quote.ErrReverted.
func (s *Simulator) CancelCall(ctx context.Context, id order.ID, t order.Terms, amounts ...chain.Amount) (creation.Transaction, error) {
	const registered, executed = 1, 2
	contracts := s.chain.Facts().Contracts
	if err := creation.CanCancelCall(t, contracts); err != nil {
		return creation.Transaction{}, err
	}
	adapter := contracts.ExternalCallAdapter
	var asked []chain.ContractCall
	for _, amount := range amounts {
		asked = append(asked, chain.ContractCall{To: adapter, Data: creation.RegisteredCall{Order: id, Terms: t, Amount: amount}.Status()})
	}
	notOpen := func(answer evm.Payload) uint64 { return words.New(answer).Uint(0, 8) ^ registered }
	answers, err := callTwice(ctx, s.chain, asked, func(a, b evm.Payload) int { return cmp.Compare(notOpen(b), notOpen(a)) })
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("state of the external call: %w", err)
	}
	for i, answer := range answers {
		w := words.New(answer)
		switch status := w.Uint(0, 8); {
		case w.Err() != nil:
			return creation.Transaction{}, fmt.Errorf("state of the external call: %w", w.Err())
		case status == executed:
			return creation.Transaction{}, creation.ErrCallExecuted
		case status == registered:
			waiting := creation.RegisteredCall{Order: id, Terms: t, Amount: amounts[i]}
			tx := creation.Transaction{Sender: t.Authorities.Order, To: adapter, Data: waiting.CancelData()}
			return tx, s.succeeds(ctx, tx)
		}
	}
	return creation.Transaction{}, creation.ErrCallNotOpen
}

// succeeds simulates a transaction that pays with the coin only; its sender is given whatever they lack of it, or must
// have the value where nodes take no overrides.
func (s *Simulator) succeeds(ctx context.Context, t creation.Transaction) error {
	coin := chain.NativeCoin(chain.EVM)
	made := quote.Simulation{Sender: t.Sender, In: coin, AmountIn: t.Value, Tx: quote.Tx{To: t.To, Data: t.Data, Value: t.Value}}
	return s.prepared(ctx, made, func(set overrides, now surroundings) error {
		var answer evm.Payload
		calls := set.transaction(made, now)
		call := set.call(&answer, "eth_call", calls[len(calls)-1], "latest")
		switch isBare := s.isBare(); {
		case isBare && !now.suffice(made):
			return now.withoutOverrides()
		case isBare:
			call = overrides{}.call(&answer, "eth_call", messageOf(t.Sender, made.Tx), "latest")
		}
		if err := s.chain.Client().Insist(ctx, call); err != nil {
			return fmt.Errorf("try: %w", reverted(err))
		}
		return nil
	})
}
