package web

import (
	"errors"
	"fmt"
	"html/template"
	"math/big"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"crossgate/chain"
	"crossgate/internal/release"
)

// Amount is an amount in whole tokens.
type Amount struct {
	Text  string // rounded down for reading
	Exact string // every digit
}

// shownPlaces is the number of significant decimals shown.
const shownPlaces = 6

// AmountOf converts an amount of smallest units to whole tokens.
func AmountOf(units string, decimals int) Amount {
	if units == "" {
		units = "0"
	}
	if missing := decimals + 1 - len(units); missing > 0 {
		units = strings.Repeat("0", missing) + units
	}
	point := len(units) - decimals
	whole, fraction := Grouped(units[:point]), strings.TrimRight(units[point:], "0")
	exact := Joined(whole, fraction)
	places := shownPlaces
	if whole == "0" {
		places += len(fraction) - len(strings.TrimLeft(fraction, "0"))
	}
	if len(fraction) > places {
		fraction = strings.TrimRight(fraction[:places], "0")
	}
	return Amount{Text: Joined(whole, fraction), Exact: exact}
}

// Significant formats a number with shownPlaces significant decimals, rounded down.
func Significant(n *big.Rat) string {
	const digits = 36
	units := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	units.Quo(units.Mul(units, n.Num()), n.Denom())
	return AmountOf(units.String(), digits).Text
}

func Joined(whole, fraction string) string {
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// Grouped inserts commas between thousands.
func Grouped(digits string) string {
	var text strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			text.WriteByte(',')
		}
		text.WriteRune(digit)
	}
	return text.String()
}

// Faults of an amount.
var (
	errNoAmount     = errors.New("must be a number, such as 0.1, without commas between thousands")
	errNotAboveZero = errors.New("must be above zero")
)

// thousands matches a number whose comma may separate thousands or decimals.
var thousands = regexp.MustCompile(`^[1-9]\d{0,2},\d{3}$`)

// WithPoint replaces a decimal comma: some phones have no point on the keyboard for numbers.
func WithPoint(text string) string {
	if text = strings.TrimSpace(text); thousands.MatchString(text) || strings.Contains(text, ".") || strings.Count(text, ",") > 1 {
		return text
	}
	return strings.Replace(text, ",", ".", 1)
}

// UnitsOf parses whole tokens, such as 0.1, as smallest units. Its error continues a sentence about the amount.
func UnitsOf(text string, decimals uint8) (chain.Amount, error) {
	text = WithPoint(text)
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	switch {
	case strings.HasPrefix(text, "-"):
		return chain.Amount{}, errNotAboveZero
	case thousands.MatchString(text):
		whole, fraction, _ := strings.Cut(text, ",")
		return chain.Amount{}, fmt.Errorf("may mean %[1]s.%[2]s or %[1]s%[2]s: enter %[1]s,%[2]s0 or %[1]s%[2]s", whole, fraction)
	case text == "" || strings.Trim(whole+fraction, "0123456789") != "":
		return chain.Amount{}, errNoAmount
	case len(fraction) > int(decimals):
		return chain.Amount{}, fmt.Errorf("has %s, and the token only %d", Plural(len(fraction), "decimal"), decimals)
	}
	digits := strings.TrimLeft(whole+fraction+strings.Repeat("0", int(decimals)-len(fraction)), "0")
	if digits == "" {
		return chain.Amount{}, errNotAboveZero
	}
	amount, err := chain.ParseAmount(digits)
	if err != nil {
		return chain.Amount{}, errNoAmount
	}
	return amount, nil
}

// Short abbreviates a long hash or address by its middle.
func Short(text string) string {
	const head, tail = 8, 6
	if len(text) <= head+tail+3 {
		return text
	}
	return text[:head] + "…" + text[len(text)-tail:]
}

// Initial returns the letter to show for a token without a logo.
func Initial(symbol string) string {
	r, _ := utf8.DecodeRuneInString(symbol)
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return "?"
	}
	return string(unicode.ToUpper(r))
}

var functions = template.FuncMap{
	"short": Short, "plural": Plural, "count": Count, "dollars": Dollars, "took": Took, "version": func() string { return release.Current().Version }, "sentence": sentence,
	"commandButton": buttonOf, "hitRatio": hitRatio,
	"utc":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"ago":     func(t, now time.Time) string { return Lasting(now.Sub(t)) + " ago" },
	"rate":    func(perSecond float64) string { return fmt.Sprintf("%.1f/s", perSecond) },
	"percent": func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
	"units":   func(left float64) string { return Count(uint64(max(left, 0))) },
	// A wait is rounded up, because nothing happens before.
	"roundedUp": func(d time.Duration) string { return Lasting(d + time.Second - 1) },
	"lag": func(d time.Duration) string {
		if d < time.Second {
			return "–"
		}
		return Lasting(d)
	},
	"milliseconds": func(d time.Duration) string {
		if d == 0 {
			return "–"
		}
		return Count(uint64(max(d.Milliseconds(), 1))) + " ms"
	},
	// A signed number of blocks; a dash if heads are not compared.
	"distance": func(blocks string) string {
		switch blocks {
		case "":
			return "–"
		case "+0":
			return "0"
		}
		return strings.Replace(blocks, "-", "−", 1)
	},
}

// Took formats a duration in its two largest units.
func Took(d time.Duration) string {
	units := []struct {
		noun string
		of   time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}
	for i, u := range units {
		if d < u.of {
			continue
		}
		text := Plural(int(d/u.of), u.noun)
		if rest := d % u.of; i+1 < len(units) && rest >= units[i+1].of {
			text += " " + Plural(int(rest/units[i+1].of), units[i+1].noun)
		}
		return text
	}
	return Plural(0, "second")
}

// Lasting formats a duration in the largest unit that fits.
func Lasting(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
	case d < time.Minute:
		return Plural(int(d/time.Second), "second")
	case d < time.Hour:
		return Plural(int(d/time.Minute), "minute")
	case d < 2*day:
		return Plural(int(d/time.Hour), "hour")
	}
	return Plural(int(d/day), "day")
}

// sentence turns an API message into a sentence, unless it begins with an identifier of the API.
func sentence(message string) string {
	first, _, _ := strings.Cut(message, " ")
	if r, size := utf8.DecodeRuneInString(first); unicode.IsLower(r) && first == strings.ToLower(first) && !strings.ContainsAny(first, "_./") {
		message = string(unicode.ToUpper(r)) + message[size:]
	}
	if message != "" && !strings.ContainsAny(message[len(message)-1:], ".?!") {
		message += "."
	}
	return message
}

func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
