package pages

import (
	"encoding/json"
	"math"
	"math/big"
	"time"
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
	Token tokenView
	Cells []ageCell // of each bucket, and of what was not looked up where there is such
	All   ageCell
}

type ageCell struct {
	Name   string // of the bucket
	Orders int
	USD    string
}

// worthSum adds up what amounts are worth, some of which are not known.
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
	switch {
	case s.orders == 0:
		return ""
	case s.known == nil:
		return "no price"
	}
	value, _ := s.known.Float64()
	if s.unpriced > 0 {
		return "at least " + usdText(value)
	}
	return usdText(value)
}

func (s *worthSum) cell(name string) ageCell { return ageCell{name, s.orders, s.text()} }

// ratOf is nil for a number that is not there.
func ratOf(n json.Number) *big.Rat {
	value, is := new(big.Rat).SetString(n.String())
	if !is {
		return nil
	}
	return value
}

// ageOf is the bucket of what waits since a time; the one after the last when that is not known.
func ageOf(since, now time.Time) int {
	if since.IsZero() {
		return len(ages)
	}
	for i, each := range ages {
		if now.Sub(since) < each.below {
			return i
		}
	}
	return len(ages) - 1
}

// ages tells the worth of what is locked by how long it waits.
func (p *Views) ages(chains []lockedJSON, l Locked) agesView {
	var v agesView
	var all [len(ages) + 1]worthSum
	var sum worthSum
	for _, c := range chains {
		for _, t := range c.LockedTokens {
			var row [len(ages) + 1]worthSum
			var total worthSum
			for _, d := range t.DstChainsLockedAmounts {
				for _, id := range d.OrdersToUnlock {
					of := l.Deliveries[id.Text]
					usd, at := t.worthOf(of), ageOf(of.At, l.Now)
					row[at].add(usd, 1)
					all[at].add(usd, 1)
					total.orders++
				}
			}
			total.add(ratOf(t.Amount), 0)
			sum.add(ratOf(t.Amount), total.orders)
			v.Rows = append(v.Rows, ageRow{
				p.ChainName(c.ChainID.chain()), p.token(c.ChainID.chain(), t.TokenAddress.Text, t.TokenMetadata), cellsOf(row[:]), total.cell("All"),
			})
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
	cells[len(ages)] = ageCell{"Not looked up", sums[len(ages)].orders, "–"} // nobody knows which part of the whole these are
	return cells
}

// worthOf is an order's part of what is locked of a token in USD; nil when it is not known.
func (t *lockedTokenJSON) worthOf(d Delivery) *big.Rat {
	usd, all := ratOf(t.Amount), ratOf(t.TokenAmount)
	units, is := whole(offerJSON{FinalAmount: named{d.Units}, tokenJSON: t.TokenMetadata})
	if usd == nil || all == nil || !is || all.Sign() == 0 {
		return nil
	}
	return units.Mul(units, usd.Quo(usd, all))
}
