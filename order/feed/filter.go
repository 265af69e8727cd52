package feed

import (
	"slices"

	"crossgate/chain"
	"crossgate/order"
)

// Filter selects the entries for a reader: those that match all fields. Absent and empty fields match everything. A
// retraction also matches if the retracted event did.
type Filter struct {
	Order                  order.ID
	Maker, Receiver        chain.Address
	Taker                  chain.Address // fulfiller or unlock authority
	GiveChains, TakeChains []chain.ID
	GiveToken, TakeToken   chain.Address
	ReferralCode           *uint32
	States                 []order.State // before or after the entry's step
	FinalOnly              bool          // only steps that no reorg can undo, each once
	Undone                 chain.TxHash  // only retractions of the orders that it created
}

// Matches reports whether the filter selects an entry.
func (f *Filter) Matches(e *order.LogEntry) bool {
	switch {
	case f.FinalOnly && e.Step != order.Final && !e.IsFinal,
		f.Order != (order.ID{}) && f.Order != e.Order,
		!f.Undone.IsAbsent() && (f.Undone != e.At.Tx || e.Step != order.Retracted || e.Kind != order.KindOf(order.Created{})),
		len(f.States) > 0 && !slices.Contains(f.States, e.After) && !slices.Contains(f.States, e.Before):
		return false
	}
	return f.concerns(&e.Parties) || e.Step == order.Retracted && f.concerns(&e.Was)
}

func (f *Filter) concerns(p *order.Parties) bool {
	is := func(wanted, has chain.Address) bool { return wanted.IsAbsent() || wanted == has }
	in := func(wanted []chain.ID, has chain.ID) bool { return len(wanted) == 0 || slices.Contains(wanted, has) }
	return is(f.Maker, p.Maker) && is(f.Receiver, p.Receiver) &&
		(is(f.Taker, p.Fulfiller) || is(f.Taker, p.UnlockAuthority)) &&
		in(f.GiveChains, p.Give.Chain) && in(f.TakeChains, p.Take.Chain) &&
		is(f.GiveToken, p.Give.Token) && is(f.TakeToken, p.Take.Token) &&
		(f.ReferralCode == nil || p.ReferralCode != nil && *p.ReferralCode == *f.ReferralCode)
}
