package crosschain

import (
	"context"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
)

// Writer writes Solana transactions that have an order as one of their instructions.
type Writer interface {
	// Create returns a transaction that creates the order with an ID, after the swap in before, a venue's transaction,
	// if that is not empty. solana.ErrTooLong: it does not fit.
	Create(ctx context.Context, o creation.OnSolana, id order.ID, before []byte, p quote.Priority) ([]byte, error)
}

// onSolana writes the order as an instruction, after the swap of a venue that pays enough for it if one is needed.
func (j *journey) onSolana(ctx context.Context, e *Estimate, c creation.Creation, promise creation.Promise, m *Made) (err error) {
	o := creation.OnSolana{
		SolanaCreation: onchain.SolanaCreation{
			GiveAmount: c.GiveAmount, Take: c.Take, Receiver: c.Receiver, ExternalCall: c.ExternalCall, Authorities: c.Authorities,
			Affiliate: promise.Created.Affiliate, ReferralCode: c.ReferralCode, Nonce: c.Salt, Metadata: c.Metadata,
		},
		Maker: j.request.Making.Sender, GiveToken: c.GiveToken,
	}
	if e.SwapsBefore() {
		if m.Venue, err = j.swapOnSolana(ctx, e); err != nil {
			return err
		}
		m.Tx = m.Venue.Tx
	}
	m.Tx.Data, err = j.Chains[j.give.ID].Writer.Create(ctx, o, promise.ID, m.Tx.Data, j.request.Priority)
	switch isLong := errors.Is(err, solana.ErrTooLong); {
	case isLong && e.SwapsBefore():
		return legError("source", fmt.Errorf("%w to swap in another transaction: %w", quote.ErrNoRouter, err), nil)
	case isLong && len(o.ExternalCall) > 0:
		return fmt.Errorf("%w: %w", ErrLongCall, err)
	case err != nil:
		return err
	}
	gas, err := j.check(ctx, promise, m.Tx)
	if err != nil {
		return err
	}
	limit := quote.WithMargin(gas)
	if m.Tx.Data, err = solana.LowerUnitLimit(m.Tx.Data, limit); err != nil {
		return err
	}
	written, err := solana.ParseUnsigned(m.Tx.Data)
	if err != nil {
		return err
	}
	signature, err := j.Chains[j.give.ID].Fees.DataFee(ctx, m.Tx, limit)
	if err != nil {
		return err
	}
	bid := chain.NewAmount(written.Budget().Price)
	m.Fee = &quote.Fee{GasLimit: limit, Price: quote.GasPrice{Bid: bid}, Beside: signature, Priority: solana.PriorityFee(limit, bid)}
	m.Fee.Total = m.Fee.Beside.Add(m.Fee.Priority)
	m.Fee.USD = quote.USD(j.usd()[coinOf(j.give)], m.Fee.Total, j.give.Coin.Decimals)
	return nil
}

// swapOnSolana returns a guarded swap to the sender that enforces the amount that the order gives. A quarter of the
// slippage is left for prices that have fallen since the comparison.
func (j *journey) swapOnSolana(ctx context.Context, e *Estimate) (*quote.Estimate, error) {
	const percent = -2 // exponent of a basis point
	slippage, sender := decimal.New(int64(e.Before.SlippageBps*3/4), percent), j.request.Making.Sender
	made, err := j.Swaps.Estimate(ctx, quote.Request{
		Chain: j.give.ID, TokenIn: e.TokenIn, TokenOut: e.Route.Give.Address, AmountIn: e.Course.In, SlippagePercent: &slippage,
		Sender: sender, Recipient: sender, Priority: j.request.Priority, Since: j.request.Since,
	})
	switch {
	case err != nil:
		return nil, legError("source", err, quote.ErrUnsupportedTokenOut)
	case made.MinOut.Cmp(e.Gross) < 0:
		return nil, fmt.Errorf("%w: the swap before enforces %s, less than the %s that the order gives", quote.ErrNoTransaction, made.MinOut, e.Gross)
	}
	return &made, nil
}
