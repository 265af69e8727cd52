package swap

import (
	"context"
	"encoding/json"
	"errors"

	"crossgate/chain"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// Forecast returns what a transaction made now would create, in log order: by its calldata and the chain's state, which
// is read in two round trips, and by a simulation of the whole transaction, as far as nodes offer one. Whatever cannot
// be read stays unknown. A transaction that creates nothing, without the chain giving a reason, is
// creation.ErrOtherFunction.
func (s *Simulator) Forecast(ctx context.Context, t creation.Transaction) ([]creation.Forecast, error) {
	state := creation.State{Chain: s.chain.Facts().ID, Contracts: s.chain.Facts().Contracts}
	_, err := creation.Judge(t, state)
	isOurs := err == nil
	if isOurs { // then contracts are asked what they say of themselves
		views := creation.Views(t, state)
		calls := make([]chain.ContractCall, len(views))
		for i, v := range views {
			calls[i] = chain.ContractCall{To: v.To, Data: v.Data}
		}
		answers, err := s.chain.CallAll(ctx, calls)
		for i := range answers {
			if err == nil {
				views[i].Read(&state, answers[i])
			}
		}
	}
	created, err := s.probe(ctx, t, &state, isOurs)
	if err != nil {
		return nil, err
	}
	var all []creation.Forecast
	if f, foreign := creation.Judge(t, state); foreign == nil {
		all = creation.Reconciled(t, []creation.Forecast{f}, created)
	} else {
		all, err = observed(t, state, created)
	}
	for i := range all {
		all[i].Warnings = append(all[i].Warnings, creation.OfSender(state.Code)...)
	}
	return all, err
}

// observed returns the orders that a transaction creates according to the chain, or its refusal.
func observed(t creation.Transaction, state creation.State, created []onchain.Found) ([]creation.Forecast, error) {
	said := state.Executed
	switch {
	case len(created) > 0:
		return creation.Reconciled(t, nil, created), nil
	case said == nil || !said.IsReverted:
		return nil, creation.ErrOtherFunction
	}
	refusal := creation.Refusal{By: t.To, Data: said.Data}
	refusal.Why = "the chain refuses it: " + refusal.Reason().String()
	return []creation.Forecast{{Maker: t.Sender, Refusal: &refusal}}, nil
}

// probe makes the transaction and, of one of ours, its parts, each by itself: nothing of it is left on the chain. It
// returns the orders that the whole made, where the node reports events.
func (s *Simulator) probe(ctx context.Context, t creation.Transaction, state *creation.State, isOurs bool) (created []onchain.Found, err error) {
	var coins evm.Amount
	var code evm.Payload
	asked := []*jsonrpc.Call{coinsCall(&coins, t.Sender, jsonrpc.Greater), codeCall(&code, t.Sender)}
	first := len(asked) // of the probes
	var probes []creation.Probe
	if isOurs {
		probes = creation.Probes(t, *state)
		if f, err := creation.Judge(t, *state); err == nil {
			if status := f.Status(state.Contracts.DlnSource); status != nil {
				probes = append(probes, *status)
			}
		}
	}
	answers := make([]evm.Payload, len(probes)+1)
	for i, each := range probes {
		message := evm.Message{From: &each.From, To: each.To, Data: each.Data}
		asked = append(asked, jsonrpc.NewCall(&answers[i], nil, "eth_call", message, "latest"))
	}
	whole := messageOf(t.Sender, quote.Tx{To: t.To, Data: t.Data, Value: t.Value})
	asked = append(asked, jsonrpc.NewCall(&answers[len(probes)], nil, "eth_call", whole, "latest"))
	var run simulatedRun
	if !s.chain.Client().Lacks(simulateV1, "") {
		made, err := json.Marshal([]evm.Message{whole})
		if err != nil {
			return nil, err
		}
		asked = append(asked, simulation(&run, []simulatedBlock{{Calls: made}}, 1))
	}
	s.chain.Client().Each(ctx, asked...)
	s.chain.Client().Again(ctx, asked[first+len(probes):]...)
	if asked[0].Err == nil {
		state.Coins = &coins.Amount
	}
	for i, each := range probes {
		if result := resultOf(asked[first+i], answers[i]); result != nil {
			each.Heard(state, *result)
		}
	}
	state.Code = code
	state.Executed = resultOf(asked[first+len(probes)], answers[len(probes)])
	if !isOurs && state.Executed == nil && asked[0].Err != nil {
		return nil, asked[0].Err
	}
	if len(run) == 0 || run[0].Calls[0].Status != 1 {
		return nil, nil
	}
	return s.created(run[0].Calls[0])
}

// resultOf returns the outcome of a call; nil if the node returned none, or the sender could not pay for it.
func resultOf(call *jsonrpc.Call, answer evm.Payload) *creation.CallResult {
	if call.Err == nil {
		return &creation.CallResult{Data: answer}
	}
	var said *jsonrpc.Error
	if !errors.As(call.Err, &said) || !said.IsRevert() {
		return nil
	}
	return &creation.CallResult{IsReverted: true, Data: revertData(said)}
}
