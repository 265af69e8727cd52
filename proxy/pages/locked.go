package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"crossgate/proxy/web"
)

// Locked is the content of a taker's page.
type Locked struct {
	Taker      string
	Answer     []byte              // JSON; nil: only the form is shown
	Gaps       []Gap               // chains that the answer does not have all deliveries and payments of
	Deliveries map[string]Delivery // by order id, of those whose delivery was looked up
	Path       string
	Origin     string
	Now        time.Time
}

// Delivery is what is known of a delivered order beside what its taker's locked assets say.
type Delivery struct {
	At     time.Time
	Units  string // smallest ones of the give token that the taker is paid
	IsSent bool   // the unlock message was sent
}

type lockedView struct {
	Locked
	Total   string // USD
	Orders  int
	Since   time.Time // from when on all chains' history is known; zero: it is known from the beginning, or from nowhere
	Ages    agesView
	Batches []batch
	Chains  []lockedChain
	JSON    string
}

type lockedChain struct {
	Name   string
	Tokens []lockedToken
}

type lockedToken struct {
	Token   tokenView
	Amount  string
	USD     string
	Orders  int
	Longest string // wait among its orders; empty when unknown
	Targets []lockedTarget
}

// mostShown is how many orders of a target a page shows, those that wait longest.
const mostShown = 100

type lockedTarget struct {
	Chain  string
	Amount string
	USD    string
	Orders []lockedOrder
	More   int // orders that are not shown
}

type lockedOrder struct {
	ID     string
	Waits  string // empty: its delivery was not looked up
	Amount web.Amount
	Delivery
}

// Locked writes the page of a taker's locked assets, or the form that leads to one.
func (p *Views) Locked(to io.Writer, l Locked) error {
	v := lockedView{Locked: l, Since: sinceWhen(l.Gaps)}
	title, says := "Locked assets", "What takers delivered and were not paid for yet."
	if l.Answer != nil {
		title = "Locked for " + web.Short(l.Taker)
		chains, err := decode[[]lockedJSON](l.Answer)
		if err != nil {
			return err
		}
		v.JSON = indented(l.Answer)
		var total worthSum
		for _, c := range chains {
			shown := lockedChain{Name: p.ChainName(c.ChainID.chain())}
			for i, t := range c.LockedTokens {
				of := p.lockedToken(l, c, i)
				shown.Tokens = append(shown.Tokens, of)
				v.Orders += of.Orders
				total.add(ratOf(t.Amount), of.Orders)
			}
			v.Chains = append(v.Chains, shown)
		}
		v.Total, v.Ages, v.Batches = total.text(), p.ages(chains, l), p.batches(chains, l)
	}
	if len(v.Chains) > 0 {
		says = v.Total + " in " + web.Plural(v.Orders, "order") + " awaiting unlock"
	}
	return p.Write(to, "locked", web.View{Title: title, At: "locked", Says: says, Root: l.Origin, Now: l.Now, Page: v})
}

// sinceWhen is when the youngest of the histories with a beginning begins.
func sinceWhen(gaps []Gap) (since time.Time) {
	for _, g := range gaps {
		if g.From > 0 && g.Since.After(since) {
			since = g.Since
		}
	}
	return since
}

func (p *Views) lockedToken(l Locked, c lockedJSON, at int) lockedToken {
	t := c.LockedTokens[at]
	shown := lockedToken{
		Token:  p.token(c.ChainID.chain(), t.TokenAddress.Text, t.TokenMetadata),
		Amount: groupedNumber(t.TokenAmount), USD: usdOf(t.Amount),
	}
	var oldest time.Time
	for _, d := range t.DstChainsLockedAmounts {
		target := lockedTarget{
			Chain:  p.ChainName(d.TargetChainID.chain()),
			Amount: groupedNumber(d.DstChainTokenAmount), USD: usdOf(d.DstChainAmount),
		}
		for _, id := range d.OrdersToUnlock {
			o := lockedOrder{ID: id.Text, Delivery: l.Deliveries[id.Text]}
			if !o.At.IsZero() {
				o.Waits, o.Amount = web.Lasting(l.Now.Sub(o.At)), web.AmountOf(o.Units, t.TokenMetadata.Decimals)
				if oldest.IsZero() || o.At.Before(oldest) {
					oldest = o.At
				}
			}
			target.Orders = append(target.Orders, o)
		}
		slices.SortStableFunc(target.Orders, func(a, b lockedOrder) int { return cmp.Compare(unixOrLast(a.At), unixOrLast(b.At)) })
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

// unixOrLast sorts unknown times last.
func unixOrLast(t time.Time) int64 {
	if t.IsZero() {
		return 1<<63 - 1
	}
	return t.Unix()
}

func groupedNumber(n json.Number) string {
	whole, fraction, _ := strings.Cut(n.String(), ".")
	return web.Joined(web.Grouped(whole), fraction)
}

// usdOf is empty where no price is known.
func usdOf(n json.Number) string {
	value, err := n.Float64()
	if err != nil {
		return ""
	}
	return usdText(value)
}

// usdText is a value with cents; one that is not nothing is never told as nothing.
func usdText(value float64) string {
	if value > 0 && value < 0.01 {
		return "under $0.01"
	}
	return "$" + groupedNumber(json.Number(fmt.Sprintf("%.2f", value)))
}
