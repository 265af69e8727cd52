package catalog

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"crossgate/chain"
	"crossgate/token"
)

// Longest texts of a token: those of the tokenlists.org schema, and of a plausible URL.
const (
	longestSymbol = 20
	longestName   = 60
	longestLogo   = 512
)

// CheckText returns why a token of a chain must not be shown under its symbol and name, nil if it may. Hostile texts
// contain control characters, marks that turn or hide text, or more than the format of lists allows. Misleading ones
// look like the chain's coin, or like a well-known token at another address.
func CheckText(c chain.Chain, key token.Key, t token.Token) error {
	if !isPlain(t.Symbol, longestSymbol) || !isPlain(t.Name, longestName) {
		return errText
	}
	symbol := skeleton(t.Symbol)
	at, known := token.WellKnownBy(key.Chain, func(other string) bool { return skeleton(other) == symbol })
	if known && at == key {
		return nil
	}
	if known || symbol == skeleton(c.Coin.Symbol) && key.Address != c.WrappedCoin {
		return errLookalike
	}
	isLatin := strings.Trim(symbol, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	if symbol != strings.ToUpper(t.Symbol) && !isASCII(t.Symbol) && isLatin {
		return errLookalike // letters of other scripts, drawn as Latin ones
	}
	return nil
}

// isPlain reports whether a text is readable, contains nothing invisible, and has at most longest characters.
func isPlain(text string, longest int) bool {
	if strings.TrimSpace(text) == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > longest {
		return false
	}
	marks := 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.M, r): // accents, at most two per letter
			if marks++; marks > 2 {
				return false
			}
		case r == utf8.RuneError, r != ' ' && !unicode.IsGraphic(r), r != ' ' && unicode.IsSpace(r), unicode.Is(unicode.Cf, r),
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
			return false
		default:
			marks = 0
		}
	}
	return true
}

// lookalikes maps letters and digits to the Latin capital that they look like, in upper or lower case. Source: Unicode
// Technical Standard 39, confusables.txt, restricted to single letters of Greek, Cyrillic and full-width Latin.
var lookalikes = func() map[rune]rune {
	drawn := map[rune]string{
		'A': "ΑАᎪα" + "а", 'B': "ΒВᏴ", 'C': "СϹⅭсⅽ", 'D': "ⅮᎠԁ", 'E': "ΕЕеᎬ", 'F': "Ϝ", 'G': "Ԍɢ", 'H': "ΗНᎻһ", 'I': "ΙІӀіıl1|Ⅰ",
		'J': "ЈјᎫ", 'K': "ΚКкᏦ", 'L': "ⅬᏞ", 'M': "ΜМⅯᎷ", 'N': "Νո", 'O': "ΟОоοօ0", 'P': "ΡРрρᏢ", 'Q': "Ԛԛ", 'R': "Ꭱᖇ",
		'S': "ЅѕՏ$5", 'T': "ΤТтᎢ", 'U': "Սս", 'V': "Ѵѵν", 'W': "ԜԝᎳ", 'X': "ΧХхχⅩ", 'Y': "ΥҮУуү", 'Z': "ΖᏃ",
	}
	all := make(map[rune]rune)
	for latin, others := range drawn {
		for _, other := range others {
			all[other] = latin
		}
	}
	for place := range rune(26) { // full-width
		all['Ａ'+place], all['ａ'+place] = 'A'+place, 'A'+place
	}
	return all
}()

// skeleton returns the same text for symbols that look alike.
func skeleton(symbol string) string {
	return strings.Map(func(r rune) rune {
		if like, known := lookalikes[r]; known {
			return like
		}
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, symbol)
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// logo is an address that pages may load a picture from, empty for any other.
func logo(text string) string {
	if len(text) > longestLogo || !isASCII(text) || strings.ContainsAny(text, " \"'<>\\`{}") {
		return ""
	}
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "https" || at.User != nil || at.Port() != "" || !strings.Contains(at.Hostname(), ".") ||
		strings.Trim(at.Hostname(), "0123456789.") == "" {
		return ""
	}
	return text
}
