package quote

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
)

// ErrNoPayee means that the affiliate has no account into which a share of the input could be paid.
var ErrNoPayee = errors.New("the affiliate cannot be paid")

// Payee is the account that receives a share of the input on Solana, by an instruction after the venue's.
type Payee struct {
	Account chain.Address
	Program chain.Address // token program of the input; absent: the coin is paid
	Wraps   bool          // the coin is added to the account's wrapped coin
}

type payment struct {
	Payee
	share Affiliate
}

// unitsOfPayment is the most compute units that a payment takes: those of a transfer of a token with extensions.
const unitsOfPayment = 30_000

// settlePayees looks up the accounts for the shares that the gateway pays because no venue does.
func (t *trade) settlePayees(ctx context.Context) error {
	if t.chain.Payee == nil {
		return nil
	}
	for i, share := range []Affiliate{t.swap.Affiliate, t.chain.Operator} {
		if !share.Percent.IsPositive() {
			continue
		}
		found, err := t.chain.Payee(ctx, t.swap.In.Address, share.Recipient)
		if errors.Is(err, ErrNoPayee) && i > 0 { // the operator's problem, not the client's
			err = fmt.Errorf("%w: operator's fee: %v", ErrNoTransaction, err)
		}
		if err != nil {
			return err
		}
		t.payments = append(t.payments, payment{found, share})
	}
	return nil
}

func (p payment) amount(in chain.Amount) chain.Amount { return Share(in, p.share.Percent) }

// direct is the swap as a venue sees it that is called directly: it pays the operator beside the affiliate. Where the
// gateway pays the shares, it is of the rest.
func (t *trade) direct() Swap {
	s := t.swap
	switch {
	case t.chain.Payee != nil:
	case s.Affiliate.Percent.IsPositive():
		s.Second = t.chain.Operator
		return s
	default:
		s.Affiliate = t.chain.Operator
		return s
	}
	for _, p := range t.payments {
		s.In.Amount = s.In.Amount.Sub(p.amount(t.swap.In.Amount))
	}
	s.Affiliate = Affiliate{}
	return s
}

// pay appends the payments to a venue's transaction after that was checked. Accounts that the venue takes from lookup
// tables are looked up: a message that also names one of them itself is invalid.
func (t *trade) pay(ctx context.Context, tx Tx) (Tx, error) {
	if len(t.payments) == 0 {
		return tx, nil
	}
	m, err := solana.ParseUnsigned(tx.Data)
	if err != nil {
		return tx, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	var written, read []chain.Address
	if m.LookedUp > 0 {
		if written, read, err = t.chain.LookUp(ctx, m); err != nil {
			return tx, fmt.Errorf("accounts for the shares: %w", err)
		}
	}
	d, err := m.Draft(append(written, read...))
	if err != nil {
		return tx, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	in := t.swap.In
	d.AddUnits(uint64(len(t.payments)) * unitsOfPayment)
	for _, p := range t.payments {
		amount, _ := p.amount(in.Amount).Uint64() // the input fits
		switch {
		case amount == 0:
		case p.Program.IsAbsent():
			d.Instructions = append(d.Instructions, solana.Transfer(t.swap.Sender, p.Account, amount))
			if p.Wraps {
				d.Instructions = append(d.Instructions, solana.SyncNative(p.Account))
			}
		default:
			from := solana.TokenAccount(t.swap.Sender, p.Program, in.Address)
			d.Instructions = append(d.Instructions,
				solana.TransferTokens(p.Program, in.Address, from, p.Account, t.swap.Sender, amount, in.Token.Decimals))
		}
	}
	if tx.Data, err = d.Compile(); err != nil {
		return tx, fmt.Errorf("%w: with the shares of the input: %w", ErrRefused, err)
	}
	return tx, nil
}
