package creation

import (
	"bytes"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Transaction is a transaction that is meant to create an order.
type Transaction struct {
	Sender chain.Address // signs the transaction; the order's maker
	To     chain.Address // DlnSource, or the router
	Value  chain.Amount  // amount of the native coin
	Data   []byte
}

// Reasons why a simulation does not create the promised order.
var (
	ErrBroken     = errors.New("the transaction does not make the promised order")
	ErrUnapproved = errors.New("the input is not approved")
	ErrUnforeseen = errors.New("before the approval of the input the transaction cannot be judged")
)

// Promise is the order that, according to an answer, its transaction creates.
type Promise struct {
	ID      order.ID
	Created order.Created // without Preswap
}

// Check compares the promise with the creations of a simulation: there must be one order with the same ID, terms, fees,
// affiliate, referral code and metadata. Otherwise it returns ErrBroken with the difference.
func (p Promise) Check(created []onchain.Found) error {
	if len(created) != 1 {
		return fmt.Errorf("%w: it makes %d orders", ErrBroken, len(created))
	}
	made, is := created[0].Fact.(order.Created)
	if !is {
		return fmt.Errorf("%w: it reports a %T", ErrBroken, created[0].Fact)
	}
	for _, compared := range []struct {
		name      string
		got, want any
	}{
		{"give amount", made.Terms.Give.Amount, p.Created.Terms.Give.Amount},
		{"fixed fee", made.FixFee, p.Created.FixFee},
		{"percentage", made.PercentFee, p.Created.PercentFee},
		{"affiliate", shareOf(made), shareOf(p.Created)},
		{"authorities", made.Terms.Authorities, p.Created.Terms.Authorities},
		{"receiver", made.Terms.Receiver, p.Created.Terms.Receiver},
		{"take", made.Terms.Take, p.Created.Terms.Take},
		{"maker", made.Terms.Maker, p.Created.Terms.Maker},
		{"order id", created[0].Order, p.ID}, // covers the other terms
		{"referral code", made.ReferralCode, p.Created.ReferralCode},
	} {
		if compared.got != compared.want {
			return fmt.Errorf("%w: %s %v in place of %v", ErrBroken, compared.name, compared.got, compared.want)
		}
	}
	if !bytes.Equal(made.Metadata, p.Created.Metadata) {
		return fmt.Errorf("%w: metadata 0x%x in place of 0x%x", ErrBroken, made.Metadata, p.Created.Metadata)
	}
	return nil
}

// shareOf returns an affiliate's share by value; zero if its amount is zero, since the contract does not store it then.
func shareOf(c order.Created) order.Affiliate {
	if c.Affiliate == nil || c.Affiliate.Amount.IsZero() {
		return order.Affiliate{}
	}
	return *c.Affiliate
}
