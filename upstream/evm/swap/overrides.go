package swap

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// override is the state of an account during a call (execution-apis, eth_simulateV1).
type override struct {
	Balance *evm.Amount               `json:"balance,omitempty"`
	Code    evm.Payload               `json:"code,omitempty"`
	State   map[chain.Hash]chain.Hash `json:"stateDiff,omitempty"` // words of storage by their slots
}

// overrides is the state in which a transaction is simulated.
type overrides struct {
	accounts map[chain.Address]override
	// approve says that the allowance cannot be overridden: the sender approves before the transaction.
	approve bool
	// unsure says what the sender may lack; a revert is then not certain to be the transaction's fault.
	unsure error
}

// explain keeps a revert a revert only if the sender certainly had everything that the transaction takes.
func (s overrides) explain(err error) error {
	if s.unsure != nil && errors.Is(err, quote.ErrReverted) {
		return fmt.Errorf("%w, and %v", s.unsure, err)
	}
	return err
}

// overrides returns a state that gives the sender whatever the transaction takes and they lack; sufficient holdings
// stay unchanged. So do those of a token whose storage layout cannot be found.
func (s *Simulator) overrides(ctx context.Context, t quote.Simulation, now surroundings) (overrides, error) {
	set := overrides{accounts: map[chain.Address]override{}}
	if needed := t.Tx.Value.Add(now.gasMoney()); now.coins.Cmp(needed) < 0 {
		set.accounts[t.Sender] = override{Balance: &evm.Amount{Amount: needed}}
	}
	if t.In.IsNative() || now.tokens.Cmp(t.AmountIn) >= 0 && now.allowed.Cmp(t.AmountIn) >= 0 {
		return set, nil
	}
	var found layout
	if !s.isBare() {
		var err error
		if found, err = s.layout(ctx, t.In); err != nil {
			return overrides{}, err
		}
	}
	state := map[chain.Hash]chain.Hash{}
	switch {
	case now.tokens.Cmp(t.AmountIn) >= 0:
	case found.balances != nil:
		state[found.balances.slot(t.Sender)] = t.AmountIn.Bytes32()
	default:
		set.unsure = fmt.Errorf("%w: the storage layout of balances of token %s is unknown", quote.ErrNotSimulated, t.In)
	}
	switch {
	case now.allowed.Cmp(t.AmountIn) >= 0 || t.IsPermitted:
	case found.allowances != nil:
		state[found.allowances.slot(t.Sender, t.Spender)] = t.AmountIn.Bytes32()
	default:
		set.approve = true
	}
	if len(state) > 0 {
		set.accounts[t.In] = override{State: state}
	}
	return set, nil
}

// Approvals returns the sender's transactions after which a spender may take an amount of a token: none if it already
// may. A token that refuses to change an allowance, as USDT on Ethereum, has it set to zero first.
func (s *Simulator) Approvals(ctx context.Context, sender, token, spender chain.Address, amount chain.Amount) (all []quote.Tx, err error) {
	approval := func(a chain.Amount) quote.Tx { return quote.Tx{To: token, Data: approve.Call(spender, a)} }
	var allowed, answer evm.Payload
	reading := jsonrpc.NewCall(&allowed, nil, "eth_call", messageOf(sender, quote.Tx{To: token, Data: allowance.Call(sender, spender)}), "latest")
	reading.Doubt = func(result any) bool { return wordAmount(*result.(*evm.Payload)).Cmp(amount) >= 0 }
	jsonrpc.Prefer(reading, cheaper)
	trying := jsonrpc.NewCall(&answer, nil, "eth_call", messageOf(sender, approval(amount)), "latest")
	s.chain.Client().Each(ctx, reading, trying)
	s.chain.Client().Again(ctx, reading)
	switch has := wordAmount(allowed); {
	case reading.Err != nil:
		return nil, fmt.Errorf("allowance of the sender: %w", reverted(reading.Err))
	case has.Cmp(amount) >= 0:
		return nil, nil
	case !has.IsZero() && errors.Is(reverted(trying.Err), quote.ErrReverted):
		all = append(all, approval(chain.Amount{}))
	}
	return append(all, approval(amount)), nil
}

// estimate returns a call for the gas of a transaction on the newest block, which java-tron does not let a caller name.
func (s overrides) estimate(out *evm.Quantity, t quote.Simulation) *jsonrpc.Call {
	asked := s.call(out, "eth_estimateGas", messageOf(t.Sender, t.Tx), "latest")
	if len(s.accounts) == 0 {
		asked.Params = asked.Params[:1]
	}
	return asked
}

// call returns a call on a block in this state; without overrides any node accepts it.
func (s overrides) call(out any, method string, message any, block string) *jsonrpc.Call {
	asked := &jsonrpc.Call{Method: method, Params: []any{message, block}, Out: out}
	if len(s.accounts) > 0 {
		asked.Params, asked.Reach.Fields = append(asked.Params, s.accounts), []string{jsonrpc.Overrides}
	}
	return asked
}
