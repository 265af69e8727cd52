package venue

import (
	"testing"

	"crossgate/chain"
	"crossgate/chain/words"
)

// TestAmountsOnAPathAreAListAlone accepts the last of two or more amounts, and rejects answers of any other form.
func TestAmountsOnAPathAreAListAlone(t *testing.T) {
	whole := words.Encode(words.List{7, 8, 9})
	for name, row := range map[string]struct {
		answer []byte
		out    uint64 // zero: refused
	}{
		"three":            {whole, 9},
		"two":              {words.Encode(words.List{7, 8}), 8},
		"one":              {words.Encode(words.List{7}), 0},
		"none":             {words.Encode(words.List{}), 0},
		"empty":            {nil, 0},
		"a word":           {words.Encode(7), 0},
		"cut":              {whole[:len(whole)-words.Size], 0},
		"a word behind it": {append(whole[:len(whole):len(whole)], words.Encode(10)...), 0},
	} {
		got, err := lastOf(row.answer)
		if (err != nil) != (row.out == 0) || err == nil && got.out != chain.NewAmount(row.out) {
			t.Errorf("%s: %v, %v, want %d", name, got.out, err, row.out)
		}
	}
}
