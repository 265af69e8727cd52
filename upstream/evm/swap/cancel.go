package swap

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/upstream/evm"
)

// Cancel is the transaction by which an order's authority cancels it on this chain, its take chain. Its value is the
// message fee of the gate and no more, since the rest would come out as a token. It was simulated. Errors: those of
// cancels in package creation, and quote.ErrReverted.
func (s *Simulator) Cancel(ctx context.Context, id order.ID, t order.Terms) (creation.Transaction, error) {
	contracts := s.chain.Facts().Contracts
	data, err := creation.CancelData(t)
	if err != nil {
		return creation.Transaction{}, err
	}
	answers, err := s.chain.CallAll(ctx, []chain.Address{contracts.DlnDestination, contracts.Gate},
		[][]byte{onchain.TakeOrderCall(id), words.Call("globalFixedNativeFee()")})
	if err != nil {
		return creation.Transaction{}, fmt.Errorf("state of the order: %w", err)
	}
	stored, err := onchain.DecodeTakeOrder(answers[0])
	switch {
	case err != nil:
		return creation.Transaction{}, err
	case stored.State == order.StateSentOrderCancel:
		return creation.Transaction{}, creation.ErrCancelled
	case stored.State != order.None:
		return creation.Transaction{}, creation.ErrFulfilled
	}
	fee := words.New(answers[1])
	tx := creation.Transaction{Sender: t.Authorities.Order, To: contracts.DlnDestination, Value: fee.Amount(0), Data: data}
	if fee.Err() != nil {
		return creation.Transaction{}, fmt.Errorf("message fee of the gate: %w", fee.Err())
	}
	return tx, s.succeeds(ctx, tx)
}

// CancelCall is the transaction by which an order's authority takes what waits for the execution of its external call,
// for the first of some amounts with which one does. It was simulated. Errors: creation's of calls, quote.ErrReverted.
func (s *Simulator) CancelCall(ctx context.Context, id order.ID, t order.Terms, amounts ...chain.Amount) (creation.Transaction, error) {
	const registered, executed = 1, 2
	adapter := s.chain.Facts().Contracts.ExternalCallAdapter
	if !t.HasExternalCall() {
		return creation.Transaction{}, creation.ErrNoCall
	}
	var to []chain.Address
	var asked [][]byte
	for _, amount := range amounts {
		to, asked = append(to, adapter), append(asked, creation.RegisteredCall{Order: id, Terms: t, Amount: amount}.Status())
	}
	answers, err := s.chain.CallAll(ctx, to, asked)
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

// succeeds makes a transaction that pays with the coin alone; its sender is given what he lacks of that.
func (s *Simulator) succeeds(ctx context.Context, t creation.Transaction) error {
	coin := chain.NativeCoin(chain.EVM)
	made := quote.Simulation{Sender: t.Sender, In: coin, AmountIn: t.Value, Tx: quote.Tx{To: t.To, Data: t.Data, Value: t.Value}}
	return s.prepared(ctx, made, func(set overrides, now surroundings) error {
		var answer evm.Payload
		calls := set.transaction(made, now)
		call := set.call(&answer, "eth_call", calls[len(calls)-1], "latest")
		if err := s.chain.Client().Batch(ctx, call); err != nil {
			return err
		}
		if call.Err != nil {
			return fmt.Errorf("try: %w", reverted(call.Err))
		}
		return nil
	})
}
