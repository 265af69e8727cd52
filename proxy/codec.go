package proxy

import (
	"encoding/binary"
	"errors"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
)

// What an answer begins with in the shared cache. Another encoding takes another version in package cache.
const (
	codedBodies  = 'p'
	codedProblem = 'e'
)

var errMalformedAnswer = errors.New("no answer as it is encoded here")

// commonProblems are those that say the same on every replica. What a replica does not find by an order's id another
// one may know (creations).
var commonProblems = []kind{unknownTx, txWithoutOrder}

// encodeAnswer writes an answer for other replicas; nothing when it is not for them.
func encodeAnswer(a answer) []byte {
	out := make([]byte, 0, a.cost())
	if a.problem != nil {
		for i, k := range commonProblems {
			if a.problem.id == k.id {
				out = append(out, codedProblem, byte(i))
				out = appendText(out, a.problem.message)
				out = append(out, a.subject[:]...)
				return a.appendBasis(out, a.searched)
			}
		}
		return nil
	}
	out = append(out, codedBodies)
	out = append(out, a.subject[:]...)
	for i := range a.bodies {
		out = a.appendBody(out, &a.bodies[i])
	}
	return out
}

// appendBody writes what a body is made of; newAnswer makes the rest of it again.
func (a *answer) appendBody(out []byte, b *jsonBody) []byte {
	out = appendText(out, b.text)
	out = appendText(out, firstOf(b.link))
	out = appendFlags(out, b.final)
	out = binary.AppendUvarint(out, uint64(len(b.orders)))
	for _, id := range b.orders {
		out = append(out, id[:]...)
	}
	out = a.appendBasis(out, b.basis)
	out = appendTime(out, b.quoted)
	return appendTime(out, b.expires)
}

// appendBasis writes times as their distance from the time when the answer was made: clocks of replicas differ.
func (a *answer) appendBasis(out []byte, b index.Basis) []byte {
	out = appendFlags(out, b.All)
	out = appendSpan(out, b.Behind)
	out = binary.AppendUvarint(out, uint64(len(b.Chains)))
	if len(b.Chains) == 0 {
		return out
	}
	out = appendSpan(out, a.made.Sub(b.At))
	for i := range b.Chains {
		c := &b.Chains[i]
		out = appendFlags(out, c.Followed, c.HasBegun(), c.Final, c.Unread)
		for _, number := range []uint64{uint64(c.Chain), c.Head, c.Indexed, c.IndexedTime} {
			out = binary.AppendUvarint(out, number)
		}
		out = append(out, c.Hash[:]...)
		if c.HasBegun() {
			out = appendSpan(out, c.By(b.At))
		}
	}
	return out
}

func appendText(out []byte, text string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}

// appendFlags writes at most eight flags as one byte, the first as its lowest bit.
func appendFlags(out []byte, flags ...bool) []byte {
	var bits byte
	for i, is := range flags {
		if is {
			bits |= 1 << i
		}
	}
	return append(out, bits)
}

func appendSpan(out []byte, span time.Duration) []byte {
	return binary.AppendUvarint(out, uint64(max(span, 0)))
}

// appendTime writes milliseconds, zero for no time.
func appendTime(out []byte, at time.Time) []byte {
	if at.IsZero() {
		return binary.AppendUvarint(out, 0)
	}
	return binary.AppendUvarint(out, uint64(max(at.UnixMilli(), 0)))
}

// firstOf is the value of a header that has one at most.
func firstOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// decode reads what another replica wrote, of the age it has now. Whether it holds depends on what this one knows.
func (s *Server) decode(text []byte, life cache.Life, age time.Duration) (answer, error) {
	a, err := decodeAnswer(text, life, time.Now().Add(-age))
	if a.subject == (cache.Key{}) {
		return a, err
	}
	now := s.options.Orders.Basis()
	for i := range a.bodies {
		a.bodies[i].basis = a.bodies[i].basis.On(now)
	}
	return a, err
}

// decodeAnswer reads what encodeAnswer wrote.
func decodeAnswer(text []byte, life cache.Life, made time.Time) (answer, error) {
	r := &answerReader{rest: text, made: made}
	switch r.byte() {
	case codedProblem:
		return r.problem()
	case codedBodies:
	default:
		return answer{}, errMalformedAnswer
	}
	var subject cache.Key
	copy(subject[:], r.bytes(len(subject)))
	var bodies []jsonBody
	for len(r.rest) > 0 {
		bodies = append(bodies, r.jsonBody())
	}
	if r.failed || len(bodies) == 0 {
		return answer{}, errMalformedAnswer
	}
	a := newAnswer(bodies, life, made)
	a.subject = subject
	return a, nil
}

// answerReader reads bytes that may come from anybody. After the first that cannot be read there is nothing more.
type answerReader struct {
	rest   []byte
	failed bool
	made   time.Time // the answer
}

func (r *answerReader) problem() (answer, error) {
	at, message := int(r.byte()), r.text()
	var subject cache.Key
	copy(subject[:], r.bytes(len(subject)))
	searched := r.basis()
	if r.failed || len(r.rest) > 0 || at >= len(commonProblems) {
		return answer{}, errMalformedAnswer
	}
	a := answer{problem: commonProblems[at].because(message), searched: searched, subject: subject, made: r.made}
	a.freshness = freshnessOf(searched, r.made)
	return a, nil
}

func (r *answerReader) jsonBody() jsonBody {
	b := jsonBody{text: r.text(), link: r.header(), final: r.flags(1)[0]}
	for range r.count(len(order.ID{})) {
		b.orders = append(b.orders, order.ID(r.bytes(len(order.ID{}))))
	}
	b.basis = r.basis()
	b.quoted, b.expires = r.time(), r.time()
	return b
}

func (r *answerReader) basis() index.Basis {
	b := index.Basis{All: r.flags(1)[0], Behind: r.span()}
	chains := r.count(len(chain.Hash{}))
	if chains == 0 {
		return b
	}
	b.At = r.made.Add(-r.span())
	for range chains {
		flags := r.flags(4)
		c := index.ChainBasis{Followed: flags[0], Final: flags[2], Unread: flags[3], Chain: chain.ID(r.number())}
		c.Head, c.Indexed, c.IndexedTime = r.number(), r.number(), r.number()
		c.Hash = chain.Hash(r.bytes(len(c.Hash)))
		if hasBegun := flags[1]; hasBegun {
			c.Level = b.At.Add(-r.span())
		} else {
			c.IndexedTime = 0
		}
		b.Chains = append(b.Chains, c)
	}
	return b
}

// bytes returns the next n, zeros where there are less.
func (r *answerReader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.failed, r.rest = true, nil
		return make([]byte, n)
	}
	cut := r.rest[:n]
	r.rest = r.rest[n:]
	return cut
}

func (r *answerReader) byte() byte { return r.bytes(1)[0] }

// flags returns so many of one byte.
func (r *answerReader) flags(count int) (flags [8]bool) {
	bits := r.byte()
	r.failed = r.failed || bits>>count != 0
	for i := range flags {
		flags[i] = bits>>i&1 == 1
	}
	return flags
}

func (r *answerReader) number() uint64 {
	number, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return number
}

// count is a number of things of size bytes at least, of which there cannot be more than bytes.
func (r *answerReader) count(size int) int {
	number := r.number()
	if number > uint64(len(r.rest)/size) {
		r.failed, r.rest = true, nil
		return 0
	}
	return int(number)
}

func (r *answerReader) text() string { return string(r.bytes(r.count(1))) }

// header is what firstOf had one of.
func (r *answerReader) header() []string {
	if text := r.text(); text != "" {
		return []string{text}
	}
	return nil
}

func (r *answerReader) span() time.Duration {
	const century = 100 * 365 * 24 * time.Hour // more than any lag, and twice as much is no overflow
	span := r.number()
	r.failed = r.failed || span > uint64(century)
	return time.Duration(min(span, uint64(century)))
}

func (r *answerReader) time() time.Time {
	if milliseconds := r.number(); milliseconds > 0 {
		return time.UnixMilli(int64(milliseconds))
	}
	return time.Time{}
}
