package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"crossgate/chain"
)

// Encoder appends responses to a buffer. Chains determine the text form of addresses and hashes by their family.
type Encoder struct{ Chains chain.Registry }

type writer struct {
	json   []byte
	chains chain.Registry
}

func (e Encoder) object(dst []byte, members func(*writer)) []byte {
	w := &writer{json: dst, chains: e.Chains}
	w.object(func() { members(w) })
	return w.json
}

func list[V any](w *writer, values []V, element func(V)) {
	w.open('[')
	for i, value := range values {
		if i > 0 {
			w.json = append(w.json, ',')
		}
		element(value)
	}
	w.close(']')
}

func objects[V any](w *writer, values []V, members func(V)) {
	list(w, values, func(value V) { w.object(func() { members(value) }) })
}

func (w *writer) open(bracket byte)  { w.json = append(w.json, bracket) }
func (w *writer) close(bracket byte) { w.json = append(w.json, bracket) }

// name begins a member, with a comma unless it is the first. Names need no escaping.
func (w *writer) name(member string) *writer {
	json := w.json
	if json[len(json)-1] != '{' {
		json = append(json, ',')
	}
	json = append(json, '"')
	json = append(json, member...)
	w.json = append(json, '"', ':')
	return w
}

func (w *writer) null() { w.json = append(w.json, "null"...) }

// orNull writes null for nil, and otherwise calls write with the value.
func orNull[V any](w *writer, value *V, write func(V)) {
	w.unless(value == nil, func() { write(*value) })
}

// unless calls write, or writes null if there is nothing to be written.
func (w *writer) unless(isAbsent bool, write func()) {
	if isAbsent {
		w.null()
		return
	}
	write()
}

func (w *writer) object(members func()) {
	w.open('{')
	members()
	w.close('}')
}

func (w *writer) bool(is bool) { w.json = strconv.AppendBool(w.json, is) }

func (w *writer) uint(n uint64) { w.json = strconv.AppendUint(w.json, n, 10) }

// plain writes a string that needs no escaping: digits, hex, base58, base64, words of the gateway.
func (w *writer) plain(text string) {
	json := append(w.json, '"')
	json = append(json, text...)
	w.json = append(json, '"')
}

// text writes a string from outside. Invalid UTF-8 becomes the replacement character.
func (w *writer) text(s string) {
	isEscaped := func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf || r == '"' || r == '\\' }
	if !strings.ContainsFunc(s, isEscaped) {
		w.plain(s)
		return
	}
	rest := bytes.NewBuffer(w.json)
	encoder := json.NewEncoder(rest)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string never fails
	w.json = bytes.TrimSuffix(rest.Bytes(), []byte("\n"))
}

// number writes a percentage or another plain number.
func (w *writer) number(n float64) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		n = 0
	}
	w.json = strconv.AppendFloat(w.json, n, 'f', -1, 64)
}

// usd writes a USD value rounded to six decimals, like the hosted service.
func (w *writer) usd(n float64) {
	const scale = 1e6
	if rounded := math.Round(n*scale) / scale; !math.IsInf(rounded, 0) {
		n = rounded
	}
	if n == 0 {
		n = 0 // not -0
	}
	w.number(n)
}

// Problem is an error response.
type Problem struct {
	Code      int    // errorCode
	ID        string // errorId, for programs
	Message   string // for people
	RequestID string // reqId
}

// AppendProblem appends an error body, with the message under the names of both APIs.
func AppendProblem(dst []byte, p Problem) []byte {
	return Encoder{}.object(dst, func(w *writer) {
		w.name("errorCode").uint(uint64(p.Code))
		w.name("errorId").plain(p.ID)
		w.name("message").text(p.Message)
		w.name("errorMessage").text(p.Message)
		w.name("reqId").plain(p.RequestID)
	})
}
