package pages

import (
	"io"
	"math/big"
	"time"

	"crossgate/chain"
	"crossgate/proxy/web"
)

// Order is the content of an order's page.
type Order struct {
	Record []byte   // JSON; nil: only the form is shown
	Path   string   // of the record in the API, with its query
	Final  bool     // the record does not change any more
	Gaps   []Gap    // of its chains
	Read   []Read   // its chains
	Give   *big.Rat // USD for a whole token of what is given, now; nil: no price is known
	Take   *big.Rat // of what is taken
	Then   *Then    // nil: what the amounts were worth at the time was not looked up
	Index  int      // among the orders of its transaction
	Count  int      // of them; zero when the order was found by its id
	Hash   string   // as in the request
	Origin string   // scheme and host of this server, for commands to copy
	Now    time.Time

	Transactions []Transaction // of its steps; nil: they were not asked for
}

type orderView struct {
	Order
	ID         string
	State      string
	Word       string // the state in plain words
	Tone       string // CSS class of the state
	Give, Take sideView
	Steps      []step
	Took       []string // how long what happened took
	Facts      []fact
	Proof      []fieldSource
	Decoded    []transactionView
	JSON       string
	Others     []int // indexes of the transaction's orders
}

// Then is what an order's amounts were worth in USD, what was taken when it was delivered and the others when it was
// created; nil: no price was known.
type Then struct{ Given, Taken, Fees *big.Rat }

// sideView is the give or the take side.
type sideView struct {
	Chain  string
	Amount web.Amount
	Worth  string      // of the amount in USD, then and now, or that no price is known; empty where that is not shown
	Before *web.Amount // before the maker's patches
	Token  tokenView
}

// text is the side in a few words.
func (s sideView) text() string { return s.Amount.Text + " " + s.Token.Symbol + " on " + s.Chain }

type tokenView struct {
	Symbol, Name, Logo, Initial string
	Address, URL                string
}

// fact is a row of the details.
type fact struct {
	Name, Text, URL string
	Page            string // path of the page about it here; empty: there is none
	Link            string // what that shows
	IsID            bool   // an id or an address, to be copied
}

// account is a row about an address; without text where there is none.
func (p *Views) account(name string, id chain.ID, address named) fact {
	return fact{Name: name, Text: address.Text, URL: p.AddressURL(id, address.Text), IsID: true}
}

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
func (p *Views) Order(to io.Writer, o Order) error {
	if o.Record == nil {
		return p.Write(to, "order", web.View{Title: "Order", At: "order", Page: orderView{}})
	}
	r, err := decode[recordJSON](o.Record)
	if err != nil {
		return err
	}
	words := stateWords[r.State]
	v := orderView{
		Order: o, ID: r.OrderID.Text, State: r.State, Word: words.word, Tone: words.tone,
		Give: p.side(r.Give), Take: p.side(r.Take), Steps: p.steps(r, o.Now), Took: durations(r), Facts: p.facts(r, o.Then), Proof: p.fieldSources(r, o),
		Decoded: p.transactions(o.Transactions),
		JSON:    indented(o.Record),
	}
	v.Give.Worth, v.Take.Worth = o.worth(r)
	if v.Gaps = gapsOf(r, o.Gaps); len(v.Gaps) > 0 {
		v.Word = words.seen
	}
	for i := 0; o.Count > 1 && i < o.Count; i++ {
		v.Others = append(v.Others, i)
	}
	says := v.Give.text() + " for " + v.Take.text() + ": " + v.Word
	return p.Write(to, "order", web.View{Title: "Order " + web.Short(v.ID), At: "order", Says: says, Root: o.Origin, Now: o.Now, Page: v})
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

func (p *Views) side(o offerJSON) sideView {
	s := sideView{
		Chain: p.ChainName(o.ChainID.chain()), Amount: web.AmountOf(o.FinalAmount.Text, o.Decimals),
		Token: p.token(o.ChainID.chain(), o.TokenAddress.Text, o.tokenJSON),
	}
	if o.Amount != o.FinalAmount {
		before := web.AmountOf(o.Amount.Text, o.Decimals)
		s.Before = &before
	}
	return s
}

func (p *Views) token(id chain.ID, address string, t tokenJSON) tokenView {
	return tokenView{
		Symbol: t.Symbol, Name: t.Name, Logo: t.LogoURI, Initial: web.Initial(t.Symbol),
		Address: address, URL: p.AddressURL(id, address),
	}
}
