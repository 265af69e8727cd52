package order

import (
	"cmp"
	"slices"

	"crossgate/chain"
)

// LockedChain holds a taker's locked assets on one give chain.
type LockedChain struct {
	Chain  chain.ID
	Tokens []LockedToken
}

// LockedToken is one give token of a LockedChain.
type LockedToken struct {
	Token   chain.Address
	Amount  chain.Amount // sum over Targets
	Targets []LockedTarget
}

// LockedTarget is the part of a LockedToken that the taker earned by delivering on one take chain.
type LockedTarget struct {
	Chain  chain.ID
	Amount chain.Amount
	Orders []ID // ascending
}

// Lock is the payment for an order that a taker has delivered but was not yet paid for.
type Lock struct {
	Order     ID
	Give      Offer // the expected payment
	TakeChain chain.ID
}

// Lock returns what the order keeps locked for its taker. An order that was fulfilled but never created locks nothing.
func (o *Order) Lock() (l Lock, locked bool) {
	if !o.State.IsLocked() || o.Created == nil {
		return Lock{}, false
	}
	give := o.Terms.Give
	give.Amount = o.GiveFinal
	return Lock{Order: o.ID, Give: give, TakeChain: o.Terms.Take.Chain}, true
}

// Locked groups locks by give chain, token and take chain, each level ascending.
func Locked(locks []Lock) []LockedChain {
	locks = slices.Clone(locks)
	slices.SortFunc(locks, func(a, b Lock) int {
		return cmp.Or(
			cmp.Compare(a.Give.Chain, b.Give.Chain),
			a.Give.Token.Compare(b.Give.Token),
			cmp.Compare(a.TakeChain, b.TakeChain),
			a.Order.Compare(b.Order),
		)
	})
	var chains []LockedChain
	for _, l := range locks {
		c := last(&chains, func(c *LockedChain) bool { return c.Chain == l.Give.Chain }, LockedChain{Chain: l.Give.Chain})
		t := last(&c.Tokens, func(t *LockedToken) bool { return t.Token == l.Give.Token }, LockedToken{Token: l.Give.Token})
		d := last(&t.Targets, func(d *LockedTarget) bool { return d.Chain == l.TakeChain }, LockedTarget{Chain: l.TakeChain})
		t.Amount = t.Amount.Add(l.Give.Amount)
		d.Amount = d.Amount.Add(l.Give.Amount)
		d.Orders = append(d.Orders, l.Order)
	}
	return chains
}

// last returns the last element of list if it is the wanted one; otherwise it appends fresh and returns that.
func last[T any](list *[]T, wanted func(*T) bool, fresh T) *T {
	if n := len(*list); n > 0 && wanted(&(*list)[n-1]) {
		return &(*list)[n-1]
	}
	*list = append(*list, fresh)
	return &(*list)[len(*list)-1]
}

// MostUnlocked returns how many orders of a give chain one message may unlock here. The contracts' own limits can
// change (so far 10 and 50, and 7 for Solana).
func MostUnlocked(give chain.ID) int {
	if give == chain.Solana {
		return 7
	}
	return 10
}
