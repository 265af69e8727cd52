package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"crossgate/cache"
	"crossgate/order"
)

// sharedAnswer is an answer as stored in the shared cache: one line of JSON, followed by the concatenated texts of its
// bodies. Changing the encoding requires a new version in package cache.
type sharedAnswer struct {
	Made     time.Time // by the clock of the replica that made it
	Subject  cache.Key
	Bodies   []Body
	Lengths  []int  // of the bodies' texts, in bytes
	Problem  string `json:",omitempty"` // id of one of commonProblems; empty if there are bodies
	Message  string
	Orders   []order.ID `json:",omitempty"` // of the problem
	Searched order.Basis
}

var errMalformedAnswer = errors.New("malformed shared answer")

// commonProblems are the same on every replica. An unknown order id is not: another may know it (orders.ByID).
var commonProblems = map[string]Kind{UnknownTx.ID: UnknownTx, TxWithoutOrder.ID: TxWithoutOrder}

// encodeAnswer encodes an answer for other replicas, or returns nil if it is not to be shared.
func encodeAnswer(a answer) []byte {
	shared := sharedAnswer{Made: a.Made, Subject: a.subject, Bodies: a.Bodies, Searched: a.Searched}
	var texts []byte
	for _, b := range a.Bodies {
		shared.Lengths = append(shared.Lengths, len(b.Text))
		texts = append(texts, b.Text...)
	}
	if a.problem != nil {
		if _, isCommon := commonProblems[a.problem.ID]; !isCommon {
			return nil
		}
		shared.Bodies, shared.Problem, shared.Message, shared.Orders = nil, a.problem.ID, a.problem.message, a.problem.Orders
	}
	head, err := json.Marshal(shared)
	if err != nil {
		return nil // a time beyond the calendar
	}
	return append(append(head, '\n'), texts...)
}

// decode decodes another replica's answer, given its age. Whether it holds depends on this replica's index.
func (s *Server) decode(text []byte, life cache.Life, age time.Duration) (answer, error) {
	a, err := decodeAnswer(text, life, time.Now().Add(-age))
	if a.subject == (cache.Key{}) {
		return a, err
	}
	now := s.Options.Index().Basis()
	for i := range a.Bodies {
		a.Bodies[i].Basis = a.Bodies[i].Basis.On(now)
	}
	return a, err
}

// decodeAnswer decodes an answer that encodeAnswer, or any other client of the shared cache, wrote.
func decodeAnswer(text []byte, life cache.Life, made time.Time) (answer, error) {
	head, texts, _ := bytes.Cut(text, []byte("\n"))
	var shared sharedAnswer
	if err := json.Unmarshal(head, &shared); err != nil {
		return answer{}, errMalformedAnswer
	}
	if shared.Problem != "" {
		known, isCommon := commonProblems[shared.Problem]
		if !isCommon || len(shared.Bodies) > 0 || len(texts) > 0 {
			return answer{}, errMalformedAnswer
		}
		p, searched := known.Because(shared.Message), moved(shared.Searched, shared.Made, made)
		p.Orders = shared.Orders
		return answer{
			problem: p, Searched: searched, freshness: freshnessOf(searched, made),
			subject: shared.Subject, Made: made,
		}, nil
	}
	if len(shared.Bodies) == 0 || len(shared.Bodies) != len(shared.Lengths) {
		return answer{}, errMalformedAnswer
	}
	for i, length := range shared.Lengths {
		if length < 0 || length > len(texts) {
			return answer{}, errMalformedAnswer
		}
		b := &shared.Bodies[i]
		b.Text, b.Basis, texts = string(texts[:length]), moved(b.Basis, shared.Made, made), texts[length:]
		b.Quoted = movedTime(b.Quoted, shared.Made, made)
	}
	if len(texts) > 0 {
		return answer{}, errMalformedAnswer
	}
	a := newAnswer(shared.Bodies, life, made)
	a.subject = shared.Subject
	return a, nil
}

const century = 100 * 365 * 24 * time.Hour // more than any lag, and twice that does not overflow

// moved translates a basis from another replica's clock, by which its answer was made then, to this one's.
func moved(b order.Basis, then, now time.Time) order.Basis {
	b.At, b.Behind = movedTime(b.At, then, now), min(max(b.Behind, 0), century)
	for i := range b.Chains {
		c := &b.Chains[i]
		c.Level, c.Epoch = movedTime(c.Level, then, now), nil
	}
	return b
}

// movedTime translates a time, zero if unknown, likewise.
func movedTime(at, then, now time.Time) time.Time {
	if at.IsZero() {
		return time.Time{}
	}
	return now.Add(-min(max(then.Sub(at), 0), century))
}
