package venue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"crossgate/chain"
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

// reply is an API's JSON.
type reply struct {
	root any
	body []byte
}

func parseAnswer(body []byte) (a reply, err error) {
	a.body = body
	if len(body) > maxAnswer {
		return a, fmt.Errorf("answer of %d bytes", len(body))
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err = decoder.Decode(&a.root); err == nil && decoder.More() {
		err = errors.New("more behind it")
	}
	return a, notDocumented("answer", err)
}

// notDocumented is an error of the JSON decoder, which quotes numbers of any length.
func notDocumented(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s is not the documented JSON: %s", what, clean(err.Error()))
	}
	return nil
}

// at is what stands at a place, nil where nothing does.
func (a reply) at(place string) any {
	value := a.root
	for name := range strings.SplitSeq(place, ".") {
		members, _ := only(value).(map[string]any)
		value = members[name]
	}
	return only(value)
}

func only(value any) any {
	if list, is := value.([]any); is && len(list) == 1 {
		return list[0]
	}
	return value
}

// text is what stands at a place, in one line.
func (a reply) text(place string) string {
	switch value := a.at(place).(type) {
	case nil:
		return ""
	case string:
		return value
	case []any:
		texts := make([]string, len(value))
		for i, each := range value {
			texts[i] = fmt.Sprint(each)
		}
		return strings.Join(texts, " ")
	default:
		return fmt.Sprint(value)
	}
}

// number is a whole number as venues write it: as text or as a number, in digits or as 0x and hex digits.
func (a reply) number(place string) (chain.Amount, error) {
	text := a.text(place)
	if text == "" {
		return chain.Amount{}, nil
	}
	if digits, isHex := strings.CutPrefix(text, "0x"); isHex && len(digits) <= 64 {
		if number, valid := new(big.Int).SetString(digits, 16); valid {
			return chain.AmountFromBig(number)
		}
	}
	if amount, err := chain.ParseAmount(text); err == nil {
		return amount, nil
	}
	return chain.Amount{}, fmt.Errorf("%s is %q, not a whole number", place, clean(text))
}

// list is what a place lists, or the one thing that stands there.
func (a reply) list(place string) (all []reply) {
	switch value := a.at(place).(type) {
	case nil:
	case []any:
		for _, each := range value {
			all = append(all, reply{root: each})
		}
	default:
		all = []reply{{root: value}}
	}
	return all
}

// raw is the text of what stands at a place below objects alone.
func (a reply) raw(place string) (text json.RawMessage) {
	text = a.body
	for name := range strings.SplitSeq(place, ".") {
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return nil
		}
		text = members[name]
	}
	return text
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
	numbers := map[string]chain.Amount{}
	for _, place := range []string{t.in, t.out, t.least, t.value} {
		if place == "" {
			continue
		}
		if numbers[place], err = a.number(place); err != nil {
			return o, err
		}
	}
	if t.in != "" && numbers[t.in] != s.In.Amount {
		return o, fmt.Errorf("answer is about an input of %q instead of %s", clean(a.text(t.in)), s.In.Amount)
	}
	if t.out != "" && a.at(t.out) == nil {
		return o, fmt.Errorf("answer without %s", t.out)
	}
	gas, _ := a.number(t.gas)
	o = proposal{out: numbers[t.out], to: a.text(t.to), value: numbers[t.value], data: a.text(t.data) + a.text(t.message)}
	o.gas, _ = gas.Uint64()
	if t.least != "" {
		o.least = new(numbers[t.least])
	}
	if t.signed != "" {
		o.signed = a.raw(t.signed)
	}
	if spender := a.text(t.spender); t.spender != "" && (spender != "" || !s.In.Address.IsNative()) {
		return o, checkSpender(spender, o.to, p, s)
	}
	return o, nil
}
