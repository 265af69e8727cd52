package pages

import (
	"cmp"
	"io"
	"math/big"
	"time"

	"crossgate/proxy/web"
)

// SwapRecord is the content of the page of a swap within a chain that was made.
type SwapRecord struct {
	Record []byte // JSON
	Path   string // of the record in the API, with its query
	Page   string // path of this page, without a query
	Final  bool   // no reorg can change the record any more
	Read   []Read // its chain
	Index  int    // among the swaps of its transaction
	Count  int    // of them; zero when the swap was found by its id

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
	JSON    string
	Others  []int // indexes of the transaction's swaps
}

type swapRecordJSON struct {
	SwapID, ChainID, TransactionHash named
	Sender, Recipient                named
	TokenIn, TokenOut                tokenAmountJSON
	GrossTokenOut, ProtocolFee       tokenAmountJSON
	BlockTimeStamp                   int64
	BlockNumber                      uint64
	AffiliateFee                     *struct {
		AffiliateFee tokenAmountJSON
		Beneficiary  *named
	}
}

type tokenAmountJSON struct {
	TokenAddress, Amount named
	Metadata             tokenJSON
}

// text is the amount in whole tokens.
func (a tokenAmountJSON) text() string {
	return web.AmountOf(a.Amount.Text, a.Metadata.Decimals).Exact + " " + a.Metadata.Symbol
}

// offer is the amount as a side of an order has it.
func (a tokenAmountJSON) offer() offerJSON {
	return offerJSON{Amount: a.Amount, FinalAmount: a.Amount, tokenJSON: a.Metadata}
}

// SwapRecord writes the page of a swap that was made.
func (p *Views) SwapRecord(to io.Writer, s SwapRecord) error {
	r, err := decode[swapRecordJSON](s.Record)
	if err != nil {
		return err
	}
	id := r.ChainID.chain()
	v := swapRecordView{
		SwapRecord: s, ID: r.SwapID.Text, Chain: p.ChainName(id),
		In: p.swapSide(r, r.TokenIn, s.In), Out: p.swapSide(r, r.TokenOut, s.Out),
		Made: transaction{
			Time: time.Unix(r.BlockTimeStamp, 0), Block: r.BlockNumber, Now: s.Now,
			Tx: linked{r.TransactionHash.Text, p.TxURL(id, r.TransactionHash.Text)},
		},
		Facts: p.swapFacts(r), JSON: indented(s.Record),
		Proof: []fieldSource{p.fieldSource("everything", id, r.TransactionHash.Text, r.BlockNumber, s.Read)},
	}
	for i := 0; s.Count > 1 && i < s.Count; i++ {
		v.Others = append(v.Others, i)
	}
	return p.Write(to, "swap_record", web.View{
		Title: "Swap " + web.Short(v.ID), At: "order", Says: v.In.text() + " swapped for " + v.Out.Amount.Text + " " + v.Out.Token.Symbol,
		Root: s.Origin, Now: s.Now, Page: v,
	})
}

func (p *Views) swapSide(r swapRecordJSON, a tokenAmountJSON, usd *big.Rat) sideView {
	id := r.ChainID.chain()
	return sideView{
		Chain: p.ChainName(id), Amount: web.AmountOf(a.Amount.Text, a.Metadata.Decimals), Token: p.token(id, a.TokenAddress.Text, a.Metadata),
		Worth: worthNow(a.offer(), usd),
	}
}

// SwapSides are the tokens of a swap's record, as addresses on its chain.
func SwapSides(record []byte) (in, out Side) {
	r, err := decode[swapRecordJSON](record)
	if err != nil {
		return Side{}, Side{}
	}
	id := r.ChainID.chain()
	return Side{id, r.TokenIn.TokenAddress.Text}, Side{id, r.TokenOut.TokenAddress.Text}
}

func (p *Views) swapFacts(r swapRecordJSON) []fact {
	id := r.ChainID.chain()
	facts := []fact{
		{Name: "Swap id", Text: r.SwapID.Text, IsID: true},
		p.account("Sender", id, r.Sender),
		p.account("Recipient", id, r.Recipient),
		{Name: "Rate", Text: cmp.Or(rate(r.TokenIn.offer(), r.TokenOut.offer()), "not known")},
		{Name: "Swapped for", Text: r.GrossTokenOut.text()},
		{Name: "Protocol fee", Text: r.ProtocolFee.text()},
	}
	if a := r.AffiliateFee; a != nil {
		facts = append(facts, fact{Name: "Affiliate fee", Text: a.AffiliateFee.text()})
		if a.Beneficiary != nil {
			facts = append(facts, p.account("Affiliate", id, *a.Beneficiary))
		}
	}
	return facts
}
