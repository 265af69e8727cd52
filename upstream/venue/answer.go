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

// maxAnswer is far above what a venue needs for a route; recorded ones have 10 kB.
const maxAnswer = 2 << 20

// answerTemplate says where an API's answer has what. A place is names of members with dots between; a list stands for
// its only member. What an API does not have is empty, and not checked.
type answerTemplate struct {
	in    string // that the answer is about
	out   string // after every fee
	least string // that the transaction enforces
	gas   string
	// The contract that may take a token that goes in, or is called where the answer has a price alone.
	spender         string
	to, value, data string // the transaction
	message         string // the same on Solana
	signed          string // a route that the API wants back untouched
}

// refusals say how an API refuses.
type refusals struct {
	state, fine string // a member of every answer, and its value without a refusal; empty: the HTTP status alone says so
	words       string // members that say why, with spaces between
	unrouted    *regexp.Regexp
	limited     *regexp.Regexp
	moved       *regexp.Regexp
	statuses    []int  // that mean no route, whatever the words
	empty       string // a member that is null or empty without a route
}

// proposal is what an answer says about a swap.
type proposal struct {
	out    chain.Amount
	gas    uint64
	least  *chain.Amount // nil: the answer does not say
	to     string
	value  chain.Amount
	data   string
	signed json.RawMessage
	route  any      // what else the venue's transaction is made of
	tx     quote.Tx // once checked
}

// reply is an API's JSON. A part is decoded when it is asked for.
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

// notDocumented is an error of the JSON decoder, which quotes numbers of any length.
func notDocumented(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s is not the documented JSON: %s", what, clean(err.Error()))
	}
	return nil
}

// at is what stands at a place, nil where nothing or null does.
func (a reply) at(place string) reply {
	value := a.raw(place).only()
	if string(value) == "null" {
		return nil
	}
	return value
}

// raw is the text of what stands at a place.
func (a reply) raw(place string) reply {
	if place == "" {
		return nil
	}
	for name := range strings.SplitSeq(place, ".") {
		a = a.only().member(name)
	}
	return a
}

// member is the value of an object's first member of a name.
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

// only is the member of a list that has no other.
func (a reply) only() reply {
	left := rawjson.Text(a)
	if left.Take('[') {
		if value := left.Value(); len(value) > 0 && left.Take(']') {
			return value
		}
	}
	return a
}

// members are those of a list, none of another value.
func (a reply) members() (all []reply) {
	left := rawjson.Text(a)
	for next := byte('['); left.Take(next); next = ',' {
		if value := left.Value(); len(value) > 0 {
			all = append(all, value)
		}
	}
	return all
}

// text is what stands at a place, in one line.
func (a reply) text(place string) string {
	value := a.at(place)
	if len(value) == 0 || value[0] != '"' && value[0] != '[' {
		return string(value)
	}
	if value[0] == '"' {
		return value.unquote()
	}
	var texts []string
	for _, each := range value.members() {
		texts = append(texts, each.unquote())
	}
	return strings.Join(texts, " ")
}

// unquote is the text that a JSON string stands for; any other value is as it is written.
func (a reply) unquote() (text string) {
	if a[0] != '"' {
		return string(a)
	}
	if bytes.IndexByte(a, '\\') < 0 && utf8.Valid(a) {
		return string(a[1 : len(a)-1])
	}
	_ = json.Unmarshal(a, &text)
	return text
}

// number is a whole number as venues write it: as text or as a number, in digits or as 0x and hex digits.
func (a reply) number(place string) (chain.Amount, error) {
	text := a.text(place)
	if text == "" {
		return chain.Amount{}, nil
	}
	if amount, err := chain.ParseQuantity(text); err == nil {
		return amount, nil
	}
	return chain.Amount{}, fmt.Errorf("%s is %q, not a whole number", place, clean(text))
}

// list is what a place lists, or the one thing that stands there.
func (a reply) list(place string) (all []reply) {
	value := a.at(place)
	if len(value) > 0 && value[0] != '[' {
		return []reply{value}
	}
	return value.members()
}

// judge reads the answer, or why it refuses.
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

// read makes a proposal of an answer, which must be about the swap.
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
