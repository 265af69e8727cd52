package web

import (
	"strings"
	"testing"
	"time"
)

func TestAmountsAreReadable(t *testing.T) {
	for _, test := range []struct {
		units       string
		decimals    int
		text, exact string
	}{
		{"0", 18, "0", "0"},
		{"", 6, "0", "0"},
		{"1", 0, "1", "1"},
		{"1234567", 0, "1,234,567", "1,234,567"},
		{"499800000000000000", 18, "0.4998", "0.4998"},
		{"1234567890123456789012", 18, "1,234.567890", "1,234.567890123456789012"},
		{"123456789", 18, "0.000000000123456", "0.000000000123456789"},
		{"1", 18, "0.000000000000000001", "0.000000000000000001"},
	} {
		got := AmountOf(test.units, test.decimals)
		if got.Text != strings.TrimRight(test.text, "0") && got.Text != test.text || got.Exact != test.exact {
			t.Errorf("amountOf(%q, %d) = %+v, want %s and %s", test.units, test.decimals, got, test.text, test.exact)
		}
	}
}

func TestWholeTokensBecomeUnits(t *testing.T) {
	for text, want := range map[string]string{"1": "1000000", "0.1": "100000", " 12.5 ": "12500000", ".5": "500000", "1.0000000000": "1000000", "0.000001": "1", "1,5": "1500000", "0,125": "125000", ",5": "500000"} {
		if got, err := UnitsOf(text, 6); err != nil || got.String() != want {
			t.Errorf("UnitsOf(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "number", "0": "above zero", "0.0": "above zero", "-1": "above zero", "1e6": "number", "1,125": "1.125 or 1125", "1,125,000": "number", "1,125.5": "number", "0.0000001": "has 7 decimals, and the token only 6",
		"1.2.3": "number", "ten": "number", strings.Repeat("9", 90): "number", ".": "above zero",
	} {
		if got, err := UnitsOf(text, 6); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("UnitsOf(%q) = %v, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestDurationsAreInTheLargestUnitThatFits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 seconds", time.Second: "1 second", 119 * time.Second: "1 minute", 47 * time.Hour: "47 hours", 50 * time.Hour: "2 days",
	} {
		if got := Lasting(d); got != want {
			t.Errorf("lasting(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestMessagesAreSentences(t *testing.T) {
	for message, want := range map[string]string{
		"a hash must be 0x and 64 hex digits": "A hash must be 0x and 64 hex digits.",
		"takerAddress must be 0x":             "takerAddress must be 0x.",
		"path /order/0x12 is not there":       "Path /order/0x12 is not there.",
		"retry it?":                           "Retry it?",
		"":                                    "",
	} {
		if got := sentence(message); got != want {
			t.Errorf("%q is %q, want %q", message, got, want)
		}
	}
}

func TestProblemsHaveTitles(t *testing.T) {
	for want, p := range map[string]Problem{
		"Not found": {Status: 404}, "Too many requests": {Status: 429, Retry: time.Second}, "Not available at the moment": {Status: 503, Retry: time.Second},
		"Something went wrong here": {Status: 500}, "The request cannot be answered": {Status: 400},
	} {
		if got := p.Title(); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
}
