package token_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"crossgate/token"
)

func TestCleanText(t *testing.T) {
	for said, want := range map[string]string{
		"USD Coin":                   "USD Coin",
		" USDC\x00\x00\x00":          "USDC",
		"a\u202eb\u200b\nc":          "abc",
		"\xff\xfebytes":              "bytes",
		strings.Repeat("é", 1000):    strings.Repeat("é", 256),
		strings.Repeat("\x00", 1000): "",
	} {
		if got := token.CleanText(said); got != want {
			t.Errorf("CleanText(%.40q) = %.40q, want %.40q", said, got, want)
		}
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("USD Coin\x00")
	f.Add("\u202e\xff")
	f.Fuzz(func(t *testing.T, said string) {
		got := token.CleanText(said)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 256 || token.CleanText(got) != got {
			t.Errorf("CleanText(%q) = %q", said, got)
		}
	})
}
