package pages

import (
	"slices"
	"strings"
	"unicode"
)

// swapWords are the parts of a swap that is written in one line, such as "0.1 ETH to USDC on Base for 0x…".
type swapWords struct{ Amount, In, Out, Chain, Recipient string }

// ParseSwapWords reads an amount, the token that is given, the one that is wanted and, in any sequence, the chain and
// who is to receive; the last two may be left out. The names are not looked up. Not ok: it is not such a line.
func ParseSwapWords(text string) (w swapWords, ok bool) {
	words := strings.Fields(text)
	if len(words) > 0 && isWord(words[0], "swap", "sell") {
		words = words[1:]
	}
	if len(words) == 0 {
		return w, false
	}
	w.Amount = words[0]
	if unit := strings.IndexFunc(w.Amount, unicode.IsLetter); unit > 0 { // 0.1ETH
		w.Amount, w.In = words[0][:unit], words[0][unit:]
	}
	if !isNumber(w.Amount) && !isWord(w.Amount, "max") {
		return swapWords{}, false
	}
	part := &w.In
	for _, word := range words[1:] {
		switch {
		case part == &w.In && isWord(word, "to", "into", "->", "→"):
			part = &w.Out
		case part != &w.In && isWord(word, "on"):
			part = &w.Chain
		case part != &w.In && isWord(word, "for"):
			part = &w.Recipient
		default:
			*part = strings.TrimSpace(*part + " " + word)
		}
	}
	return w, w.In != "" && w.Out != ""
}

func isWord(word string, any ...string) bool {
	return slices.ContainsFunc(any, func(each string) bool { return strings.EqualFold(word, each) })
}

// isNumber reports whether a number is meant, well-formed or not.
func isNumber(word string) bool {
	return strings.Trim(word, "+-.,_0123456789") == "" && strings.ContainsAny(word, "0123456789")
}
