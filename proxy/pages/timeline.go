package pages

import (
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/web"
)

// step is an event of an order, past or expected.
type step struct {
	Title  string
	Says   string
	Chain  string
	OnGive bool // on the give chain
	Done   bool
	Next   bool   // the next expected one
	After  string // how long after the step before it, of which it says the title; empty where that is not known
	transaction
}

// transaction is when and in what something happened.
type transaction struct {
	Time   time.Time
	Block  uint64
	Tx     linked
	Sender linked // who sent it; nothing where that is not shown
	Now    time.Time
}

// linked is a hash or an address with its URL in an explorer, if there is one.
type linked struct{ Text, URL string }

// stage is a step of one of the two paths of an order: to delivery, or to cancellation.
type stage struct {
	title, done, ahead string
	onGive             bool
	event              *order.At
}

// steps lists an order's events in sequence, with those that are still expected.
func (p *Views) steps(o *order.Order, now time.Time) []step {
	cancelled, sentCancel := cancelledAt(o), atOf(o.SentCancel)
	claimCancel := stage{
		"Refund claimed", "the maker was refunded", "the maker is refunded when the message arrives", true, atOf(o.ClaimedCancel),
	}
	stages := []stage{{"Created", "the maker locked the give amount", "the creation has not been seen", true, atOf(o.Created)}}
	switch {
	case cancelled == nil && o.ClaimedCancel == nil:
		stages = append(stages,
			stage{"Fulfilled", "a taker delivered to the receiver", "a taker must deliver", false, atOf(o.Fulfilled)},
			stage{"Unlock sent", "the unlock message was sent", "the taker must send the unlock message", false, atOf(o.SentUnlock)},
			stage{"Unlock claimed", "the taker was paid", "the taker is paid when the message arrives", true, atOf(o.ClaimedUnlock)},
		)
	case cancelled != nil && sentCancel != nil && cancelled.Tx == sentCancel.Tx:
		const both = "the order was cancelled and the refund message sent"
		stages = append(stages, stage{"Cancelled, refund sent", both, "", false, cancelled}, claimCancel)
	default:
		stages = append(stages,
			stage{"Cancelled", "the order can no longer be fulfilled", "", false, cancelled},
			stage{"Refund sent", "the refund message was sent", "the refund message must be sent", false, sentCancel},
			claimCancel,
		)
	}
	steps := make([]step, len(stages))
	var before step // the last that happened
	for i, s := range stages {
		id := o.Terms.Take.Chain
		if s.onGive {
			id = o.Terms.Give.Chain
		}
		steps[i] = p.step(s, id, now)
		if !steps[i].Done {
			continue
		}
		if before.Done && !steps[i].Time.Before(before.Time) { // chains have clocks of their own
			steps[i].After = web.Took(steps[i].Time.Sub(before.Time)) + " after " + before.Title
		}
		before = steps[i]
	}
	if next := slices.IndexFunc(steps, func(s step) bool { return !s.Done }); next >= 0 {
		steps[next].Next = true
	}
	return steps
}

func (p *Views) step(s stage, id chain.ID, now time.Time) step {
	shown := step{Title: s.title, Says: s.ahead, Chain: p.ChainName(id), OnGive: s.onGive}
	if s.event == nil {
		return shown
	}
	shown.Says, shown.Done = s.done, true
	shown.transaction = p.transactionAt(id, s.event, now)
	if sender := p.account("", id, s.event.Initiator); sender.Text != "" {
		shown.Sender = linked{sender.Text, sender.URL}
	}
	return shown
}

func (p *Views) transactionAt(id chain.ID, at *order.At, now time.Time) transaction {
	return transaction{Time: timeOf(at.Time), Block: at.Block, Now: now, Tx: p.tx(id, at.Tx)}
}

// tx is a transaction's hash with its URL.
func (p *Views) tx(id chain.ID, hash chain.TxHash) linked {
	text := hash.Format(p.Chains.Family(id))
	return linked{text, p.TxURL(id, text)}
}
