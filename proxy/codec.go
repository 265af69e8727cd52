package proxy

import (
	"encoding/binary"
	"errors"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// What an answer begins with in the shared cache. Another encoding takes another version in package cache.
const (
	codedPages   = 'p'
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
				return appendFreshness(out, a.searched)
			}
		}
		return nil
	}
	out = append(out, codedPages)
	out = append(out, a.subject[:]...)
	out = appendFlag(out, a.settled)
	out = binary.AppendUvarint(out, uint64(max(a.took, 0)/time.Millisecond))
	for i := range a.pages {
		out = a.pages[i].encode(out)
	}
	return out
}

// encode appends what a page is made of; newAnswer makes the rest of it again.
func (p *page) encode(out []byte) []byte {
	out = appendText(out, p.body)
	out = appendText(out, firstOf(p.link))
	out = appendFlag(out, p.final)
	out = binary.AppendUvarint(out, uint64(len(p.orders)))
	for _, id := range p.orders {
		out = append(out, id[:]...)
	}
	out = appendChains(out, p.chains)
	out = appendChains(out, p.unread)
	out = appendFreshness(out, p.freshness)
	out = appendTime(out, p.quoted)
	return appendTime(out, p.expires)
}

func appendText(out []byte, text string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}

func appendChains(out []byte, ids []chain.ID) []byte {
	out = binary.AppendUvarint(out, uint64(len(ids)))
	for _, id := range ids {
		out = binary.AppendUvarint(out, uint64(id))
	}
	return out
}

func appendFlag(out []byte, is bool) []byte {
	if is {
		return append(out, 1)
	}
	return append(out, 0)
}

// appendTime writes milliseconds, zero for no time.
func appendTime(out []byte, at time.Time) []byte {
	if at.IsZero() {
		return binary.AppendUvarint(out, 0)
	}
	return binary.AppendUvarint(out, uint64(max(at.UnixMilli(), 0)))
}

func appendFreshness(out []byte, f freshness) []byte {
	for _, value := range [][]string{f.head, f.lag, f.behind} {
		out = appendText(out, firstOf(value))
	}
	return out
}

// firstOf is the value of a header that has one at most.
func firstOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// decode reads what another replica has written, and loaded so long ago.
func (s *Server) decode(text []byte, life cache.Life, age time.Duration) (answer, error) {
	a, err := decodeAnswer(text, life)
	a.heads = s.heads.at(time.Now().Add(-age - a.took))
	return a, err
}

// decodeAnswer reads what encodeAnswer wrote.
func decodeAnswer(text []byte, life cache.Life) (answer, error) {
	r := &answerReader{rest: text}
	switch r.byte() {
	case codedProblem:
		return r.problem()
	case codedPages:
	default:
		return answer{}, errMalformedAnswer
	}
	var subject cache.Key
	copy(subject[:], r.bytes(len(subject)))
	settled, took := r.flag(), r.span()
	var pages []page
	for len(r.rest) > 0 {
		pages = append(pages, r.page())
	}
	if r.failed || len(pages) == 0 {
		return answer{}, errMalformedAnswer
	}
	made := newAnswer(pages, life)
	made.subject, made.settled, made.took = subject, settled, took
	return made, nil
}

// answerReader reads bytes that may come from anybody. After the first that cannot be read there is nothing more.
type answerReader struct {
	rest   []byte
	failed bool
}

func (r *answerReader) problem() (answer, error) {
	at, message := int(r.byte()), r.text()
	var subject cache.Key
	copy(subject[:], r.bytes(len(subject)))
	searched := r.freshness()
	if r.failed || len(r.rest) > 0 || at >= len(commonProblems) {
		return answer{}, errMalformedAnswer
	}
	return answer{problem: commonProblems[at].because(message), searched: searched, subject: subject}, nil
}

func (r *answerReader) page() page {
	p := page{body: r.text(), link: r.header(), final: r.flag()}
	for range r.count(len(order.ID{})) {
		p.orders = append(p.orders, order.ID(r.bytes(len(order.ID{}))))
	}
	p.chains, p.unread = r.chains(), r.chains()
	p.freshness = r.freshness()
	p.quoted, p.expires = r.time(), r.time()
	return p
}

func (r *answerReader) chains() (ids []chain.ID) {
	for range r.count(1) {
		ids = append(ids, chain.ID(r.number()))
	}
	return ids
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

func (r *answerReader) flag() bool {
	flag := r.byte()
	r.failed = r.failed || flag > 1
	return flag == 1
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

// span is a time of whole milliseconds, an hour at most.
func (r *answerReader) span() time.Duration {
	milliseconds := r.number()
	r.failed = r.failed || milliseconds > uint64(time.Hour/time.Millisecond)
	return time.Duration(milliseconds%uint64(time.Hour/time.Millisecond+1)) * time.Millisecond
}

func (r *answerReader) time() time.Time {
	if milliseconds := r.number(); milliseconds > 0 {
		return time.UnixMilli(int64(milliseconds))
	}
	return time.Time{}
}

func (r *answerReader) freshness() freshness {
	return freshness{head: r.header(), lag: r.header(), behind: r.header()}
}
