package venue

import (
	"cmp"
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

// requestTemplate is a request as data. A $word in it is a value of the swap (words) or a setting, ${word:x} is x
// without one, and ${a|b} is a to quote and b to build.
type requestTemplate struct {
	path   string
	query  string                        // name=value with spaces between; without a value it is left out
	builds string                        // more of it, to build
	shares string                        // more of it, where an affiliate has a share
	header string                        // as query
	body   func(Options, quote.Swap) any // JSON that is posted; nil: none
	fits   func(quote.Swap) error        // nil: it serves all
	chains map[uint64]string             // names of chains by EIP-155 id; nil: that id
}

// toQuote is the request for a price.
func (q requestTemplate) toQuote(o Options, s quote.Swap) (upstream.Request, error) {
	return q.request(o, s, false)
}

func (q requestTemplate) request(o Options, s quote.Swap, builds bool) (upstream.Request, error) {
	if q.fits != nil {
		if err := q.fits(s); err != nil {
			return upstream.Request{}, err
		}
	}
	word := func(name string) string {
		if first, second, either := strings.Cut(name, "|"); either && builds {
			return second
		} else if either {
			return first
		}
		name, otherwise, _ := strings.Cut(name, ":")
		value := o.Settings[name]
		switch read := words[name]; {
		case name == "key":
			value = o.Key
		case name == "bearer":
			value = "Bearer " + o.Key
		case name == "chain" && q.chains != nil:
			value = q.chains[s.Chain.Native]
		case read != nil:
			value = read(s)
		}
		return cmp.Or(value, otherwise)
	}
	query := q.query
	if builds {
		query += " " + q.builds
	}
	if s.Affiliate.Percent.IsPositive() {
		query += " " + q.shares
	}
	r := upstream.Request{Path: os.Expand(q.path, word), Query: url.Values{}, Header: http.Header{}}
	expand(query, word, r.Query.Set)
	expand(q.header, word, r.Header.Set)
	if strings.Contains(query, "$key") {
		r.Keys = []string{o.Key}
	}
	var err error
	if q.body != nil {
		r.Method, r.Query = http.MethodPost, nil
		r.Body, err = encode(q.body(o, s))
	}
	return r, err
}

func expand(list string, word func(string) string, set func(name, value string)) {
	for each := range strings.FieldsSeq(list) {
		name, value, _ := strings.Cut(each, "=")
		if value = os.Expand(value, word); value != "" {
			set(name, value)
		}
	}
}

// words are the values in templates of requests.
var words = map[string]func(quote.Swap) string{
	"chain":       func(s quote.Swap) string { return strconv.FormatUint(s.Chain.Native, 10) },
	"in":          func(s quote.Swap) string { return tokenText(s, s.In.Address) },
	"out":         func(s quote.Swap) string { return tokenText(s, s.Out.Address) },
	"zeroIn":      func(s quote.Swap) string { return s.In.Address.Format(s.Chain.Family) }, // the coin as the zero address
	"zeroOut":     func(s quote.Swap) string { return s.Out.Address.Format(s.Chain.Family) },
	"lowerIn":     func(s quote.Swap) string { return strings.ToLower(tokenText(s, s.In.Address)) },
	"lowerOut":    func(s quote.Swap) string { return strings.ToLower(tokenText(s, s.Out.Address)) },
	"inDecimals":  func(s quote.Swap) string { return strconv.Itoa(int(s.In.Token.Decimals)) },
	"outDecimals": func(s quote.Swap) string { return strconv.Itoa(int(s.Out.Token.Decimals)) },
	"amount":      func(s quote.Swap) string { return s.In.Amount.String() },
	"rest":        func(s quote.Swap) string { return sunioSwapped(s).String() },
	"sender":      func(s quote.Swap) string { return s.Sender.Format(s.Chain.Family) },
	"recipient":   func(s quote.Swap) string { return s.Recipient.Format(s.Chain.Family) },
	"other": func(s quote.Swap) string { // recipient
		if s.Recipient == s.Sender {
			return ""
		}
		return s.Recipient.Format(s.Chain.Family)
	},
	"percent":  func(s quote.Swap) string { return s.SlippagePercent.String() },
	"percent4": func(s quote.Swap) string { return s.SlippagePercent.RoundFloor(4).String() },
	"bps":      func(s quote.Swap) string { return strconv.Itoa(bps(s.SlippagePercent)) },
	"fraction": func(s quote.Swap) string { return fraction(s.SlippagePercent) },
	"gasPrice": func(s quote.Swap) string { return orEmpty(!s.GasPrice.IsZero(), s.GasPrice.String()) }, // wei
	"share": func(s quote.Swap) string { // percent
		return orEmpty(s.Affiliate.Percent.IsPositive(), s.Affiliate.Percent.String())
	},
	"payee": func(s quote.Swap) string {
		return orEmpty(s.Affiliate.Percent.IsPositive(), s.Affiliate.Recipient.String())
	},
	"shareBps":      func(s quote.Swap) string { return strconv.Itoa(bps(s.Affiliate.Percent)) },
	"shareFraction": func(s quote.Swap) string { return fraction(s.Affiliate.Percent) },
	"eachBps":       func(s quote.Swap) string { shares, _ := payees(s); return shares },
	"eachPayee":     func(s quote.Swap) string { _, recipients := payees(s); return recipients },
	"wraps":         func(s quote.Swap) string { return strconv.FormatBool(!swapsWrapped(s)) },
	"priority":      func(s quote.Swap) string { return priorityLevel(s.Priority) },
	"mostPriority":  func(quote.Swap) string { return strconv.Itoa(mostPriority) },
}

func orEmpty(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// slippageWithin refuses a slippage that an API does not take, in percent.
func slippageWithin(least, most string) func(quote.Swap) error {
	from, to := decimal.RequireFromString(least), decimal.RequireFromString(most)
	return func(s quote.Swap) error {
		if s.SlippagePercent.LessThan(from) || s.SlippagePercent.GreaterThan(to) {
			return fmt.Errorf("%w with a slippage of %s %%", quote.ErrNoRoute, s.SlippagePercent)
		}
		return nil
	}
}

// tokenText is how services spell a token: on EVM chains the coin in their own way, on Solana as its wrapped mint.
func tokenText(s quote.Swap, a chain.Address) string {
	switch {
	case s.Chain.Family == chain.SVM:
		return mintText(s, a)
	case a.IsNative():
		return coinText
	}
	return a.String()
}
