package pages

import (
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/web"
)

// lateWithout is the age from which an order is late if its pair of chains has no known delivery times.
const lateWithout = time.Hour

// waitView says how long an order has waited for a taker, how long is usual, and who can end the wait.
type waitView struct {
	Waited    string
	Half, P95 string // usual delivery times; empty if unknown
	IsLate    bool
	Authority linked // may cancel it on the take chain
	Refunded  linked // receives the refund; empty if the authority chooses the account
}

// wait describes an order's wait for a taker, nil if it does not wait.
func (p *Views) wait(o Order) *waitView {
	r := o.Record.Order
	if r.State != order.StateCreated || r.Created == nil {
		return nil
	}
	waited, most := o.Now.Sub(timeOf(r.Created.At.Time)), lateWithout
	account := func(id chain.ID, a chain.Address) linked {
		of := p.account("", id, a)
		return linked{of.Text, of.URL}
	}
	v := &waitView{
		Waited:    web.Took(max(waited, 0)),
		Authority: account(r.Terms.Take.Chain, r.Terms.Authorities.Order), Refunded: account(r.Terms.Give.Chain, r.Terms.Authorities.CancelBeneficiary),
	}
	if u := o.Usual; u != nil && u.Orders > 0 {
		most = time.Duration(u.P95) * time.Second
		v.Half, v.P95 = web.Took(time.Duration(u.P50)*time.Second), web.Took(most)
	}
	v.IsLate = waited > most
	return v
}
