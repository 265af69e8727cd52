package order

import "crossgate/chain"

// LogEntry is a line of the log of orders: an event came, became final, or was withdrawn. Applied in the sequence of
// their positions, entries lead from no orders to those of the index.
type LogEntry struct {
	Position uint64 `json:"-"` // in the log: greater than that of any entry before; UNIX microseconds, about
	Order    ID     `json:"-"`

	Step    Step
	IsFinal bool `json:",omitzero"` // Happened: no reorg takes it back, no Final follows; Retracted: a correction did
	Kind    string
	At      At // of the event

	Before, After State
	Parties               // after the step; zero while no event with the order's terms is known
	Was           Parties `json:",omitzero"` // before it, of a Retracted
}

// Parties are the sides of an order, with amounts after patches, and everybody who has a part in it.
type Parties struct {
	Give, Take                 Offer         `json:",omitzero"`
	Maker, Receiver            chain.Address `json:",omitzero"`
	ReferralCode               *uint32       `json:",omitempty"` // nil while the creation is not known
	Fulfiller, UnlockAuthority chain.Address `json:",omitzero"`  // absent before the fulfilment
}

// Step is what became of an event.
type Step uint8

// Every event happens; it becomes final or is retracted. Only an operator retracts a final one.
const (
	Happened Step = iota + 1
	Final
	Retracted
)

var stepNames = [...]string{"", "happened", "final", "retracted"}

func (s Step) String() string { return stepNames[s] }

// KindOf names a fact as the contracts name the event.
func KindOf(fact Fact) string {
	switch fact := fact.(type) {
	case Created:
		return "Created"
	case GiveIncreased, TakeDecreased:
		return "Patched"
	case Fulfilled:
		return "Fulfilled"
	case Sent:
		if fact.Kind == Cancel {
			return "SentCancel"
		}
		return "SentUnlock"
	case Claimed:
		if fact.Kind == Cancel {
			return "ClaimedCancel"
		}
		return "ClaimedUnlock"
	case Cancelled:
		return "Cancelled"
	}
	return "ExternalCall"
}

// EntryOf is the entry of a step of an event, by which an order went from one form to another; nil: its terms are not
// known.
func EntryOf(step Step, e Event, from, to *Order) LogEntry {
	entry := LogEntry{Order: e.Order, Step: step, Kind: KindOf(e.Fact), At: e.At, Before: from.state(), After: to.state(), Parties: to.parties()}
	if step == Retracted {
		entry.Was = from.parties()
	}
	return entry
}

func (o *Order) state() State {
	if o == nil {
		return None
	}
	return o.State
}

func (o *Order) parties() (p Parties) {
	if o == nil {
		return p
	}
	p = Parties{Give: o.Terms.Give, Take: o.Terms.Take, Maker: o.Terms.Maker, Receiver: o.Terms.Receiver}
	p.Give.Amount, p.Take.Amount = o.GiveFinal, o.TakeFinal
	if o.Created != nil {
		p.ReferralCode = &o.Created.Fact.ReferralCode
	}
	if o.Fulfilled != nil {
		p.Fulfiller, p.UnlockAuthority = o.Fulfilled.Fact.Taker, o.Fulfilled.Fact.UnlockAuthority
	}
	return p
}
