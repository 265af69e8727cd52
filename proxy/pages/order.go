package pages

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/url"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/proxy/web"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// Order is the content of an order's page.
type Order struct {
	Record *wire.Record // nil to show only the form
	JSON   string
	Path   string             // of the record in the API, with its query
	Final  bool               // the record can no longer change
	Gaps   []Gap              // of the order's chains
	Read   []order.ChainBasis // the order's chains
	Give   *big.Rat           // current price of a whole give token in USD; nil if unknown
	Take   *big.Rat           // the same for the take token
	Then   *stats.Values      // values at the time; nil if not looked up
	Index  int                // of the order in its transaction
	Count  int                // orders of the transaction; zero if the order was found by its id
	Hash   string             // as in the request
	Origin string             // scheme and host of this server, for commands to copy
	Now    time.Time
	Usual  *order.DeliveryTimes // delivery times between its chains; nil if unknown or not looked up

	Tellers map[order.At][]string // the endpoints that reported its events, if remembered
}

type orderView struct {
	Order
	ID         string
	State      string // the protocol's name
	Word       string // the state in plain words
	Tone       string // CSS class of the state
	Give, Take sideView
	Wait       *waitView // nil unless it waits for a taker
	Cancel     *cancel
	Steps      []step
	Facts      []Fact
	Proof      []fieldSource
}

type sideView struct {
	Chain  string
	Amount web.Amount
	Worth  string      // USD value then and now, or the lack of a price; empty if not shown
	Before *web.Amount // before the maker's patches
	Token  TokenView
}

func (s sideView) text() string { return s.Amount.Text + " " + s.Token.Symbol + " on " + s.Chain }

type TokenView struct {
	Symbol, Name, Logo, Initial string
	Address, URL                string
	Page                        string // path of the token's page here
	IsCoin                      bool   // the chain's coin, which has no address
}

// Fact is a row of the details.
type Fact struct {
	Name, Text, URL string
	Page            string // path of the page about it here; empty if there is none
	Link            string // text of the link to Page
	IsID            bool   // an id or an address, to be copied
}

// account returns a row about an address, without text if that is absent.
func (p *Views) account(name string, id chain.ID, a chain.Address) Fact {
	text := ""
	if !a.IsAbsent() {
		text = a.Format(p.Chains.Family(id))
	}
	return Fact{Name: name, Text: text, URL: p.AddressURL(id, text), IsID: true}
}

// with adds a link to the page about an address, whose path ends with it, unless the address is absent.
func (f Fact) with(path, link string) Fact {
	if f.Text != "" {
		f.Page, f.Link = path+url.PathEscape(f.Text), link
	}
	return f
}

// stateWords describe states: in one word for lists, and in another wording in case a later event may have been missed.
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

func briefOf(state string) string { return stateWords[state].brief }

// Order writes the page of an order, or the form that leads to one.
func (p *Views) Order(to io.Writer, o Order) error {
	if o.Record == nil {
		return p.Write(to, "order", web.View{Title: "Order", At: "order", Page: orderView{}})
	}
	r := o.Record.Order
	words := stateWords[r.State.String()]
	v := orderView{
		Order: o, ID: r.ID.String(), State: r.State.String(), Word: words.word, Tone: words.tone,
		Give: p.side(r.Terms.Give, r.GiveFinal, o.Record.Give), Take: p.side(r.Terms.Take, r.TakeFinal, o.Record.Take),
		Wait: p.wait(o), Cancel: p.cancelOf(r), Steps: p.steps(r, o.Now), Facts: p.facts(o), Proof: p.fieldSources(o),
	}
	v.JSON = Indented([]byte(o.JSON))
	v.Give.Worth, v.Take.Worth = o.worth()
	if v.Gaps = gapsOf(r, o.Gaps); len(v.Gaps) > 0 {
		v.Word = words.seen
	}
	v.Word = strings.ToUpper(v.Word[:1]) + v.Word[1:]
	says := v.Give.text() + " for " + v.Take.text() + ": " + v.Word
	return p.Write(to, "order", web.View{Title: "Order " + web.Short(v.ID), At: "order", Says: says, Root: o.Origin, Now: o.Now, Page: v})
}

// gapsOf returns the gaps that may hide an event of an order. Events not indexed were read from its chains, so only
// unreadable blocks and an unknown creation count.
func gapsOf(r *order.Order, all []Gap) []Gap {
	var gaps []Gap
	for _, g := range all {
		switch {
		case r.Created == nil && (g.IsUnread || g.From > 0):
			gaps = append(gaps, g)
		case g.Quarantined > 0:
			gaps = append(gaps, Gap{Chain: g.Chain, Quarantined: g.Quarantined})
		}
	}
	return gaps
}

func (p *Views) side(o order.Offer, final chain.Amount, t token.Token) sideView {
	s := p.sideOf(o.Chain, o.Token, final, t)
	if o.Amount != final {
		before := AmountOf(o.Amount, t)
		s.Before = &before
	}
	return s
}

// Indented formats JSON for people.
func Indented(answer []byte) string {
	var text bytes.Buffer
	if err := json.Indent(&text, answer, "", "  "); err != nil {
		return string(answer)
	}
	return text.String()
}

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
