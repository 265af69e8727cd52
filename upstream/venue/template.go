package venue

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// requestTemplate is a request as data. $word is a value of the swap (swapWords) or a setting, ${word:x} is x if that
// is empty, and ${a|b} is a when quoting and b when building.
type requestTemplate struct {
	path   string
	query  string                 // name=value, separated by spaces; left out if the value is empty
	builds string                 // appended to query when building
	shares string                 // appended to query if an affiliate has a share
	body   string                 // like query, or name:=JSON: posted as a JSON object
	fits   func(quote.Swap) error // nil: all swaps are served
	chains map[uint64]string      // names of chains by EIP-155 ID; nil: the ID itself
	sign   func(o Options, target string) http.Header
}

// question holds the values for a request, and the answer.
type question struct {
	*aggregator
	swap     quote.Swap
	proposal // when building, that to the quote until there is an answer
	builds   bool
	request  upstream.Request
}

func (t *requestTemplate) request(q *question) (r upstream.Request, err error) {
	if t.fits != nil {
		if err := t.fits(q.swap); err != nil {
			return r, err
		}
	}
	word := func(name string) string { return t.word(name, q) }
	query := []string{t.query, orEmpty(q.builds, t.builds), orEmpty(q.swap.Affiliate.Percent.IsPositive(), t.shares)}
	text := make([]byte, 0, usualQuery)
	for _, each := range query {
		expand(each, word, func(name, value string) {
			text = append(append(append(text, '&'), name...), '=')
			text = append(text, url.QueryEscape(value)...)
		})
		if strings.Contains(each, "$key") {
			r.Keys = []string{q.Key}
		}
	}
	r.Path, r.Query, r.Header = fill(t.path, word), strings.TrimPrefix(string(text), "&"), q.sends
	if t.sign != nil {
		r.Header = t.sign(q.Options, "/"+r.Path+"?"+r.Query)
	}
	if t.body != "" {
		r.Method = http.MethodPost
		r.Body, err = t.jsonBody(word)
	}
	return r, err
}

// usualQuery is the length that most queries stay below, in bytes.
const usualQuery = 512

// jsonBody returns the body. Raw JSON passes through untouched: venues sign their routes.
func (t *requestTemplate) jsonBody(word func(string) string) (body []byte, err error) {
	next := byte('{')
	body = make([]byte, 0, usualQuery)
	expand(t.body, word, func(name, value string) {
		name, isJSON := strings.CutSuffix(name, ":")
		body = append(append(append(body, next, '"'), name...), `":`...)
		if next = ','; isJSON {
			body = append(body, value...)
		} else {
			text, _ := json.Marshal(value) // cannot fail for a string
			body = append(body, text...)
		}
	})
	if body = append(body, '}'); !json.Valid(body) {
		err = errors.New("request body: a value is not JSON")
	}
	return body, err
}

func (t *requestTemplate) word(name string, q *question) string {
	if first, second, either := strings.Cut(name, "|"); either && q.builds {
		return second
	} else if either {
		return first
	}
	name, otherwise, _ := strings.Cut(name, ":")
	if read := swapWords[name]; read != nil && (name != "chain" || t.chains == nil) {
		return cmp.Or(read(q), otherwise)
	}
	if name == "chain" {
		return t.chains[q.swap.Chain.Native]
	}
	return cmp.Or(q.Settings[name], otherwise)
}

func expand(list string, word func(string) string, set func(name, value string)) {
	for each := range strings.FieldsSeq(list) {
		name, value, _ := strings.Cut(each, "=")
		if value = fill(value, word); value != "" {
			set(name, value)
		}
	}
}

// fill replaces words by their values. Most texts have none, or are one.
func fill(text string, word func(string) string) string {
	switch at := strings.LastIndexByte(text, '$'); {
	case at < 0:
		return text
	case at == 0 && !strings.ContainsAny(text, "{/.-"):
		return word(text[1:])
	}
	return os.Expand(text, word)
}

// swapWords are the values that request templates can use.
var swapWords = map[string]func(*question) string{
	"key":          func(q *question) string { return q.Key },
	"bearer":       func(q *question) string { return "Bearer " + q.Key },
	"chain":        func(q *question) string { return strconv.FormatUint(q.swap.Chain.Native, 10) },
	"in":           func(q *question) string { return tokenText(q.swap, q.swap.In.Address) },
	"out":          func(q *question) string { return tokenText(q.swap, q.swap.Out.Address) },
	"zeroIn":       func(q *question) string { return q.text(q.swap.In.Address) }, // the coin as the zero address
	"zeroOut":      func(q *question) string { return q.text(q.swap.Out.Address) },
	"lowerIn":      func(q *question) string { return strings.ToLower(tokenText(q.swap, q.swap.In.Address)) },
	"lowerOut":     func(q *question) string { return strings.ToLower(tokenText(q.swap, q.swap.Out.Address)) },
	"inDecimals":   func(q *question) string { return strconv.Itoa(int(q.swap.In.Token.Decimals)) },
	"outDecimals":  func(q *question) string { return strconv.Itoa(int(q.swap.Out.Token.Decimals)) },
	"amount":       func(q *question) string { return q.swap.In.Amount.String() },
	"rest":         func(q *question) string { return sunioSwapped(q.swap).String() },
	"sender":       func(q *question) string { return q.text(q.swap.Sender) },
	"recipient":    func(q *question) string { return q.text(q.swap.Recipient) },
	"mixSender":    func(q *question) string { return q.swap.Sender.Checksum() },
	"mixRecipient": func(q *question) string { return q.swap.Recipient.Checksum() },
	"other":        func(q *question) string { return orEmpty(q.swap.Recipient != q.swap.Sender, q.text(q.swap.Recipient)) },
	"percent":      func(q *question) string { return q.swap.SlippagePercent.String() },
	"percent4":     func(q *question) string { return q.swap.SlippagePercent.RoundFloor(4).String() },
	"bps":          func(q *question) string { return bps(q.swap.SlippagePercent) },
	"fraction":     func(q *question) string { return q.swap.SlippagePercent.Shift(-2).String() },
	"gasPrice":     func(q *question) string { return orEmpty(!q.swap.GasPrice.IsZero(), q.swap.GasPrice.String()) }, // wei
	"share": func(q *question) string { // percent
		return orEmpty(q.swap.Affiliate.Percent.IsPositive(), q.swap.Affiliate.Percent.String())
	},
	"payee": func(q *question) string {
		return orEmpty(q.swap.Affiliate.Percent.IsPositive(), q.swap.Affiliate.Recipient.String())
	},
	"shareBps":      func(q *question) string { return bps(q.swap.Affiliate.Percent) },
	"shareFraction": func(q *question) string { return q.swap.Affiliate.Percent.Shift(-2).String() },
	"eachBps":       func(q *question) string { return q.each(func(a quote.Affiliate) string { return bps(a.Percent) }) },
	"eachPayee": func(q *question) string {
		return q.each(func(a quote.Affiliate) string { return a.Recipient.String() })
	},
	"wraps": func(q *question) string { return strconv.FormatBool(!swapsWrapped(q.swap)) },
	"priority": func(q *question) string { // in the words of venues on Solana: upper quartile of bids, or median
		return cmp.Or(orEmpty(q.swap.Priority == quote.Aggressive, "veryHigh"), "high")
	},
	"mostPriority": func(*question) string { return strconv.Itoa(mostPriority) },
	"deadline":     func(q *question) string { return strconv.FormatInt(q.deadline(q.swap.Chain.ID).Unix(), 10) },
	"route":        func(q *question) string { return string(q.signed) },
	"excludedList": func(q *question) string { // in JSON
		listed, _ := json.Marshal(strings.Split(q.Settings[excludedSources], ","))
		return orEmpty(q.Settings[excludedSources] != "", string(listed))
	},
	"uncapped":    func(q *question) string { return orEmpty(q.swap.SlippagePercent.GreaterThan(kyberCap), "true") },
	"veloraLeast": func(q *question) string { return veloraLeast(q).String() },
}

func (q *question) text(a chain.Address) string { return a.Format(q.swap.Chain.Family) }

// each applies of to each of the swap's shares, and joins the results by commas.
func (q *question) each(of func(quote.Affiliate) string) string {
	var texts []string
	for _, a := range []quote.Affiliate{q.swap.Affiliate, q.swap.Second} {
		if a.Percent.IsPositive() {
			texts = append(texts, of(a))
		}
	}
	return strings.Join(texts, ",")
}

func orEmpty(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// bps formats a percentage in whole basis points, rounded down so that a limit never gets looser.
func bps(percent decimal.Decimal) string { return percent.Shift(2).Truncate(0).String() }

// slippageWithin refuses a slippage outside of the bounds of an API, in percent.
func slippageWithin(least, most string) func(quote.Swap) error {
	from, to := decimal.RequireFromString(least), decimal.RequireFromString(most)
	return func(s quote.Swap) error {
		if s.SlippagePercent.LessThan(from) || s.SlippagePercent.GreaterThan(to) {
			return fmt.Errorf("%w with a slippage of %s %%", quote.ErrNoRoute, s.SlippagePercent)
		}
		return nil
	}
}

// tokenText returns a token as services spell it: the coin as coinText on EVM chains, as its wrapped mint on Solana.
func tokenText(s quote.Swap, a chain.Address) string {
	switch {
	case s.Chain.Family == chain.SVM:
		return mintText(s, a)
	case a.IsNative():
		return coinText
	}
	return a.String()
}
