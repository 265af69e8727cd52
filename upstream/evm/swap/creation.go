package swap

import (
	"context"
	"encoding/json"
	"errors"
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

// Creation simulates a transaction that creates an order, with overrides that give the sender whatever they lack, and
// checks that it creates the promised order and no other. It returns the gas that the transaction needs. Errors:
// quote.ErrReverted, a certain failure; creation.ErrBroken, another order; quote.ErrRefused, part of the input stays in
// the router; quote.ErrNotSimulated, which says nothing about the transaction. Nodes without eth_simulateV1 report no
// events: there the order must have the promised id, which is derived from its terms.
func (s *Simulator) Creation(ctx context.Context, t creation.Transaction, promised creation.Promise) (gas uint64, err error) {
	token, amount, isPermitted, err := creation.Payment(t.Data)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", creation.ErrBroken, err)
	}
	made := quote.Simulation{
		Sender: t.Sender, In: token, AmountIn: amount, Spender: t.To, Out: token, Recipient: t.To, // to measure its gain
		Tx: quote.Tx{To: t.To, Data: t.Data, Value: t.Value}, IsPermitted: isPermitted,
	}
	err = s.prepared(ctx, made, func(set overrides, now surroundings) (err error) {
		if s.simulates() {
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

// create simulates the transaction in each of the next blocks, and reads its events.
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

// leavesNothing rejects a failure, and part of the input left with a router, where any caller can take it.
func (s *Simulator) leavesNothing(results []simulatedResult, balances int, t quote.Simulation, now surroundings) error {
	found, err := finding(results, balances, t, now, 0)
	if err == nil && t.Tx.To != s.chain.Facts().Contracts.DlnSource && !found.Received.IsZero() {
		err = fmt.Errorf("%w: it leaves %s of the input in the public router", quote.ErrRefused, found.Received)
	}
	return err
}

// created returns the creations among the events of a call.
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

// createPlain simulates the transaction by eth_call: with a contract in place of the sender's account, which reads the
// order afterwards; without overrides if no endpoint accepts them.
func (s *Simulator) createPlain(
	ctx context.Context, t quote.Simulation, promised creation.Promise, set overrides, now surroundings,
) (gas uint64, err error) {
	if !s.isBare() {
		return s.createInWallet(ctx, t, promised, set, now)
	}
	made := creation.Transaction{Sender: t.Sender, To: t.Tx.To, Value: t.Tx.Value, Data: t.Tx.Data}
	switch {
	case made.To != s.chain.Facts().Contracts.DlnSource:
		return 0, fmt.Errorf("%w: no endpoint takes overrides of states", quote.ErrNotSimulated)
	case !now.suffice(t):
		return 0, now.withoutOverrides()
	case !t.In.IsNative() && !t.IsPermitted && now.allowed.Cmp(t.AmountIn) < 0:
		return s.BeforeApproval(ctx, made, promised)
	}
	return s.Returns(ctx, made, promised.ID)
}

func (s *Simulator) createInWallet(
	ctx context.Context, t quote.Simulation, promised creation.Promise, set overrides, now surroundings,
) (gas uint64, err error) {
	var answer evm.Payload
	var estimate evm.Quantity
	calls, balances := set.calls(t, now)
	calls = append(calls, evm.Message{To: s.chain.Facts().Contracts.DlnSource, Data: onchain.GiveOrderCall(promised.ID)})
	const created = 1
	fault := func(answer evm.Payload) error {
		w, last := words.New(answer), len(calls)-1
		if w.Amount(last) != chain.NewAmount(created) {
			return fmt.Errorf("%w: DlnSource has not got order %s after it", creation.ErrBroken, promised.ID)
		}
		return s.leavesNothing(walletResults(answer)[:last], balances, t, now)
	}
	asked := []*jsonrpc.Call{set.inWallet(&answer, t, now, calls, "latest")}
	asked[0].Doubt = func(result any) bool { return fault(*result.(*evm.Payload)) != nil }
	if !set.approve {
		asked = append(asked, set.estimate(&estimate, t))
	}
	s.chain.Client().Each(ctx, asked...)
	s.chain.Client().Again(ctx, asked...)
	if asked[0].Err != nil {
		return 0, fmt.Errorf("try: %w", reverted(asked[0].Err))
	}
	return uint64(estimate), fault(answer)
}

// Returns simulates a transaction without overrides, and checks the id that DlnSource returns, which is derived from
// the order's terms.
func (s *Simulator) Returns(ctx context.Context, t creation.Transaction, want chain.Hash) (gas uint64, err error) {
	var needed evm.Quantity
	var id evm.Payload
	message := messageOf(t.Sender, quote.Tx{To: t.To, Data: t.Data, Value: t.Value})
	estimate := jsonrpc.NewCall(&needed, nil, "eth_estimateGas", message)
	made := jsonrpc.NewCall(&id, nil, "eth_call", message, "latest")
	made.Doubt = func(result any) bool { return string(*result.(*evm.Payload)) != string(want[:]) }
	if err := s.chain.Client().Insist(ctx, estimate, made); err != nil {
		return 0, fmt.Errorf("try the creation: %w", reverted(err))
	}
	if string(id) != string(want[:]) {
		return 0, fmt.Errorf("%w: DlnSource returns %x in place of %s", creation.ErrBroken, id, want)
	}
	return uint64(needed), nil
}

// pullGas is how much more gas moving an amount takes than moving none: three words of the token's storage change.
const pullGas = 15_000

// BeforeApproval checks a creation whose input is not approved, if states cannot be overridden: the known rules must
// have no other objection, and DlnSource must create the same order when nothing is given. It then returns the gas
// together with creation.ErrUnapproved.
func (s *Simulator) BeforeApproval(ctx context.Context, t creation.Transaction, promised creation.Promise) (gas uint64, err error) {
	all, err := s.Forecast(ctx, t)
	if err != nil {
		return 0, err
	}
	data, id, err := all[0].OfNothing(promised)
	if errors.Is(err, creation.ErrUnforeseen) {
		err = fmt.Errorf("%w: %w", quote.ErrNotSimulated, err)
	}
	if err != nil {
		return 0, err
	}
	t.Data = data
	if gas, err = s.Returns(ctx, t, id); err != nil {
		return 0, err
	}
	return gas + pullGas, fmt.Errorf("%w: %w: %s, and no endpoint takes overrides of states", quote.ErrNotSimulated, creation.ErrUnapproved, all[0].Refusal.Why)
}
