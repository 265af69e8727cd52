package swap

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// Creation simulates a transaction that creates an order, with overrides that give the sender what they lack, and
// checks that it makes the promised order and no other. It returns the gas that the transaction needs. Errors:
// quote.ErrReverted, a certain failure; creation.ErrBroken, another order; quote.ErrRefused, a rest of the input stays
// in the router; quote.ErrNotSimulated, which says nothing about the transaction. Nodes without eth_simulateV1 show no
// events: there the order must have the promised id, which is made of its terms.
func (s *Simulator) Creation(ctx context.Context, t creation.Transaction, promised creation.Promise) (gas uint64, err error) {
	token, amount, isPermitted, err := creation.Payment(t.Data)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", creation.ErrBroken, err)
	}
	made := quote.Simulation{
		Sender: t.Sender, In: token, AmountIn: amount, Spender: t.To, Out: token, Recipient: t.To, // to see what it keeps
		Tx: quote.Tx{To: t.To, Data: t.Data, Value: t.Value}, IsPermitted: isPermitted,
	}
	err = s.prepared(ctx, made, func(set overrides, now surroundings) (err error) {
		if !s.chain.Client().Lacks(simulateV1, "") {
			gas, err = s.create(ctx, made, promised, set, now)
			if !isUnknownMethod(err) {
				return err
			}
		}
		gas, err = s.createPlain(ctx, made, promised, set, now)
		return err
	})
	return gas, err
}

// create makes the transaction in the next blocks, and reads the events of each.
func (s *Simulator) create(
	ctx context.Context, t quote.Simulation, promised creation.Promise, set overrides, now surroundings,
) (gas uint64, err error) {
	calls, balances := set.calls(t, now)
	made := len(calls) - balances - 1
	runs, estimate, err := s.inNextBlocks(ctx, t, calls, made, set, now)
	if err != nil {
		return 0, err
	}
	for _, results := range runs {
		if err := s.leavesNothing(results, balances, t, now); err != nil {
			return 0, err
		}
		created, err := s.created(results[made])
		if err == nil {
			err = promised.Check(created)
		}
		if err != nil {
			return 0, err
		}
		gas = max(gas, results[made].need(estimate))
	}
	return gas, nil
}

// leavesNothing refuses a failure, and a rest of the input with a router, where any caller can take it.
func (s *Simulator) leavesNothing(results []simulatedResult, balances int, t quote.Simulation, now surroundings) error {
	found, err := finding(results, balances, t, now, 0)
	if err == nil && t.Tx.To != s.chain.Facts().Contracts.DlnSource && !found.Received.IsZero() {
		err = fmt.Errorf("%w: it leaves %s of the input in the public router", quote.ErrRefused, found.Received)
	}
	return err
}

// created are the creations among the events of a call.
func (s *Simulator) created(result simulatedResult) ([]onchain.Found, error) {
	var told []simulatedLog
	if err := json.Unmarshal(result.Logs, &told); err != nil && len(result.Logs) > 0 {
		return nil, fmt.Errorf("%w: logs: %w", creation.ErrBroken, err)
	}
	logs := make([]onchain.Log, len(told))
	for i, l := range told {
		logs[i] = onchain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data, Index: uint(i)}
	}
	found, err := onchain.Decode(s.chain.Facts().Contracts, logs)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", creation.ErrBroken, err)
	}
	return slices.DeleteFunc(found, func(f onchain.Found) bool {
		_, is := f.Fact.(order.Created)
		return !is
	}), nil
}

// createPlain makes the transaction by eth_call, for which the sender's account is a contract that asks for the order
// afterwards. Without overrides only DlnSource itself returns the id.
func (s *Simulator) createPlain(
	ctx context.Context, t quote.Simulation, promised creation.Promise, set overrides, now surroundings,
) (gas uint64, err error) {
	source := s.chain.Facts().Contracts.DlnSource
	var answer evm.Payload
	var estimate evm.Quantity
	var asked []*jsonrpc.Call
	calls, balances := set.calls(t, now)
	isOverridden := !s.chain.Client().Lacks("eth_call", jsonrpc.Overrides)
	switch {
	case isOverridden:
		calls = append(calls, simulatedCall{To: source, Input: onchain.GiveOrderCall(promised.ID)})
		wallet, message := set.wallet(t, now, calls)
		asked = append(asked, wallet.call(&answer, "eth_call", message, "latest"))
	case len(set.accounts) > 0 || set.approve || t.Tx.To != source:
		return 0, fmt.Errorf("%w: no endpoint takes overrides of states", quote.ErrNotSimulated)
	default:
		asked = append(asked, set.call(&answer, "eth_call", calls[balances], "latest"))
	}
	if !set.approve {
		asked = append(asked, set.call(&estimate, "eth_estimateGas", messageOf(t.Sender, t.Tx), "latest"))
	}
	if err := s.chain.Client().Batch(ctx, asked...); err != nil {
		return 0, err
	}
	if asked[0].Err != nil {
		return 0, fmt.Errorf("try: %w", reverted(asked[0].Err))
	}
	want := chain.Hash(promised.ID)
	last := 0
	if isOverridden {
		const created = 1
		want, last = chain.NewAmount(created).Bytes32(), len(calls)-1
	}
	w := words.New(answer)
	if got := w.Hash(last); w.Err() != nil || got != want {
		return 0, fmt.Errorf("%w: DlnSource has not got order %s after it", creation.ErrBroken, promised.ID)
	}
	if isOverridden {
		return uint64(estimate), s.leavesNothing(walletResults(answer, len(calls))[:last], balances, t, now)
	}
	return uint64(estimate), nil
}
