package web

import (
	"io"
	"time"

	"crossgate/chain"
)

// Order is what the page of an order is made of.
type Order struct {
	Record []byte // the answer; nil: only the form is shown
	Path   string // where the answer is, with its query
	Final  bool   // nothing can follow
	Index  int    // among the orders of its transaction
	Count  int    // of them; zero where the order was asked for by its id
	Hash   string // as asked
	Origin string // scheme and host of this server, for commands to copy
	Now    time.Time
}

type orderView struct {
	Order
	ID         string
	State      string
	Word       string // the state in plain words
	Tone       string // how the state is coloured
	Give, Take sideView
	Steps      []step
	Facts      []fact
	JSON       string
	Others     []int // indexes of the transaction's orders
}

// sideView is what is given or taken.
type sideView struct {
	Chain  string
	Amount Amount
	Before *Amount // before the maker changed it
	Token  tokenView
}

type tokenView struct {
	Symbol, Name, Logo, Initial string
	Address, URL                string
}

// fact is a line of the table of details.
type fact struct{ Name, Text, URL string }

var stateWords = map[string]struct{ word, tone string }{
	"None":               {"not seen being created", "quiet"},
	"Created":            {"waits for a taker", "moving"},
	"Fulfilled":          {"delivered; the taker has yet to be paid", "good"},
	"SentUnlock":         {"delivered; the taker's pay is on its way", "good"},
	"ClaimedUnlock":      {"delivered and paid", "done"},
	"OrderCancelled":     {"cancelled; the refund has yet to be sent", "bad"},
	"SentOrderCancel":    {"cancelled; the refund is on its way", "bad"},
	"ClaimedOrderCancel": {"cancelled and refunded", "quiet"},
}

// Order writes the page of an order, or the form that leads to one.
func (p *Pages) Order(to io.Writer, o Order) error {
	if o.Record == nil {
		return p.write(to, "order", view{Title: "Order", At: "order", Page: orderView{}})
	}
	r, err := decode[recordJSON](o.Record)
	if err != nil {
		return err
	}
	words := stateWords[r.State]
	v := orderView{
		Order: o, ID: r.OrderID.Text, State: r.State, Word: words.word, Tone: words.tone,
		Give: p.side(r.Give), Take: p.side(r.Take), Steps: p.steps(r), Facts: p.facts(r), JSON: indented(o.Record),
	}
	for i := 0; o.Count > 1 && i < o.Count; i++ {
		v.Others = append(v.Others, i)
	}
	return p.write(to, "order", view{Title: "Order " + short(v.ID), At: "order", Now: o.Now, Page: v})
}

func (p *Pages) side(o offerJSON) sideView {
	s := sideView{
		Chain: p.chainName(o.ChainID.chain()), Amount: amountOf(o.FinalAmount.Text, o.Decimals),
		Token: p.token(o.ChainID.chain(), o.TokenAddress.Text, o.tokenJSON),
	}
	if o.Amount != o.FinalAmount {
		before := amountOf(o.Amount.Text, o.Decimals)
		s.Before = &before
	}
	return s
}

func (p *Pages) token(id chain.ID, address string, t tokenJSON) tokenView {
	return tokenView{
		Symbol: t.Symbol, Name: t.Name, Logo: t.LogoURI, Initial: initial(t.Symbol),
		Address: address, URL: p.addressURL(id, address),
	}
}

func (p *Pages) facts(r recordJSON) []fact {
	give, take := r.Give.ChainID.chain(), r.Take.ChainID.chain()
	known, _ := p.chains.Chain(give)
	coin := int(known.Coin.Decimals)
	facts := []fact{
		{"Order id", r.OrderID.Text, ""},
		{"Maker", r.MakerSrc.Text, p.addressURL(give, r.MakerSrc.Text)},
		{"Receiver", r.ReceiverDst.Text, p.addressURL(take, r.ReceiverDst.Text)},
		{"Taker", r.Taker.Text, p.addressURL(take, r.Taker.Text)},
		{"Only this taker may deliver", r.AllowedTakerDst.Text, p.addressURL(take, r.AllowedTakerDst.Text)},
		{"Percent fee", amountOf(r.FinalPercentFee.Text, r.Give.Decimals).Exact + " " + r.Give.Symbol, ""},
		{"Fixed fee", amountOf(r.FixFee.Text, coin).Exact + " " + known.Coin.Symbol, ""},
	}
	if r.ActualFulfillAmount != nil {
		facts = append(facts, fact{"Delivered", amountOf(r.ActualFulfillAmount.Text, r.Take.Decimals).Exact + " " + r.Take.Symbol, ""})
	}
	if r.ExternalCallState != "NoExtCall" {
		facts = append(facts, fact{"External call", r.ExternalCallState, ""})
	}
	told := facts[:0]
	for _, f := range facts {
		if f.Text != "" {
			told = append(told, f)
		}
	}
	return told
}
