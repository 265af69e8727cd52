package web

import (
	"io"
	"slices"
	"time"

	"crossgate/chain"
)

// Order is the content of an order's page.
type Order struct {
	Record []byte // JSON; nil: only the form is shown
	Path   string // of the record in the API, with its query
	Final  bool   // the record does not change any more
	Index  int    // among the orders of its transaction
	Count  int    // of them; zero when the order was found by its id
	Hash   string // as in the request
	Origin string // scheme and host of this server, for commands to copy
	Now    time.Time
}

type orderView struct {
	Order
	ID         string
	State      string
	Word       string // the state in plain words
	Tone       string // CSS class of the state
	Give, Take sideView
	Steps      []step
	Facts      []fact
	JSON       string
	Others     []int // indexes of the transaction's orders
}

// sideView is the give or the take side.
type sideView struct {
	Chain  string
	Amount Amount
	Before *Amount // before the maker's patches
	Token  tokenView
}

type tokenView struct {
	Symbol, Name, Logo, Initial string
	Address, URL                string
}

// fact is a row of the details.
type fact struct{ Name, Text, URL string }

var stateWords = map[string]struct{ word, tone string }{
	"None":               {"creation not seen", "quiet"},
	"Created":            {"waiting for a taker", "moving"},
	"Fulfilled":          {"delivered; the taker has not been paid yet", "good"},
	"SentUnlock":         {"delivered; the taker's payment is on its way", "good"},
	"ClaimedUnlock":      {"delivered and paid", "done"},
	"OrderCancelled":     {"cancelled; the refund has not been sent yet", "bad"},
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
		{"Allowed taker", r.AllowedTakerDst.Text, p.addressURL(take, r.AllowedTakerDst.Text)},
		{"Percent fee", amountOf(r.FinalPercentFee.Text, r.Give.Decimals).Exact + " " + r.Give.Symbol, ""},
		{"Fixed fee", amountOf(r.FixFee.Text, coin).Exact + " " + known.Coin.Symbol, ""},
	}
	if r.ActualFulfillAmount != nil {
		delivered := amountOf(r.ActualFulfillAmount.Text, r.Take.Decimals)
		facts = append(facts, fact{"Delivered", delivered.Exact + " " + r.Take.Symbol, ""})
	}
	if r.ExternalCallState != "NoExtCall" {
		facts = append(facts, fact{"External call", r.ExternalCallState, ""})
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}
