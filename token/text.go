package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestText is more than any honest name has, in runes.
const longestText = 256

// CleanText makes a contract's name for itself safe to pass on: valid UTF-8 of bounded length, without invisible
// characters, including zeros that pad a field of fixed size.
func CleanText(said string) string {
	said = strings.ToValidUTF8(said, "")
	said = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, said)
	if utf8.RuneCountInString(said) > longestText {
		said = string([]rune(said)[:longestText])
	}
	return strings.TrimSpace(said)
}
