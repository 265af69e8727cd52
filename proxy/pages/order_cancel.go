package pages

import (
	"strings"

	"crossgate/chain"
	"crossgate/order"
)

// cancel holds what a wallet needs to cancel an order, or its external call, on its take chain.
type cancel struct {
	On        chain.Chain
	Authority string
	Explorer  string // URL of a transaction there, without its hash

	Path, Button, Says, Done string
}

// cancelOf returns what an order's authority can cancel, or nil.
func (p *Views) cancelOf(o *order.Order) *cancel {
	on, _ := p.Chains.Chain(o.Terms.Take.Chain)
	authority, c := o.Terms.Authorities.Order, cancel{On: on, Explorer: strings.TrimSuffix(p.TxURL(on.ID, "hash"), "hash")}
	switch {
	case authority.IsAbsent():
		return nil
	case o.State == order.StateCreated && o.Created != nil && !on.Contracts.DlnDestination.IsAbsent():
		c.Path, c.Button, c.Says, c.Done = "cancel-tx", "Cancel the order", "A taker can still deliver.", "Cancelled"
	case o.Call == order.AwaitingExecution && !on.Contracts.ExternalCallAdapter.IsAbsent():
		c.Path, c.Button, c.Says, c.Done = "extcall-cancel-tx", "Cancel the external call", "The call can still be executed.", "Call cancelled"
	default:
		return nil
	}
	c.Authority = authority.Format(on.Family)
	return &c
}
