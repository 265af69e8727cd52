package pages

import (
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/web"
)

// fieldSource says where some fields of an answer were read.
type fieldSource struct {
	Fields   string
	Chain    string
	Block    uint64 // 0 if the answer does not have it
	Tx       linked
	Evidence string
	Tellers  string // the endpoints that reported it; empty if not looked up
}

// evidence describes how a block of the chain was read. If the chain has several endpoints, the second reading uses
// another one (docs/decisions/0024-evidence.md).
func evidence(c order.ChainBasis, block uint64) string {
	switch {
	case !c.Followed || block > c.Indexed:
		return "read from the chain for this page"
	case block < c.From.Number:
		return "older than the index: read from the chain"
	case c.Single:
		return "reported by one endpoint only"
	case block <= c.Proven:
		return "read twice; both readings agree"
	}
	return "read once; to be confirmed when the block is final"
}

// recordedStep is an event of an order, and the fields of its record that come from it.
type recordedStep struct {
	fields string
	at     *order.At
}

func recordedSteps(o *order.Order) []recordedStep {
	steps := []recordedStep{
		{"maker, receiver, both amounts, authorities, fees", o.Created.Where()},
		{"taker, delivered amount", o.Fulfilled.Where()},
		{"unlock message", o.SentUnlock.Where()},
		{"taker's payment", o.ClaimedUnlock.Where()},
		{"cancellation", o.CancelledAt()},
		{"refund message", o.SentCancel.Where()},
		{"refund", o.ClaimedCancel.Where()},
	}
	return slices.DeleteFunc(steps, func(s recordedStep) bool { return s.at == nil })
}

// fieldSources returns for each event of an order the fields of its record that come from it.
func (p *Views) fieldSources(o Order) []fieldSource {
	r := o.Record.Order
	var sources []fieldSource
	for _, each := range recordedSteps(r) {
		source := p.fieldSource(each.fields, each.at, o.Read)
		source.Tellers = o.reporters(each.at)
		sources = append(sources, source)
	}
	for _, side := range []struct {
		fields string
		offer  order.Offer
		final  chain.Amount
	}{{"given amount after patches", r.Terms.Give, r.GiveFinal}, {"taken amount after patches", r.Terms.Take, r.TakeFinal}} {
		if side.offer.Amount != side.final {
			sources = append(sources, fieldSource{
				Fields: side.fields, Chain: p.ChainName(side.offer.Chain), Evidence: "from patches, whose transactions the answer does not have",
			})
		}
	}
	return sources
}

// reporters lists the endpoints that reported an event.
func (o Order) reporters(at *order.At) string {
	names := o.Tellers[*at]
	if len(names) == 0 {
		return "endpoints not recorded"
	}
	return "reported by " + web.Plural(len(names), "endpoint") + ": " + strings.Join(names, ", ")
}

func (p *Views) fieldSource(fields string, at *order.At, read []order.ChainBasis) fieldSource {
	c := order.ChainBasis{Chain: at.Chain}
	if i := slices.IndexFunc(read, func(r order.ChainBasis) bool { return r.Chain == at.Chain }); i >= 0 {
		c = read[i]
	}
	return fieldSource{
		Fields: fields, Chain: p.ChainName(at.Chain), Block: at.Block, Tx: p.tx(at.Chain, at.Tx), Evidence: evidence(c, at.Block),
	}
}
