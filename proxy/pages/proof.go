package pages

import (
	"slices"

	"crossgate/chain"
)

// Read is what of an answer was read from a chain, and how far that chain was read.
type Read struct {
	Chain      chain.ID
	IsFollowed bool   // otherwise the chain was asked for this answer alone, and nothing below is known
	From       uint64 // first indexed block
	Block      uint64 // newest indexed one
	Proven     uint64 // newest block up to which a second reading confirms the first; 0: none yet
	IsFinal    bool   // no reorg can take back what is said of the chain
}

// IsFinalOn reports whether no reorg can take back what is said of a chain.
func (o Order) IsFinalOn(id chain.ID) bool {
	return slices.ContainsFunc(o.Read, func(r Read) bool { return r.Chain == id && r.IsFinal })
}

// fieldSource is where some fields of an answer were read.
type fieldSource struct {
	Fields   string
	Chain    string
	Block    uint64 // 0: the answer does not have it
	Tx       linked
	Evidence string
	Tellers  string // the endpoints by whose word the answer has it; empty: nobody asked
}

// evidence says what a block of the chain was read by: a second reading is from another endpoint than the first where
// the chain has several (docs/decisions/0024-evidence.md).
func (r Read) evidence(block uint64) string {
	switch {
	case !r.IsFollowed || block > r.Block:
		return "asked of the chain for this page"
	case block < r.From:
		return "from before the index begins: asked of the chain"
	case block <= r.Proven:
		return "read twice; both readings agree"
	}
	return "read once; the second reading comes when the block is final"
}

func evidenceOf(read []Read, id chain.ID, block uint64) string {
	for _, r := range read {
		if r.Chain == id {
			return r.evidence(block)
		}
	}
	return Read{}.evidence(block)
}

// fieldSources say of each event of an order which fields of its record it gave.
func (p *Views) fieldSources(r recordJSON, o Order) []fieldSource {
	var sources []fieldSource
	for _, each := range r.steps() {
		source := p.fieldSource(each.fields, each.on, each.event.TransactionHash.Text, each.event.BlockNumber, o.Read)
		source.Tellers = o.tellers(each.on, each.event.TransactionHash.Text)
		sources = append(sources, source)
	}
	for _, side := range []struct {
		fields string
		offer  offerJSON
	}{{"given amount after patches", r.Give}, {"taken amount after patches", r.Take}} {
		if side.offer.Amount != side.offer.FinalAmount {
			id := side.offer.ChainID.chain()
			sources = append(sources, fieldSource{Fields: side.fields, Chain: p.ChainName(id), Evidence: "from patches, whose transactions the answer does not have"})
		}
	}
	return sources
}

// tellers says by whose word the record has a transaction.
func (o Order) tellers(on chain.ID, tx string) string {
	for _, t := range o.Transactions {
		if t.Chain == on && t.Hash == tx && len(t.Tellers) > 0 {
			return "told by " + endpointsText(t.Tellers)
		}
	}
	return "by which endpoints was not recorded"
}

func (p *Views) fieldSource(fields string, id chain.ID, tx string, block uint64, read []Read) fieldSource {
	return fieldSource{
		Fields: fields, Chain: p.ChainName(id), Block: block, Tx: linked{tx, p.TxURL(id, tx)}, Evidence: evidenceOf(read, id, block),
	}
}
