package order

import "crossgate/chain"

// LogEntry is a line of the order log: an event happened, became final or was retracted. Applied in order of their
// positions, the entries turn an empty index into the current one.
type LogEntry struct {
	Position uint64 `json:"-"` // in the log: greater than that of any earlier entry; roughly UNIX microseconds
	Order    ID     `json:"-"`

	Step    Step
	IsFinal bool `json:",omitzero"` // Happened: no reorg can undo it, no Final follows; Retracted: by a correction
	Kind    string
	At      At // of the event

	Before, After State
	Parties               // after the step; zero if no event with the order's terms is known
	Was           Parties `json:",omitzero"` // before the step; only set if Retracted
}

// Parties holds both sides of an order, with amounts after patches, and everyone involved in it.
type Parties struct {
	Give, Take                 Offer         `json:",omitzero"`
	Maker, Receiver            chain.Address `json:",omitzero"`
	ReferralCode               *uint32       `json:",omitempty"` // nil if the creation is not known
	Fulfiller, UnlockAuthority chain.Address `json:",omitzero"`  // absent before the fulfilment
}

// Step says what happened to an event.
type Step uint8

// Every event happens first; then it becomes final or is retracted. Only an operator retracts a final one.
const (
	Happened Step = iota + 1
	Final
	Retracted
)

var stepNames = [...]string{"", "happened", "final", "retracted"}

func (s Step) String() string { return stepNames[s] }

// KindOf returns the name that the contracts give to the event of a fact.
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

// EntryOf returns the log entry for a step of an event that changed an order from one version to another. Either
// version is nil if its terms are not known.
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
