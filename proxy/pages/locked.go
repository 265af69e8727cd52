package pages

import (
	"cmp"
	"context"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
	"crossgate/token"
)

// mostDeliveries limits how many orders' deliveries the page of locked assets looks up.
const mostDeliveries = 5000

func (s *Pages) lockedPage(c *gin.Context) {
	ctx := c.Request.Context()
	taker, err := orders.ParseTakerAddress(c)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	found, from, err := s.orders.LockedRoute().Ask(ctx, s.server, taker)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	locked := found.Value.(orders.Locked)
	var ids []order.ID
	for _, each := range locked.Chains {
		for _, t := range each.Tokens {
			for _, target := range t.Targets {
				ids = append(ids, target.Orders...)
			}
		}
	}
	text := c.Param("takerAddress")
	shown := Locked{
		Taker: text, Answer: &locked, JSON: found.Text, Gaps: gapsIn(found.Basis, from.Value.Made), Deliveries: s.deliveries(ctx, ids),
		Path: "/api/Satistics/" + url.PathEscape(text) + "/lockedAssets", Origin: OriginOf(c.Request), Now: time.Now(),
	}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Locked(to, shown) })
}

// deliveries looks up when orders were delivered, and for what. Without the index the page shows less.
func (s *Pages) deliveries(ctx context.Context, ids []order.ID) map[order.ID]order.Delivery {
	ctx, cancel := context.WithTimeout(ctx, s.server.Options.OrderLimit)
	defer cancel()
	known, err := s.options().Details.Deliveries(ctx, ids[:min(len(ids), mostDeliveries)])
	if err != nil {
		return nil
	}
	return known
}

// Locked is the content of a taker's page.
type Locked struct {
	Taker      string
	Answer     *orders.Locked // nil to show only the form
	JSON       string
	Gaps       []Gap                       // chains whose deliveries and payments the answer may lack
	Deliveries map[order.ID]order.Delivery // of the orders looked up
	Path       string
	Origin     string
	Now        time.Time
}

type lockedView struct {
	Locked
	Total  string // USD
	Orders int
	Since  time.Time // since when all chains' history is known; zero if from the beginning, or if none is
	Chains []lockedChain
}

type lockedChain struct {
	Name   string
	Tokens []lockedToken
}

type lockedToken struct {
	Token   TokenView
	Amount  string
	USD     string
	Orders  int
	Longest string // longest wait of its orders; empty if unknown
	Targets []lockedTarget
}

// mostShown limits the orders that a page shows per target, longest waiting first.
const mostShown = 100

type lockedTarget struct {
	Chain  string
	Amount string
	USD    string
	Orders []lockedOrder
	More   int     // orders not shown
	Unlock *unlock // nil if a wallet can send none
}

// unlock is a message, to be sent by the taker's wallet, that pays it for deliveries on a chain.
type unlock struct {
	On       chain.Chain // chain of the deliveries
	PaidOn   string      // chain on which the taker must name an address; empty if its own address is paid
	Orders   []string    // ids, longest waiting first
	URL      string      // of the transaction; ends before the beneficiary if PaidOn is set
	Explorer string      // URL of a transaction there, without its hash
}

// unlockOf returns the message for a target's oldest orders without one; nil if there are none, or if the taker's
// address belongs to another family than the chain of delivery.
func (p *Views) unlockOf(l Locked, give, take chain.ID, all []lockedOrder) *unlock {
	on, _ := p.Chains.Chain(take)
	_, err := chain.ParseAddress(l.Taker, on.Family)
	if err != nil || on.Contracts.DlnDestination.IsAbsent() || on.Contracts.Gate.IsAbsent() {
		return nil
	}
	u := &unlock{On: on, Explorer: strings.TrimSuffix(p.TxURL(take, "hash"), "hash")}
	for _, each := range all {
		if each.Waits != "" && !each.IsSent && len(u.Orders) < order.MostUnlocked(give) {
			u.Orders = append(u.Orders, each.ID)
		}
	}
	if len(u.Orders) == 0 {
		return nil
	}
	u.URL = "/v1.0/dln/order/unlock-tx?orderIds=" + strings.Join(u.Orders, ",") + "&unlockBeneficiary="
	if p.Chains.Family(give) == on.Family {
		u.URL += l.Taker
	} else {
		u.PaidOn = p.ChainName(give)
	}
	return u
}

type lockedOrder struct {
	ID     string
	Waits  string // empty if its delivery was not looked up
	Amount web.Amount
	At     time.Time
	IsSent bool // the unlock message was sent
}

// Locked writes the page of a taker's locked assets, or the form that leads to one.
func (p *Views) Locked(to io.Writer, l Locked) error {
	v := lockedView{Locked: l, Since: sinceWhen(l.Gaps)}
	title, says := "Locked assets", "What takers delivered and were not paid for yet."
	if l.Answer != nil {
		title = "Locked for " + web.Short(l.Taker)
		v.JSON = Indented([]byte(l.JSON))
		var total *big.Rat
		isPartial := false
		for _, c := range l.Answer.Chains {
			shown := lockedChain{Name: p.ChainName(c.Chain)}
			for _, t := range c.Tokens {
				of := p.lockedToken(l, c.Chain, t)
				shown.Tokens = append(shown.Tokens, of)
				v.Orders += of.Orders
				if usd := l.worthOf(c.Chain, t.Token, t.Amount); usd == nil {
					isPartial = true
				} else if total == nil {
					total = usd
				} else {
					total.Add(total, usd)
				}
			}
			v.Chains = append(v.Chains, shown)
		}
		v.Total = sumText(total, isPartial)
	}
	if len(v.Chains) > 0 {
		says = v.Total + " in " + web.Plural(v.Orders, "order") + " awaiting unlock"
	}
	return p.Write(to, "locked", web.View{Title: title, At: "locked", Says: says, Root: l.Origin, Now: l.Now, Page: v})
}

// sinceWhen returns when the history that begins last begins, zero if none has a beginning.
func sinceWhen(gaps []Gap) (since time.Time) {
	for _, g := range gaps {
		if g.From > 0 && g.Since.After(since) {
			since = g.Since
		}
	}
	return since
}

// worthOf returns the value in USD of an amount of a token locked on a chain, nil if unknown.
func (l Locked) worthOf(id chain.ID, address chain.Address, amount chain.Amount) *big.Rat {
	key := token.Key{Chain: id, Address: address}
	t, price := l.Answer.Tokens[key], l.Answer.USD[key]
	if price == nil || t == (token.Token{}) {
		return nil
	}
	return new(big.Rat).Mul(amount.Units(t.Decimals), price)
}

// wholeTokens formats an amount of locked tokens with every digit, empty if the token could not be read.
func wholeTokens(a chain.Amount, t token.Token) string {
	if t == (token.Token{}) {
		return ""
	}
	return AmountOf(a, t).Exact
}

func (p *Views) lockedToken(l Locked, id chain.ID, t order.LockedToken) lockedToken {
	metadata := l.Answer.Tokens[token.Key{Chain: id, Address: t.Token}]
	worth := func(a chain.Amount) string {
		usd := l.worthOf(id, t.Token, a)
		if usd == nil {
			return ""
		}
		value, _ := usd.Float64()
		return UsdText(value)
	}
	shown := lockedToken{Token: p.tokenOf(id, t.Token, metadata), Amount: wholeTokens(t.Amount, metadata), USD: worth(t.Amount)}
	var oldest time.Time
	for _, d := range t.Targets {
		target := lockedTarget{Chain: p.ChainName(d.Chain), Amount: wholeTokens(d.Amount, metadata), USD: worth(d.Amount)}
		for _, of := range d.Orders {
			o := lockedOrder{ID: of.String()}
			if d := l.Deliveries[of]; d.At > 0 {
				o.At, o.IsSent, o.Amount = timeOf(d.At), d.State == order.StateSentUnlock, AmountOf(d.Give, metadata)
				o.Waits = web.Lasting(l.Now.Sub(o.At))
				if oldest.IsZero() || o.At.Before(oldest) {
					oldest = o.At
				}
			}
			target.Orders = append(target.Orders, o)
		}
		slices.SortStableFunc(target.Orders, func(a, b lockedOrder) int { return cmp.Compare(uint64(a.At.Unix()), uint64(b.At.Unix())) }) // unknown times, before 1970, come last
		target.Unlock = p.unlockOf(l, id, d.Chain, target.Orders)
		shown.Orders += len(target.Orders)
		if n := len(target.Orders); n > mostShown {
			target.Orders, target.More = target.Orders[:mostShown], n-mostShown
		}
		shown.Targets = append(shown.Targets, target)
	}
	if !oldest.IsZero() {
		shown.Longest = web.Lasting(l.Now.Sub(oldest))
	}
	return shown
}

// sumText formats the total value of several orders, which may be partial; nil means that none has a known value.
func sumText(known *big.Rat, isPartial bool) string {
	if known == nil {
		return "no price"
	}
	value, _ := known.Float64()
	if isPartial {
		return "at least " + UsdText(value)
	}
	return UsdText(value)
}

// UsdText formats a value with cents. A small one is not rounded to zero.
func UsdText(value float64) string {
	if value > 0 && value < 0.01 {
		return "under $0.01"
	}
	whole, cents, _ := strings.Cut(strconv.FormatFloat(value, 'f', 2, 64), ".")
	return "$" + web.Joined(web.Grouped(whole), cents)
}
