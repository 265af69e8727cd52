package list

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"

	"crossgate/chain"
	"crossgate/store"
)

// subject has rows that are counted.
type subject int64

// Kinds of subjects. In the lower bits are the referral code or the number of the token.
const (
	ofAll subject = iota << 33
	ofReferral
	ofGiven
	ofTaken
	ofValues
	ofPairs subject = 1 << 62 // of tokens: the number of that given is pairBits up
)

const pairBits = 31

// bucketOf is the range of amounts that one is counted in.
func bucketOf(a chain.Amount) int64 {
	raw := a.AppendTo(nil)
	if len(raw) == 0 {
		return 0
	}
	first := binary.BigEndian.Uint16(append(raw, 0)) // with the second bit
	width := bits.Len8(raw[0])
	return int64(2*(8*(len(raw)-1)+width)) + int64(first>>(width+6)&1)
}

// leastIn is the least amount of a bucket that an amount is in.
func leastIn(bucket int64) chain.Amount {
	n := new(big.Int).Lsh(big.NewInt(2+bucket%2), uint(bucket/2))
	a, _ := chain.AmountFromBig(n.Rsh(n, 2))
	return a
}

// lastBefore is the greatest amount in the buckets before one; nil: any.
func lastBefore(bucket int64) *chain.Amount {
	for ; bucket < 2*257; bucket++ {
		if least := leastIn(bucket); bucketOf(least) == bucket {
			return new(least.Sub(chain.NewAmount(1)))
		}
	}
	return nil
}

// counted is the key of a row of listed_counts.
type counted struct {
	subject      subject
	period, cell int64
}

func (c *change) count(r *Row, by int64) {
	t, period := &r.terms, r.terms.at/periodSeconds
	c.counts[counted{ofAll, period, r.cell}] += by
	c.counts[counted{ofReferral + subject(t.referral), period, r.cell}] += by
	for side, of := range [...]subject{ofGiven, ofTaken} {
		if number := subject(t.tokens[side]); number > 0 {
			c.counts[counted{of + number, period, r.cell}] += by
			c.counts[counted{of + number, -1 - bucketOf(chain.AmountFromBytes([]byte(t.amounts[side][1:]))), r.cell}] += by
		}
	}
	if t.tokens[0] > 0 && t.tokens[1] > 0 {
		c.counts[counted{ofPairs + subject(t.tokens[0]<<pairBits+t.tokens[1]), period, r.cell}] += by
	}
	c.countValue(r, by)
}

func (c *change) countValue(r *Row, by int64) {
	if r.usd != unvalued {
		c.counts[counted{ofValues, -1 - bucketOf(chain.NewAmount(uint64(r.usd))), r.cell}] += by
	}
}

// countRows are the arguments of insertCount, in one sequence: followers of two chains count some of the same rows.
func (c *change) countRows() (rows [][]any) {
	changed := slices.SortedFunc(maps.Keys(c.counts), func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.subject, b.subject), cmp.Compare(a.period, b.period), cmp.Compare(a.cell, b.cell))
	})
	for _, in := range changed {
		if by := c.counts[in]; by != 0 {
			rows = append(rows, []any{int64(in.subject), in.period, in.cell, by})
		}
	}
	return rows
}

// counting is the subject of listed_counts that a filter's rows are, as SQL and its arguments.
type counting struct {
	subject string
	of      []any
	amounts *Amounts             // of a subject with amounts
	within  func(Amounts) Filter // the filter with others
}

const ofAllRows = "0"

// isRange reports whether only some amounts are asked for.
func (c counting) isRange() bool { return c.amounts != nil && *c.amounts != (Amounts{}) }

// countings are the subjects that the filter names, or all rows.
func (f Filter) countings() (all []counting) {
	for side, token := range f.tokens() {
		if !token.IsAbsent() {
			all = append(all, counting{
				fmt.Sprint(int64([...]subject{ofGiven, ofTaken}[side]), " + ", store.AddressNumber),
				[]any{token.Bytes()},
				[]*Amounts{&f.Given, &f.Taken}[side],
				func(a Amounts) Filter {
					narrowed := f
					*[]*Amounts{&narrowed.Given, &narrowed.Taken}[side] = a
					return narrowed
				},
			})
		}
	}
	if len(all) == 2 && !all[0].isRange() && !all[1].isRange() {
		pair := fmt.Sprint(int64(ofPairs), " + ", 1<<pairBits, " * ", store.AddressNumber, " + ", store.AddressNumber)
		all = []counting{{subject: pair, of: append(all[0].of, all[1].of...)}}
	}
	if f.ReferralCode != nil {
		all = append(all, counting{subject: "%s", of: []any{int64(ofReferral) + int64(*f.ReferralCode)}})
	}
	if f.isValued() {
		all = append(all, counting{"%s", []any{int64(ofValues)}, f.USD.amounts(), func(a Amounts) Filter {
			narrowed := f
			narrowed.USD = USD{micros(a.From), micros(a.To)}
			return narrowed
		}})
	}
	if len(all) == 0 {
		all = append(all, counting{subject: ofAllRows})
	}
	return all
}

// amounts are the range as amounts.
func (u USD) amounts() *Amounts {
	amount := func(micros *int64) *chain.Amount {
		if micros == nil {
			return nil
		}
		return new(chain.NewAmount(uint64(max(*micros, 0))))
	}
	return &Amounts{amount(u.From), amount(u.To)}
}

// micros is an amount that is a value; nil: none.
func micros(a *chain.Amount) *int64 {
	if a == nil {
		return nil
	}
	n, _ := a.Uint64() // as no more was asked for
	return new(int64(n))
}
