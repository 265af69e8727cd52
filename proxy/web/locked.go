package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Locked is the content of a taker's page.
type Locked struct {
	Taker     string
	Answer    []byte               // JSON; nil: only the form is shown
	Gaps      []Gap                // chains that the answer does not have all deliveries and payments of
	Delivered map[string]time.Time // by order id, of those whose delivery was loaded
	Path      string
	Origin    string
	Now       time.Time
}

type lockedView struct {
	Locked
	Total  string // USD
	Orders int
	Chains []lockedChain
	JSON   string
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

type lockedTarget struct {
	Chain  string
	Amount string
	USD    string
	Orders []lockedOrder
}

type lockedOrder struct {
	ID        string
	Delivered time.Time
	Waits     string
}

// Locked writes the page of a taker's locked assets, or the form that leads to one.
func (p *Pages) Locked(to io.Writer, l Locked) error {
	v := lockedView{Locked: l}
	if l.Answer != nil {
		chains, err := decode[[]lockedJSON](l.Answer)
		if err != nil {
			return err
		}
		v.JSON = indented(l.Answer)
		var total float64
		var isPriced bool
		for _, c := range chains {
			shown := lockedChain{Name: p.chainName(c.ChainID.chain())}
			for i := range c.LockedTokens {
				t := p.lockedToken(l, c, i)
				shown.Tokens = append(shown.Tokens, t)
				v.Orders += t.Orders
				if usd, err := c.LockedTokens[i].Amount.Float64(); err == nil {
					total, isPriced = total+usd, true
				}
			}
			v.Chains = append(v.Chains, shown)
		}
		if isPriced {
			v.Total = usdText(total)
		}
	}
	return p.write(to, "locked", view{Title: "Locked assets", At: "locked", Now: l.Now, Page: v})
}

func (p *Pages) lockedToken(l Locked, c lockedJSON, at int) lockedToken {
	t := c.LockedTokens[at]
	shown := lockedToken{
		Token:  p.token(c.ChainID.chain(), t.TokenAddress.Text, t.TokenMetadata),
		Amount: groupedNumber(t.TokenAmount), USD: usdOf(t.Amount),
	}
	var oldest time.Time
	for _, d := range t.DstChainsLockedAmounts {
		target := lockedTarget{
			Chain:  p.chainName(d.TargetChainID.chain()),
			Amount: groupedNumber(d.DstChainTokenAmount), USD: usdOf(d.DstChainAmount),
		}
		for _, id := range d.OrdersToUnlock {
			o := lockedOrder{ID: id.Text, Delivered: l.Delivered[id.Text]}
			if !o.Delivered.IsZero() {
				o.Waits = lasting(l.Now.Sub(o.Delivered))
				if oldest.IsZero() || o.Delivered.Before(oldest) {
					oldest = o.Delivered
				}
			}
			target.Orders = append(target.Orders, o)
		}
		slices.SortStableFunc(target.Orders, func(a, b lockedOrder) int {
			return cmp.Compare(unixOrLast(a.Delivered), unixOrLast(b.Delivered))
		})
		shown.Orders += len(target.Orders)
		shown.Targets = append(shown.Targets, target)
	}
	if !oldest.IsZero() {
		shown.Longest = lasting(l.Now.Sub(oldest))
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
	return joined(grouped(whole), fraction)
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
		return "below $0.01"
	}
	return "$" + groupedNumber(json.Number(fmt.Sprintf("%.2f", value)))
}
