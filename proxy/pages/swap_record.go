package pages

import (
	"cmp"
	"io"
	"math/big"
	"time"

	"crossgate/chain"
	"crossgate/order/index"
	"crossgate/proxy/web"
	"crossgate/proxy/wire"
)

// SwapRecord is the content of the page of a swap within a chain that was made.
type SwapRecord struct {
	Record *wire.SwapRecord
	JSON   string
	Path   string             // of the record in the API, with its query
	Page   string             // path of this page, without a query
	Final  bool               // no reorg can change the record any more
	Read   []index.ChainBasis // its chain
	Index  int                // among the swaps of its transaction
	Count  int                // of them; zero when the swap was found by its id

	In, Out *big.Rat // prices of a whole token in USD, now; nil: none is known

	Origin string // scheme and host of this server, for commands to copy
	Now    time.Time
}

type swapRecordView struct {
	SwapRecord
	ID      string
	Chain   string
	In, Out sideView
	Made    transaction
	Facts   []fact
	Proof   []fieldSource
	Others  []int // indexes of the transaction's swaps
}

// SwapRecord writes the page of a swap that was made.
func (p *Views) SwapRecord(to io.Writer, s SwapRecord) error {
	made, fact := s.Record.Swap, s.Record.Swap.Fact
	id := made.At.Chain
	v := swapRecordView{
		SwapRecord: s, ID: made.ID.String(), Chain: p.ChainName(id),
		In: p.sideOf(id, fact.TokenIn, fact.AmountIn, s.Record.In), Out: p.sideOf(id, fact.TokenOut, fact.Received(), s.Record.Out),
		Made: p.transactionAt(id, &made.At, s.Now), Facts: p.swapFacts(s.Record), Proof: []fieldSource{p.fieldSource("everything", &made.At, s.Read)},
	}
	v.JSON = indented([]byte(s.JSON))
	v.In.Worth = worthNow(fact.AmountIn.Units(s.Record.In.Decimals), s.In)
	v.Out.Worth = worthNow(fact.Received().Units(s.Record.Out.Decimals), s.Out)
	for i := 0; s.Count > 1 && i < s.Count; i++ {
		v.Others = append(v.Others, i)
	}
	return p.Write(to, "swap_record", web.View{
		Title: "Swap " + web.Short(v.ID), At: "order", Says: v.In.text() + " swapped for " + v.Out.Amount.Text + " " + v.Out.Token.Symbol,
		Root: s.Origin, Now: s.Now, Page: v,
	})
}

func (p *Views) swapFacts(r *wire.SwapRecord) []fact {
	id, made := r.Swap.At.Chain, r.Swap.Fact
	out := func(a chain.Amount) string { return amountOf(a, r.Out).Exact + " " + r.Out.Symbol }
	in, received := made.AmountIn.Units(r.In.Decimals), made.Received().Units(r.Out.Decimals)
	facts := []fact{
		{Name: "Swap id", Text: r.Swap.ID.String(), IsID: true},
		p.account("Sender", id, made.Sender),
		p.account("Recipient", id, made.Recipient),
		{Name: "Rate", Text: cmp.Or(rate(in, received, r.In.Symbol, r.Out.Symbol), "not known")},
		{Name: "Swapped for", Text: out(made.AmountOut)},
		{Name: "Protocol fee", Text: out(made.Fee)},
	}
	if a := made.Affiliate; a != nil {
		facts = append(facts, fact{Name: "Affiliate fee", Text: out(a.Amount)})
		if !a.Beneficiary.IsAbsent() {
			facts = append(facts, p.account("Affiliate", id, a.Beneficiary))
		}
	}
	return facts
}
