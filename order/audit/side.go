package audit

import (
	"crossgate/chain"
	"crossgate/order"
)

// side is the known part of one side of an order on the auditor's chain.
type side struct {
	id     order.ID
	side   order.Side
	stored []order.Event // events of this side, on this chain
	since  uint64        // UNIX seconds: no event is earlier; zero if the creation is not known
	take   chain.Amount  // before it was lowered; zero if the terms are not known
	state  order.StoredState
	calls  bool // the end of its external call is missing, which state does not reveal
}

// isOver reports whether nothing more can happen on this side.
func (s *side) isOver() bool {
	switch s.state.State {
	case order.StateClaimedUnlock, order.StateClaimedOrderCancel, order.StateSentUnlock, order.StateSentOrderCancel:
		return true
	}
	return false
}

// accountsFor reports whether events are exactly the steps to the state that the contract stores.
func (s *side) accountsFor(events []order.Event) bool {
	var steps [order.StateClaimedOrderCancel + 1]bool
	for _, e := range events {
		for _, step := range stepsOf(e.Fact) {
			steps[step] = true
		}
	}
	want := [len(steps)]bool{}
	for _, step := range stepsTo[s.state.State] {
		want[step] = true
	}
	switch {
	case steps != want, s.state.Err != nil:
		return false
	case s.side == order.TakeSide && !s.take.IsZero() && !s.state.Amount.IsZero():
		return s.lowered(events) == s.state.Amount
	case s.state.State == order.StateCreated:
		o, _ := order.Fold(events)
		return o.GiveFinal == s.state.Amount
	}
	return true
}

// lowered returns by how much the take amount was lowered in all, according to the last such event.
func (s *side) lowered(events []order.Event) (by chain.Amount) {
	last := order.At{}
	for _, e := range events {
		if fact, is := e.Fact.(order.TakeDecreased); is && last.Compare(&e.At) <= 0 {
			last, by = e.At, s.take.Sub(fact.Final)
		}
	}
	return by
}

// stepsTo lists the steps on one side of an order that a contract's state implies, by the states that they lead to.
var stepsTo = map[order.State][]order.State{
	order.StateCreated:            {order.StateCreated},
	order.StateClaimedUnlock:      {order.StateCreated, order.StateClaimedUnlock},
	order.StateClaimedOrderCancel: {order.StateCreated, order.StateClaimedOrderCancel},
	order.StateFulfilled:          {order.StateFulfilled},
	order.StateSentUnlock:         {order.StateFulfilled, order.StateSentUnlock},
	order.StateOrderCancelled:     {order.StateOrderCancelled},
	order.StateSentOrderCancel:    {order.StateOrderCancelled, order.StateSentOrderCancel},
}

// stepsOf returns the steps that an event reports. On EVM chains one event reports both that an order was cancelled and
// that the message about it was sent.
func stepsOf(fact order.Fact) []order.State {
	switch f := fact.(type) {
	case order.Created:
		return []order.State{order.StateCreated}
	case order.Claimed:
		if f.Kind == order.Cancel {
			return []order.State{order.StateClaimedOrderCancel}
		}
		return []order.State{order.StateClaimedUnlock}
	case order.Fulfilled:
		return []order.State{order.StateFulfilled}
	case order.Cancelled:
		return []order.State{order.StateOrderCancelled}
	case order.Sent:
		if f.Kind == order.Cancel {
			return []order.State{order.StateOrderCancelled, order.StateSentOrderCancel}
		}
		return []order.State{order.StateSentUnlock}
	}
	return nil
}
