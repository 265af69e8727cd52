package tron

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
)

// Simulator runs transactions without overrides of states, which java-tron lacks. Safe for concurrent use.
type Simulator struct {
	*swap.Simulator
	chain *evm.Chain
}

var _ quote.Simulator = (*Simulator)(nil)

// NewSimulator returns a simulator on the newest block of c.
func NewSimulator(c *evm.Chain) *Simulator { return &Simulator{swap.NewSimulator(c), c} }

// Simulate implements quote.Simulator: success and energy, and the outcome of swaps of the coin for a token.
func (s *Simulator) Simulate(ctx context.Context, t quote.Simulation) (quote.Result, error) {
	if err := s.affordable(ctx, t); err != nil {
		return quote.Result{}, err
	}
	energy, err := swap.NewFees(s.chain).EstimateGas(ctx, t.Sender, t.Tx)
	if err != nil {
		return quote.Result{}, err
	}
	found := quote.Result{Gas: energy}
	found.Received, found.Measured = s.CoinOutcome(ctx, t)
	return found, nil
}

// affordable returns an error if a failure would be the sender's fault and not the transaction's.
func (s *Simulator) affordable(ctx context.Context, t quote.Simulation) error {
	needs := []quote.Side{{Address: chain.NativeCoin(chain.TVM), Amount: t.Tx.Value}}
	if !t.In.IsNative() {
		needs = append(needs, quote.Side{Address: t.In, Amount: t.AmountIn})
	}
	for _, need := range needs {
		if need.Amount.IsZero() {
			continue
		}
		balance, err := s.Balance(ctx, need.Address, t.Sender)
		if err != nil {
			return fmt.Errorf("balance of the sender: %w", err)
		}
		if balance.Cmp(need.Amount) < 0 {
			return fmt.Errorf("%w: %w: %s of %s of %s, and TRON's nodes cannot override state",
				quote.ErrNotSimulated, quote.ErrSenderLacks, balance, need.Amount, need.Address.Format(chain.TVM))
		}
	}
	if t.In.IsNative() || t.IsPermitted {
		return nil
	}
	answer, err := s.chain.Call(ctx, t.In, words.Call("allowance(address,address)", t.Sender, t.Spender))
	if err == nil && len(answer) != words.Size {
		err = fmt.Errorf("token %s returned none", t.In.Format(chain.TVM))
	}
	if err != nil {
		return fmt.Errorf("allowance of the sender: %w", err)
	}
	if allowed := chain.AmountFromBytes(answer); allowed.Cmp(t.AmountIn) < 0 {
		return fmt.Errorf("%w: %w: the sender has approved %s of the %s that it takes, and TRON's nodes cannot override state", quote.ErrNotSimulated, creation.ErrUnapproved, allowed, t.AmountIn)
	}
	return nil
}
