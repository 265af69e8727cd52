package pages

import (
	"math"
	"math/big"
	"time"

	"crossgate/token"
)

// ages are the buckets by which the page of a taker shows for how long deliveries wait.
var ages = [...]struct {
	name  string
	below time.Duration
}{
	{"Under 1 hour", time.Hour}, {"Under 1 day", 24 * time.Hour}, {"Under 7 days", 7 * 24 * time.Hour}, {"Older", math.MaxInt64},
}

// agesView is the table of ages, a row for each chain and token, and one of all.
type agesView struct {
	Rows []ageRow
	All  ageRow
}

type ageRow struct {
	Chain string
	Token TokenView
	Cells []ageCell // of each bucket, and of orders that were not looked up, if any
	All   ageCell
}

type ageCell struct {
	Name   string // of the bucket
	Orders int
	USD    string
}

// worthSum adds up values of amounts, known ones and others.
type worthSum struct {
	orders, unpriced int
	known            *big.Rat // USD; nil: none is known
}

func (s *worthSum) add(usd *big.Rat, orders int) {
	s.orders += orders
	if usd == nil {
		s.unpriced += orders
		return
	}
	if s.known == nil {
		s.known = new(big.Rat)
	}
	s.known.Add(s.known, usd)
}

func (s *worthSum) text() string {
	if s.orders == 0 {
		return ""
	}
	return sumText(s.known, s.unpriced > 0)
}

func (s *worthSum) cell(name string) ageCell { return ageCell{name, s.orders, s.text()} }

// ageOf is the bucket of what waits since a time; the one after the last when that is not known.
func ageOf(since uint64, now time.Time) int {
	if since == 0 {
		return len(ages)
	}
	for i, each := range ages {
		if now.Sub(timeOf(since)) < each.below {
			return i
		}
	}
	return len(ages) - 1
}

// ages are the values of locked assets by their waiting time.
func (p *Views) ages(l Locked) agesView {
	var v agesView
	var all [len(ages) + 1]worthSum
	var sum worthSum
	for _, c := range l.Answer.Chains {
		for _, t := range c.Tokens {
			var row [len(ages) + 1]worthSum
			var total worthSum
			for _, d := range t.Targets {
				for _, id := range d.Orders {
					usd, at := l.worthOfOrder(c.Chain, t.Token, id), ageOf(l.Deliveries[id].At, l.Now)
					row[at].add(usd, 1)
					all[at].add(usd, 1)
					total.orders++
				}
			}
			worth := l.worthOf(c.Chain, t.Token, t.Amount)
			total.add(worth, 0)
			sum.add(worth, total.orders)
			metadata := l.Answer.Tokens[token.Key{Chain: c.Chain, Address: t.Token}]
			v.Rows = append(v.Rows, ageRow{p.ChainName(c.Chain), p.tokenOf(c.Chain, t.Token, metadata), cellsOf(row[:]), total.cell("All")})
		}
	}
	v.All = ageRow{Cells: cellsOf(all[:]), All: sum.cell("All")}
	if all[len(ages)].orders > 0 {
		return v
	}
	for i := range v.Rows {
		v.Rows[i].Cells = v.Rows[i].Cells[:len(ages)]
	}
	v.All.Cells = v.All.Cells[:len(ages)]
	return v
}

func cellsOf(sums []worthSum) []ageCell {
	cells := make([]ageCell, len(sums))
	for i, each := range ages {
		cells[i] = sums[i].cell(each.name)
	}
	cells[len(ages)] = ageCell{"Not looked up", sums[len(ages)].orders, "–"} // their part of the whole is not known
	return cells
}
