package chain

import (
	"slices"
	"strings"
	"testing"

	"crossgate/internal/must"
)

func TestParseTxHash(t *testing.T) {
	digits := strings.Repeat("aB", 32)
	for _, test := range []struct {
		text, want string // canonical text; empty: rejected
	}{
		{"0x" + digits, "0x" + strings.ToLower(digits)},
		{digits, "0x" + strings.ToLower(digits)},
		{"0X" + digits, "0x" + strings.ToLower(digits)},
		{"0x0X" + digits, ""},
		{"x" + digits, ""},
		{"0x" + digits[1:], ""},
		{"0x" + digits + "00", ""},
		{"0x" + strings.Repeat("zz", 32), ""},
		{"", ""},
		{"not-a-hash", ""},
		{strings.Repeat("1", 4000), ""},
	} {
		got, err := ParseTxHash(test.text)
		if (err == nil) != (test.want != "") || got.String() != test.want {
			t.Errorf("ParseTxHash(%.80q) = %q, %v, want %q", test.text, got, err, test.want)
		}
	}
}

func TestTxHashFamilies(t *testing.T) {
	for text, want := range map[string][]Family{
		"0x" + strings.Repeat("ab", 32): {EVM, TVM},
		signature64(t):                  {SVM},
	} {
		h := must.Get(ParseTxHash(text))(t)
		if got := h.Families(); !slices.Equal(got, want) {
			t.Errorf("Families of %s = %v, want %v", text, got, want)
		}
		if again, err := ParseTxHash(h.String()); err != nil || again != h {
			t.Errorf("%s does not survive its own text: %v, %v", text, again, err)
		}
	}
}

// signature64 returns the base58 text of 64 bytes.
func signature64(t *testing.T) string {
	t.Helper()
	raw := make([]byte, 64)
	for i := range raw {
		raw[i] = byte(3*i + 1)
	}
	return NewTxHash(raw).Format(SVM)
}

func TestTxHashFormat(t *testing.T) {
	h := NewTxHash([]byte(strings.Repeat("\x5a", 32)))
	for family, want := range map[Family]string{
		EVM: "0x" + strings.Repeat("5a", 32),
		TVM: strings.Repeat("5a", 32),
	} {
		if got := h.Format(family); got != want {
			t.Errorf("Format(%v) = %s, want %s", family, got, want)
		}
	}
}

func FuzzParseTxHash(f *testing.F) {
	f.Add("0x" + strings.Repeat("ab", 32))
	f.Add(strings.Repeat("5", 87))
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseTxHash(text)
		if err != nil {
			return
		}
		if again, err := ParseTxHash(h.String()); err != nil || again != h {
			t.Errorf("%q → %v → %v, %v", text, h, again, err)
		}
	})
}
