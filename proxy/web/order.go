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
	Gaps   []Gap  // of its chains
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

// stateWords have one word for lists, and a second wording for when a later event may have been missed.
var stateWords = map[string]struct{ brief, word, seen, tone string }{
	"None":               {"not seen", "creation not seen", "creation not seen", "quiet"},
	"Created":            {"waiting", "waiting for a taker", "no delivery was seen", "moving"},
	"Fulfilled":          {"delivered", "delivered; the taker has not been paid yet", "delivered; no payment was seen", "good"},
	"SentUnlock":         {"delivered", "delivered; the taker's payment is on its way", "delivered; the unlock message was sent, no payment was seen", "good"},
	"ClaimedUnlock":      {"paid", "delivered and paid", "delivered and paid", "done"},
	"OrderCancelled":     {"cancelled", "cancelled; the refund has not been sent yet", "cancelled; no refund was seen", "bad"},
	"SentOrderCancel":    {"cancelled", "cancelled; the refund is on its way", "cancelled; the refund was sent, no claim was seen", "bad"},
	"ClaimedOrderCancel": {"refunded", "cancelled and refunded", "cancelled and refunded", "quiet"},
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
	if v.Gaps = gapsOf(r, o.Gaps); len(v.Gaps) > 0 {
		v.Word = words.seen
	}
	for i := 0; o.Count > 1 && i < o.Count; i++ {
		v.Others = append(v.Others, i)
	}
	return p.write(to, "order", view{Title: "Order " + short(v.ID), At: "order", Now: o.Now, Page: v})
}

// gapsOf are the gaps that may hide an event of an order. What the index has not read of its chains they are asked for,
// but for blocks that cannot be read, and for a creation that is not known.
func gapsOf(r recordJSON, all []Gap) []Gap {
	var gaps []Gap
	for _, g := range all {
		switch {
		case r.Created == nil && g.lacksCreation():
			gaps = append(gaps, g)
		case g.Quarantined > 0:
			gaps = append(gaps, Gap{Chain: g.Chain, Quarantined: g.Quarantined})
		}
	}
	return gaps
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
	facts := []fact{
		{"Order id", r.OrderID.Text, ""},
		{"Maker", r.MakerSrc.Text, p.addressURL(give, r.MakerSrc.Text)},
		{"Receiver", r.ReceiverDst.Text, p.addressURL(take, r.ReceiverDst.Text)},
		{"Taker", r.Taker.Text, p.addressURL(take, r.Taker.Text)},
		{"Allowed taker", r.AllowedTakerDst.Text, p.addressURL(take, r.AllowedTakerDst.Text)},
	}
	if r.FinalPercentFee != nil {
		fee := amountOf(r.FinalPercentFee.Text, r.Give.Decimals)
		facts = append(facts, fact{"Percent fee", fee.Exact + " " + r.Give.Symbol, ""})
	}
	if r.FixFee != nil {
		fee := amountOf(r.FixFee.Text, int(known.Coin.Decimals))
		facts = append(facts, fact{"Fixed fee", fee.Exact + " " + known.Coin.Symbol, ""})
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
