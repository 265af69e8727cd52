package wire

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"crossgate/token"
)

func TestAppendProblemEscapesItsMessage(t *testing.T) {
	got := AppendProblem(nil, Problem{Code: 2, ID: "INVALID_QUERY_PARAMETERS", Message: "\"slippage\"\n must\u2028be \\ \x00 <auto>", RequestID: "5f2a"})
	want := `{"errorCode":2,"errorId":"INVALID_QUERY_PARAMETERS",` +
		`"message":"\"slippage\"\n must\u2028be \\ \u0000 <auto>",` +
		`"errorMessage":"\"slippage\"\n must\u2028be \\ \u0000 <auto>","reqId":"5f2a"}`
	if string(got) != want {
		t.Errorf("AppendProblem = %s, want %s", got, want)
	}
}

// FuzzText requires a token's name, which can be any text, to come out as one JSON string that decodes to the same
// text.
func FuzzText(f *testing.F) {
	for _, text := range []string{"USD Coin", `"`, `\`, "\x00\x1f\x7f", "\u2028\u2029", "\xff\xfe", "a\xc3", "𝕏", "</script>", `","decimals":99,"x":"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := &writer{}
		w.text(text)
		var got string
		if err := json.Unmarshal(w.json, &got); err != nil {
			t.Fatalf("%q is written %s: %v", text, w.json, err)
		}
		if utf8.ValidString(text) && got != text {
			t.Errorf("%q is read back as %q", text, got)
		}
		if !utf8.Valid(w.json) || strings.ContainsAny(string(w.json), "\u2028\u2029\n\r\x00") {
			t.Errorf("%q is written %q", text, w.json)
		}
	})
}

func TestNumbers(t *testing.T) {
	for n, want := range map[float64]string{
		0:                      "0",
		5:                      "5",
		4.9916524:              "4.991652",
		0.0000004:              "0",
		-0.0000001:             "0",
		1e21:                   "1000000000000000000000",
		math.Inf(1):            "0",
		0.1 + 0.2:              "0.3",
		123456789.123456789012: "123456789.123457",
	} {
		w := &writer{}
		w.usd(n)
		if got := string(w.json); got != want {
			t.Errorf("usd(%v) = %s, want %s", n, got, want)
		}
	}
	w := &writer{}
	w.usd(math.NaN())
	if got := string(w.json); got != "0" {
		t.Errorf("usd(NaN) = %s, want 0", got)
	}
}

func TestUnitsAreExact(t *testing.T) {
	for _, test := range []struct {
		amount   string
		decimals uint8
		want     string
	}{
		{"0", 18, "0"},
		{"1", 0, "1"},
		{"1", 18, "0.000000000000000001"},
		{"1500000", 6, "1.5"},
		{"1000000", 6, "1"},
		{"123456789", 2, "1234567.89"},
		{"100", 3, "0.1"},
		{"115792089237316195423570985008687907853269984665640564039457584007913129639935", 18, "115792089237316195423570985008687907853269984665640564039457.584007913129639935"},
	} {
		w := &writer{}
		w.units(amount(t, test.amount), token.Token{Decimals: test.decimals, Symbol: "T"})
		if got := string(w.json); got != test.want {
			t.Errorf("%s with %d decimals is written %s, want %s", test.amount, test.decimals, got, test.want)
		}
	}
}

func TestValueIsRoundedToSixDecimals(t *testing.T) {
	for _, test := range []struct {
		amount string
		price  *big.Rat
		want   string
	}{
		{"1000000", big.NewRat(1, 1), "1"},
		{"1200000000", big.NewRat(1, 1), "1200"},
		{"1", big.NewRat(1, 2), "0.000001"},
		{"1", big.NewRat(1, 3), "0"},
		{"1000000", big.NewRat(1, 3), "0.333333"},
	} {
		w := &writer{}
		w.value(amount(t, test.amount), token.Token{Decimals: 6, Symbol: "T"}, test.price)
		if got := string(w.json); got != test.want {
			t.Errorf("%s at %v is worth %s, want %s", test.amount, test.price, got, test.want)
		}
	}
}
