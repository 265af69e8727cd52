package venue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"crossgate/chain"
	"crossgate/internal/rawjson"
	"crossgate/quote"
	"crossgate/upstream"
)

// maxAnswer is far above the size of a route, in bytes; recorded answers have 10 kB.
const maxAnswer = 2 << 20

// answerTemplate lists the places of an answer's parts. A place is member names joined by dots; a list counts as its
// only member. A part that an API does not have is empty, and not checked.
type answerTemplate struct {
	in    string // input that the answer is about
	out   string // output after every fee
	least string // minimum that the transaction enforces
	gas   string
	// spender may take an input token. In an answer with only a price it must also be a contract that is called.
	spender         string
	to, value, data string // the transaction
	message         string // the transaction on Solana
	signed          string // a route that the API wants back untouched
}

// refusals describe how an API refuses a request.
type refusals struct {
	state, fine string // a member of every answer, and its value if not refused; empty: only the HTTP status counts
	words       string // members with the reason, separated by spaces
	unrouted    *regexp.Regexp
	limited     *regexp.Regexp
	moved       *regexp.Regexp
	statuses    []int  // HTTP statuses that mean no route, whatever the words
	empty       string // a member that is null or empty without a route
}

// proposal is a venue's answer about a swap.
type proposal struct {
	out    chain.Amount
	gas    uint64
	least  *chain.Amount // nil: the answer does not say
	to     string
	value  chain.Amount
	data   string
	signed json.RawMessage
	route  any      // other parts of the venue's transaction
	tx     quote.Tx // once checked
}

// reply is an API's JSON. Its parts are decoded on access.
type reply []byte

func parseAnswer(body []byte) (reply, error) {
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("answer of %d bytes", len(body))
	}
	if json.Valid(body) {
		return body, nil
	}
	return nil, notDocumented("answer", json.Unmarshal(body, new(json.RawMessage)))
}

// notDocumented wraps an error of the JSON decoder, which quotes numbers of any length, in a short text.
func notDocumented(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s is not the documented JSON: %s", what, clean(err.Error()))
	}
	return nil
}

// at returns the value at a place, nil if that is absent or null.
func (a reply) at(place string) reply {
	value := a.raw(place).only()
	if string(value) == "null" {
		return nil
	}
	return value
}

func (a reply) raw(place string) reply {
	if place == "" {
		return nil
	}
	for name := range strings.SplitSeq(place, ".") {
		a = a.only().member(name)
	}
	return a
}

// member returns the value of an object's first member with a name.
func (a reply) member(name string) reply {
	left := rawjson.Text(a)
	for next := byte('{'); left.Take(next); next = ',' {
		found := left.Value()
		left.Take(':')
		if value := left.Value(); len(found) == len(name)+2 && string(found[1:len(found)-1]) == name {
			return value
		}
	}
	return nil
}

// only returns the single member of a list; any other value is returned as is.
func (a reply) only() reply {
	left := rawjson.Text(a)
	if left.Take('[') {
		if value := left.Value(); len(value) > 0 && left.Take(']') {
			return value
		}
	}
	return a
}

// members returns the members of a list, none for any other value.
func (a reply) members() (all []reply) {
	left := rawjson.Text(a)
	for next := byte('['); left.Take(next); next = ',' {
		if value := left.Value(); len(value) > 0 {
			all = append(all, value)
		}
	}
	return all
}

// text returns the text at a place, the texts of a list joined by spaces.
func (a reply) text(place string) string {
	value := a.at(place)
	if len(value) == 0 || value[0] != '[' {
		return value.unquote()
	}
	var texts []string
	for _, each := range value.members() {
		texts = append(texts, each.unquote())
	}
	return strings.Join(texts, " ")
}

// unquote decodes a JSON string; any other value is returned as written.
func (a reply) unquote() string { return string(a.unquoted()) }

// unquoted is unquote without a copy, if possible.
func (a reply) unquoted() []byte {
	if len(a) == 0 || a[0] != '"' {
		return a
	}
	if bytes.IndexByte(a, '\\') < 0 && utf8.Valid(a) {
		return a[1 : len(a)-1]
	}
	var text string
	_ = json.Unmarshal(a, &text)
	return []byte(text)
}

// number parses a whole number as venues write it: as a string or a number, in decimal or as 0x and hex digits.
func (a reply) number(place string) (chain.Amount, error) {
	text := a.at(place).unquoted()
	if len(text) == 0 {
		return chain.Amount{}, nil
	}
	if amount, err := chain.ParseQuantity(string(text)); err == nil {
		return amount, nil
	}
	return chain.Amount{}, fmt.Errorf("%s is %q, not a whole number", place, clean(string(text)))
}

// list returns the members of the list at a place, or the single value there.
func (a reply) list(place string) (all []reply) {
	value := a.at(place)
	if len(value) > 0 && value[0] != '[' {
		return []reply{value}
	}
	return value.members()
}

// judge returns the parsed answer, or an error if it is a refusal.
func (v *service) judge(resp upstream.Response) (reply, error) {
	a, err := parseAnswer(resp.Body)
	r, isFailure := v.refuses, resp.Status >= http.StatusBadRequest
	state := a.text(r.state)
	switch {
	case !isFailure && err != nil:
		return a, err
	case !isFailure && state == "" && r.fine != "":
		return a, fmt.Errorf("answer without a %s", r.state)
	case !isFailure && state == r.fine:
		if r.empty != "" && len(a.list(r.empty)) == 0 {
			return a, noSwapRoute("no " + r.empty)
		}
		return a, nil
	}
	var texts []string
	for place := range strings.FieldsSeq(r.words) {
		if text := a.text(place); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 && state != "" {
		texts = []string{r.state, state}
	}
	words := clean(strings.Join(texts, " "))
	says := func(pattern *regexp.Regexp) bool { return pattern != nil && pattern.MatchString(words) }
	switch {
	case says(r.unrouted), err == nil && slices.Contains(r.statuses, resp.Status):
		return a, noSwapRoute(words)
	case says(r.limited):
		return a, failed(upstream.RateLimited, v.Name, resp.Status, words)
	case says(r.moved):
		return a, fmt.Errorf("%w: %s", ErrPriceMoved, words)
	}
	return a, failed(upstream.Rejected, v.Name, resp.Status, words)
}

// read converts an answer to a proposal. The answer must be about the swap.
func (t answerTemplate) read(a reply, p quote.Profile, s quote.Swap) (o proposal, err error) {
	in, inErr := a.number(t.in)
	out, outErr := a.number(t.out)
	least, leastErr := a.number(t.least)
	value, valueErr := a.number(t.value)
	if err := cmp.Or(inErr, outErr, leastErr, valueErr); err != nil {
		return o, err
	}
	if t.in != "" && in != s.In.Amount {
		return o, fmt.Errorf("answer is about an input of %q instead of %s", clean(a.text(t.in)), s.In.Amount)
	}
	if t.out != "" && a.at(t.out) == nil {
		return o, fmt.Errorf("answer without %s", t.out)
	}
	gas, _ := a.number(t.gas)
	o = proposal{out: out, to: a.text(t.to), value: value, data: a.text(t.data) + a.text(t.message)}
	o.gas, _ = gas.Uint64()
	if t.least != "" {
		o.least = new(least)
	}
	if t.signed != "" {
		o.signed = json.RawMessage(a.raw(t.signed))
	}
	if spender := a.text(t.spender); t.spender != "" && (spender != "" || !s.In.Address.IsNative()) {
		return o, checkSpender(spender, o.to, p, s)
	}
	return o, nil
}
