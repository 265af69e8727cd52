package order

// State is how far an order has come, judged by the furthest event seen (docs.debridge.com, dln-details, order states).
type State uint8

// Two paths leave Created: Fulfilled → SentUnlock → ClaimedUnlock pays the taker, OrderCancelled →
// SentOrderCancel → ClaimedOrderCancel refunds the maker.
const (
	None State = iota
	StateCreated
	StateFulfilled
	StateSentUnlock
	StateOrderCancelled
	StateSentOrderCancel
	StateClaimedUnlock
	StateClaimedOrderCancel
)

var stateNames = [...]string{
	"None", "Created", "Fulfilled", "SentUnlock", "OrderCancelled", "SentOrderCancel", "ClaimedUnlock", "ClaimedOrderCancel",
}

// String returns the state's documented name.
func (s State) String() string { return stateNames[s] }

// IsFinal reports whether no further event can follow.
func (s State) IsFinal() bool { return s == StateClaimedUnlock || s == StateClaimedOrderCancel }

// isCancelled reports whether the order is on the path back to its maker.
func (s State) isCancelled() bool {
	return s == StateOrderCancelled || s == StateSentOrderCancel || s == StateClaimedOrderCancel
}

// IsLocked reports whether the taker has delivered but has not yet been paid.
func (s State) IsLocked() bool { return s == StateFulfilled || s == StateSentUnlock }

// ExternalCallState is how far the order's call on the take chain has come. The names are documented, the rules are our
// own: docs/decisions/0004-readings.md.
type ExternalCallState uint8

// States of an external call.
const (
	NoExtCall ExternalCallState = iota
	AwaitingOrderFulfillment
	AwaitingExecution
	Executing
	Completed
	Failed
	CancelledCall
	OrderCancelled
)

var callNames = [...]string{
	"NoExtCall", "AwaitingOrderFulfillment", "AwaitingExecution", "Executing", "Completed", "Failed", "Cancelled", "OrderCancelled",
}

// String returns the state's documented name.
func (s ExternalCallState) String() string { return callNames[s] }

// IsFinal reports whether nothing more will happen to the call: there is none, or it has ended.
func (s ExternalCallState) IsFinal() bool {
	return s != AwaitingOrderFulfillment && !s.IsUnderWay()
}

// IsUnderWay reports whether the order was delivered but its call has not ended.
func (s ExternalCallState) IsUnderWay() bool { return s == AwaitingExecution || s == Executing }
