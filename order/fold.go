package order

import (
	"slices"

	"crossgate/chain"
)

// Fold builds an order from its events, which must all be about one order and from the canonical chain. Duplicates and
// their sequence do not matter. ok is false if no event carries the terms.
func Fold(events []Event) (folded *Order, ok bool) {
	o := &Order{}
	var patches patches
	var call callSteps
	var small [16]int // most orders have no more events
	for _, i := range sequence(events, small[:0]) {
		e := &events[i]
		o.ID = e.Order
		switch fact := e.Fact.(type) {
		case Created:
			first(&o.Created, e.At, fact)
		case Fulfilled:
			first(&o.Fulfilled, e.At, fact)
		case Sent:
			if fact.Kind == Cancel {
				first(&o.SentCancel, e.At, fact)
			} else {
				first(&o.SentUnlock, e.At, fact)
			}
		case Claimed:
			if fact.Kind == Cancel {
				first(&o.ClaimedCancel, e.At, fact)
			} else {
				first(&o.ClaimedUnlock, e.At, fact)
			}
		case Cancelled:
			first(&o.Cancelled, e.At, fact)
		case GiveIncreased:
			patches.give, patches.gave = fact, true
		case TakeDecreased:
			patches.take, patches.took = fact, true
		case ExternalCall:
			call.set |= 1 << fact.Step
			if fact.Step == CallFallenBack {
				call.fallenBackBy = fact.By
			}
		}
	}
	switch {
	case o.Created != nil:
		o.Terms = o.Created.Fact.Terms
	case o.Fulfilled != nil:
		o.Terms = o.Fulfilled.Fact.Terms
	default:
		return nil, false
	}
	o.State = o.furthest()
	o.Call = o.callState(call)
	patches.apply(o)
	for _, e := range events { // the newest on both chains
		switch e.At.Chain {
		case o.Terms.Give.Chain:
			o.GiveBlock = max(o.GiveBlock, e.At.Block)
		case o.Terms.Take.Chain:
			o.TakeBlock = max(o.TakeBlock, e.At.Block)
		}
	}
	return o, true
}

// sequence appends the indexes of events, sorted by block and log index of each chain: indexes are cheaper to move than
// events.
func sequence(events []Event, indexes []int) []int {
	for i := range events {
		indexes = append(indexes, i)
	}
	slices.SortStableFunc(indexes, func(a, b int) int { return events[a].At.Compare(&events[b].At) })
	return indexes
}

// first keeps the value seen first; a contract lets each step happen only once.
func first[F Fact](seen **Seen[F], at At, fact F) {
	if *seen == nil {
		*seen = &Seen[F]{at, fact}
	}
}

// furthest returns the last step on the order's path; steps on the give chain take precedence.
func (o *Order) furthest() State {
	switch {
	case o.ClaimedUnlock != nil:
		return StateClaimedUnlock
	case o.ClaimedCancel != nil:
		return StateClaimedOrderCancel
	case o.SentUnlock != nil:
		return StateSentUnlock
	case o.SentCancel != nil:
		return StateSentOrderCancel
	case o.Fulfilled != nil:
		return StateFulfilled
	case o.Cancelled != nil:
		return StateOrderCancelled
	case o.Created != nil:
		return StateCreated
	}
	return None
}

// callSteps is the set of steps of a call that events reported.
type callSteps struct {
	set          uint          // bit n is set for step n
	fallenBackBy chain.Address // for CallFallenBack
}

func (s callSteps) include(step ExternalCallStep) bool { return s.set&(1<<step) != 0 }

// isCancelled reports whether the call was cancelled, or abandoned by the address that may cancel the order.
func (s callSteps) isCancelled(by chain.Address) bool {
	return s.include(CallCancelled) || s.include(CallFallenBack) && !by.IsAbsent() && s.fallenBackBy == by
}

// callState returns the call's most final state.
func (o *Order) callState(seen callSteps) ExternalCallState {
	switch {
	case !o.Terms.HasExternalCall():
		return NoExtCall
	case o.State.isCancelled():
		return OrderCancelled
	case seen.isCancelled(o.Terms.Authorities.Order):
		return CancelledCall
	case seen.include(CallFailed), seen.include(CallFallenBack):
		return Failed
	case seen.include(CallExecuted):
		return Completed
	case seen.include(CallBegun):
		return Executing
	case o.Fulfilled != nil:
		return AwaitingExecution
	}
	return AwaitingOrderFulfillment
}

// patches holds the last changes to an order's amounts, if there were any.
type patches struct {
	give       GiveIncreased
	take       TakeDecreased
	gave, took bool
}

func (p *patches) apply(o *Order) {
	o.GiveFinal, o.TakeFinal = o.Terms.Give.Amount, o.Terms.Take.Amount
	if o.Created != nil {
		o.FinalPercentFee = &o.Created.Fact.PercentFee
	}
	if p.gave {
		percentFee := p.give.FinalPercentFee // a copy, so that only orders with patches cost memory for it
		o.GiveFinal, o.FinalPercentFee = p.give.Final, &percentFee
	}
	if p.took {
		o.TakeFinal = p.take.Final
	}
}

// Steps lists where the order's steps happened, give chain first, in protocol sequence.
func (o *Order) Steps() (steps []At) {
	for _, at := range []*At{
		o.Created.Where(), o.Fulfilled.Where(), o.SentUnlock.Where(), o.ClaimedUnlock.Where(),
		o.Cancelled.Where(), o.SentCancel.Where(), o.ClaimedCancel.Where(),
	} {
		if at != nil {
			steps = append(steps, *at)
		}
	}
	return steps
}
