package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
)

// form is the encoding of a kind of fact: its fields in sequence, numbers as varints.
type form struct {
	write func(*fields, order.Fact) (isOfKind bool)
	read  func(*fields) order.Fact
}

func formOf[F order.Fact](each func(*fields, *F)) form {
	return form{
		write: func(f *fields, fact order.Fact) bool {
			of, is := fact.(F)
			if is {
				each(f, &of)
			}
			return is
		},
		read: func(f *fields) order.Fact {
			var of F
			each(f, &of)
			return of
		},
	}
}

// forms are identified in databases by position, starting at 1: moving one or changing its fields needs a migration.
var forms = []form{
	formOf(func(f *fields, c *order.Created) {
		f.terms(&c.Terms)
		f.amount(&c.FixFee)
		f.amount(&c.PercentFee)
		number(f, &c.ReferralCode)
		optional(f, &c.Affiliate, func(a *order.Affiliate) {
			f.address(&a.Beneficiary)
			f.amount(&a.Amount)
		})
		f.text(&c.Metadata)
		optional(f, &c.Preswap, func(p *order.Preswap) {
			f.address(&p.TokenIn)
			f.address(&p.TokenOut)
			f.amount(&p.AmountIn)
			f.amount(&p.AmountOut)
		})
	}),
	formOf(func(f *fields, g *order.GiveIncreased) {
		f.amount(&g.Final)
		f.amount(&g.FinalPercentFee)
	}),
	formOf(func(f *fields, t *order.TakeDecreased) { f.amount(&t.Final) }),
	formOf(func(f *fields, d *order.Fulfilled) {
		f.terms(&d.Terms)
		optional(f, &d.ActualAmount, f.amount)
		f.address(&d.Taker)
		f.address(&d.UnlockAuthority)
	}),
	formOf(func(f *fields, s *order.Sent) {
		number(f, &s.Kind)
		f.address(&s.Beneficiary)
		f.hash(&s.Submission)
	}),
	formOf(func(f *fields, c *order.Claimed) {
		number(f, &c.Kind)
		f.address(&c.Beneficiary)
		f.amount(&c.Paid)
		f.hash(&c.Submission)
	}),
	formOf(func(*fields, *order.Cancelled) {}),
	formOf(func(f *fields, c *order.ExternalCall) {
		number(f, &c.Step)
		f.address(&c.By)
	}),
}

// encodeFact encodes a fact of an order whose terms and an address of the fact, party, are stored separately, so that
// it can refer to them; nil: they are not.
func encodeFact(fact order.Fact, terms, party []byte) (kind int, raw []byte) {
	f := fields{raw: make([]byte, 0, 256), shared: terms}
	f.note(party)
	for i, each := range forms {
		if each.write(&f, fact) {
			return i + 1, f.raw
		}
	}
	panic(fmt.Sprintf("index: fact %T has no kind", fact))
}

func decodeFact(kind int, raw, terms, party []byte) (order.Fact, error) {
	if kind < 1 || kind > len(forms) {
		return nil, fmt.Errorf("fact of unknown kind %d", kind)
	}
	f := fields{raw: raw, isRead: true, shared: terms}
	f.note(bytes.Clone(party)) // the row's buffer is reused
	fact := forms[kind-1].read(&f)
	if f.err == nil && len(f.raw) > 0 {
		f.err = fmt.Errorf("%d bytes too many", len(f.raw))
	}
	if f.err != nil {
		return nil, fmt.Errorf("decode a fact of kind %d: %w", kind, f.err)
	}
	return fact, nil
}

// fields encodes or decodes consecutive fields. A text that occurred before in the fact is encoded as its number: most
// addresses of an order are the maker's.
type fields struct {
	raw    []byte // encoded so far, or left to decode
	isRead bool
	shared []byte   // terms of the order that are stored separately
	texts  [][]byte // all non-empty texts so far
	err    error    // the first error; everything decoded after it is zero
}

var errShort = errors.New("it ends early")

func number[N ~uint | ~uint8 | ~uint32 | ~uint64](f *fields, n *N) {
	if !f.isRead {
		f.raw = binary.AppendUvarint(f.raw, uint64(*n))
		return
	}
	value, length := binary.Uvarint(f.raw)
	if length <= 0 || uint64(N(value)) != value {
		f.fail(errShort)
		return
	}
	f.raw, *n = f.raw[length:], N(value)
}

func (f *fields) fail(err error) {
	if f.err == nil {
		f.err = err
	}
	f.raw = nil
}

func optional[T any](f *fields, value **T, each func(*T)) {
	var is uint8
	if *value != nil {
		is = 1
	}
	if number(f, &is); is == 0 {
		return
	}
	if f.isRead {
		*value = new(T)
	}
	each(*value)
}

// text is bytes after a head: 0 for nil, 1 + 2n for the earlier text n, 2 + 2n for a new one of n bytes.
func (f *fields) text(b *[]byte) {
	if !f.isRead {
		f.write(*b)
		return
	}
	var head uint64
	number(f, &head)
	switch n := (head - 1) / 2; {
	case head == 0:
	case head%2 == 1 && n < uint64(len(f.texts)):
		*b = f.texts[n]
	case head%2 == 1 || n > uint64(len(f.raw)):
		f.fail(errShort)
	default:
		*b = append([]byte{}, f.raw[:n]...)
		f.raw = f.raw[n:]
		f.note(*b)
	}
}

func (f *fields) write(b []byte) {
	if b == nil {
		f.raw = append(f.raw, 0)
		return
	}
	for i, text := range f.texts {
		if string(text) == string(b) {
			f.raw = binary.AppendUvarint(f.raw, 1+2*uint64(i))
			return
		}
	}
	f.note(b)
	f.raw = append(binary.AppendUvarint(f.raw, 2+2*uint64(len(b))), b...)
}

func (f *fields) note(b []byte) {
	if len(b) > 0 {
		f.texts = append(f.texts, b)
	}
}

func (f *fields) address(a *chain.Address) {
	raw := a.Bytes()
	f.text(&raw)
	*a = chain.NewAddress(raw)
}

// hash is a text of 32 bytes, nil if absent.
func (f *fields) hash(h *chain.Hash) {
	var raw []byte
	if !h.IsAbsent() {
		raw = h[:]
	}
	f.text(&raw)
	if f.isRead && raw != nil && len(raw) != len(h) {
		f.fail(fmt.Errorf("a hash of %d bytes", len(raw)))
	} else if raw != nil {
		*h = chain.Hash(raw)
	}
}

// amount is a text of its big-endian bytes without leading zeros, nil for zero.
func (f *fields) amount(a *chain.Amount) {
	raw := a.AppendTo(nil)
	f.text(&raw)
	*a = chain.AmountFromBytes(raw)
}

// terms are a 0 if equal to the separately stored ones, else a 1 and their fields. Their texts are numbered first.
func (f *fields) terms(t *order.Terms) {
	isOwn, before := uint8(1), f.texts
	f.texts = nil
	defer func() { f.texts = append(f.texts, before...) }()
	if number(f, &isOwn); isOwn == 0 {
		rest := f.raw
		f.raw = f.shared
		if f.ownTerms(t); len(f.raw) > 0 {
			f.fail(errors.New("terms of another order"))
		}
		f.raw = rest
		return
	}
	begin := len(f.raw)
	if f.ownTerms(t); !f.isRead && len(f.shared) > 0 && bytes.Equal(f.raw[begin:], f.shared) {
		f.raw = append(f.raw[:begin-1], 0)
	}
}

func encodeTerms(t order.Terms) []byte {
	var f fields
	f.ownTerms(&t)
	return f.raw
}

// partyIn returns the address in a fact that is likely to recur in facts of many orders.
func partyIn(fact order.Fact) chain.Address {
	switch fact := fact.(type) {
	case order.Fulfilled:
		return fact.UnlockAuthority
	case order.Sent:
		return fact.Beneficiary
	case order.Claimed:
		return fact.Beneficiary
	}
	return chain.Address{}
}

// termsIn returns the terms in a fact, nil if it has none.
func termsIn(fact order.Fact) *order.Terms {
	switch fact := fact.(type) {
	case order.Created:
		return &fact.Terms
	case order.Fulfilled:
		return &fact.Terms
	}
	return nil
}

func (f *fields) ownTerms(t *order.Terms) {
	number(f, &t.Nonce)
	f.address(&t.Maker)
	for _, o := range []*order.Offer{&t.Give, &t.Take} {
		number(f, &o.Chain)
		f.address(&o.Token)
		f.amount(&o.Amount)
	}
	a := &t.Authorities
	for _, each := range []*chain.Address{&t.Receiver, &a.GivePatch, &a.Order, &a.AllowedTaker, &a.CancelBeneficiary} {
		f.address(each)
	}
	f.text(&t.ExternalCall)
	f.hash(&t.ExternalCallHash)
}
