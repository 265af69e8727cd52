package tron

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream/evm"
)

// Simulator tries transactions as they stand: java-tron changes no state for a call, so only a sender who has what
// the transaction takes, and allowed it, can have it tried. Safe for concurrent use.
type Simulator struct {
	chain  *Chain
	shared *evm.Simulator
}

var _ quote.Simulator = (*Simulator)(nil)

// NewSimulator returns a simulator on the newest block of c.
func NewSimulator(c *Chain) *Simulator { return &Simulator{c, evm.NewSimulator(c.shared)} }

// Balance implements quote.Simulator.
func (s *Simulator) Balance(ctx context.Context, token, holder chain.Address) (chain.Amount, error) {
	return s.shared.Balance(ctx, token, holder)
}

// Simulate implements quote.Simulator: it tells whether the transaction goes through and how much energy that
// takes, and measures no amounts.
func (s *Simulator) Simulate(ctx context.Context, t quote.Simulation) (quote.Result, error) {
	if err := s.affordable(ctx, t); err != nil {
		return quote.Result{}, err
	}
	energy, err := s.chain.EstimateGas(ctx, t.Sender, t.Tx)
	return quote.Result{Gas: energy}, err
}

// affordable tells why a failure would be the sender's and not the transaction's.
func (s *Simulator) affordable(ctx context.Context, t quote.Simulation) error {
	balance, err := s.Balance(ctx, t.In, t.Sender)
	if err != nil {
		return fmt.Errorf("balance of the sender: %w", err)
	}
	if balance.Cmp(t.AmountIn) < 0 {
		return fmt.Errorf("%w: the sender has %s of the %s that it takes, and TRON's nodes suppose nothing", quote.ErrNotSimulated, balance, t.AmountIn)
	}
	if t.In.IsNative() {
		return nil
	}
	allowed, err := s.allowance(ctx, t)
	if err != nil {
		return err
	}
	if allowed.Cmp(t.AmountIn) < 0 {
		return fmt.Errorf("%w: the sender allows %s of the %s that it takes, and TRON's nodes suppose nothing", quote.ErrNotSimulated, allowed, t.AmountIn)
	}
	return nil
}

// allowance is how much of the input the sender lets the spender take.
func (s *Simulator) allowance(ctx context.Context, t quote.Simulation) (chain.Amount, error) {
	data := []byte{0xdd, 0x62, 0xed, 0x3e} // allowance(address,address)
	for _, account := range []chain.Address{t.Sender, t.Spender} {
		data = append(append(data, make([]byte, 12)...), account.Bytes()...)
	}
	answer, err := s.chain.shared.Call(ctx, t.In, data)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("allowance of the sender: %w", err)
	}
	if len(answer) != 32 {
		return chain.Amount{}, fmt.Errorf("token %s does not tell allowances", t.In.Format(chain.TVM))
	}
	return chain.AmountFromBytes(answer), nil
}
