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

// subject identifies a set of rows that are counted together.
type subject int64

// Kinds of subjects. The lower bits hold the referral code or the token's number.
const (
	ofAll subject = iota << 33
	ofReferral
	ofGiven
	ofTaken
	ofValues
	ofPairs subject = 1 << 62 // pairs of tokens; the give token's number is shifted by pairBits
)

const pairBits = 31

// bucketOf returns the bucket that an amount is counted in, a range of amounts.
func bucketOf(a chain.Amount) int64 {
	raw := a.AppendTo(nil)
	if len(raw) == 0 {
		return 0
	}
	first := binary.BigEndian.Uint16(append(raw, 0)) // includes the second bit
	width := bits.Len8(raw[0])
	return int64(2*(8*(len(raw)-1)+width)) + int64(first>>(width+6)&1)
}

// leastIn returns the smallest amount in a bucket, which must not be empty.
func leastIn(bucket int64) chain.Amount {
	n := new(big.Int).Lsh(big.NewInt(2+bucket%2), uint(bucket/2))
	a, _ := chain.AmountFromBig(n.Rsh(n, 2))
	return a
}

// lastBefore returns the largest amount in the buckets before one; nil: unbounded.
func lastBefore(bucket int64) *chain.Amount {
	for ; bucket < 2*257; bucket++ {
		if least := leastIn(bucket); bucketOf(least) == bucket {
			return new(least.Sub(chain.NewAmount(1)))
		}
	}
	return nil
}

// counted is the key of a row in listed_counts.
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

// countRows returns the arguments of insertCount, sorted: followers of two chains may count some of the same rows.
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

// counting is the subject in listed_counts for rows of a filter, as SQL and its arguments.
type counting struct {
	subject string
	of      []any
	amounts Amounts              // the filter's range of the subject's amounts, if it has any
	within  func(Amounts) Filter // returns the filter with another range
}

const ofAllRows = "0"

// isRange reports whether the filter limits the amounts.
func (c counting) isRange() bool { return c.amounts != Amounts{} }

// countings returns the subjects for the filter's members, or that of all rows.
func (f Filter) countings() (all []counting) {
	ranged := func(subject string, of any, amounts func(*Filter) *Amounts) counting {
		return counting{subject, []any{of}, *amounts(&f), func(a Amounts) Filter {
			narrowed := f
			*amounts(&narrowed) = a
			return narrowed
		}}
	}
	for side, token := range f.tokens() {
		if !token.IsAbsent() {
			number := fmt.Sprint(int64([...]subject{ofGiven, ofTaken}[side]), " + ", store.AddressNumber)
			all = append(all, ranged(number, token.Bytes(), func(f *Filter) *Amounts { return []*Amounts{&f.Given, &f.Taken}[side] }))
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
		all = append(all, ranged("%s", int64(ofValues), func(f *Filter) *Amounts { return &f.USD }))
	}
	if len(all) == 0 {
		all = append(all, counting{subject: ofAllRows})
	}
	return all
}
