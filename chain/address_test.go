package chain

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"crossgate/internal/must"
)

func TestParseAddress(t *testing.T) {
	for _, test := range []struct {
		family Family
		text   string
		length int
		want   string // canonical text; empty: rejected
	}{
		{EVM, "0xeF4fB24aD0916217251F553c0596F8Edc630EB66", 20, "0xef4fb24ad0916217251f553c0596f8edc630eb66"},
		{EVM, "0x0000000000000000000000000000000000000000", 20, "0x0000000000000000000000000000000000000000"},
		{EVM, "eF4fB24aD0916217251F553c0596F8Edc630EB66", 0, ""},
		{EVM, "0XeF4fB24aD0916217251F553c0596F8Edc630EB66", 0, ""},
		{EVM, "0xeF4fB24aD0916217251F553c0596F8Edc630EB6", 0, ""},
		{EVM, "", 0, ""},
		{SVM, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", 32, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"},
		{SVM, "11111111111111111111111111111111", 32, "11111111111111111111111111111111"},
		{SVM, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTD", 0, ""},
		{SVM, "0OIl", 0, ""},
		{TVM, "TDApGsYobnq34xJeEHKbDoAbXXbKiqBMSw", 20, "TDApGsYobnq34xJeEHKbDoAbXXbKiqBMSw"},
		{TVM, "TDApGsYobnq34xJeEHKbDoAbXXbKiqBMSx", 0, ""},
		{TVM, "0xe6f924e3c42350684af70f798c3ca2533a4c5bd0", 20, "TX2Ut1reF59i2WPzsYVoMfA25EkUkavnd5"},
		{TVM, "41e6f924e3c42350684af70f798c3ca2533a4c5bd0", 20, "TX2Ut1reF59i2WPzsYVoMfA25EkUkavnd5"},
		{TVM, "41e6f924e3c42350684af70f798c3ca2533a4c5b", 0, ""},
		{UnknownFamily, "0xef4fb24ad0916217251f553c0596f8edc630eb66", 0, ""},
	} {
		got, err := ParseAddress(test.text, test.family)
		if (err == nil) != (test.want != "") || got.Len() != test.length {
			t.Errorf("ParseAddress(%q, %v) = %v, %v, want %d bytes", test.text, test.family, got, err, test.length)
			continue
		}
		if text := got.Format(test.family); err == nil && text != test.want {
			t.Errorf("ParseAddress(%q, %v) formats as %q, want %q", test.text, test.family, text, test.want)
		}
	}
}

func TestParseAnyAddressTellsTheFamily(t *testing.T) {
	for text, want := range map[string]Family{
		"0xe0b98eaec484b46f4060def828e913db2b79d0b7":   EVM,
		"TDApGsYobnq34xJeEHKbDoAbXXbKiqBMSw":           TVM,
		"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v": SVM,
	} {
		if _, got, err := ParseAnyAddress(text); err != nil || got != want {
			t.Errorf("ParseAnyAddress(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	if _, _, err := ParseAnyAddress("vitalik.eth"); err == nil {
		t.Error("ParseAnyAddress took a name for an address")
	}
}

func TestAbsentAddressIsNotTheNativeCoin(t *testing.T) {
	var absent Address
	native := NativeCoin(EVM)
	if absent == native || absent.IsNative() || !absent.IsAbsent() || !native.IsNative() || native.IsAbsent() || !native.Fits(EVM) || native.Fits(SVM) {
		t.Errorf("absent %+v and native %+v are mixed up", absent, native)
	}
	if got := absent.Bytes(); got != nil {
		t.Errorf("Bytes() of the absent address = %v, want nil", got)
	}
}

func FuzzParseAnyAddress(f *testing.F) {
	f.Add("0xe0b98eaec484b46f4060def828e913db2b79d0b7")
	f.Add("TDApGsYobnq34xJeEHKbDoAbXXbKiqBMSw")
	f.Add("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	f.Fuzz(func(t *testing.T, text string) {
		a, family, err := ParseAnyAddress(text)
		if err != nil {
			return
		}
		again, err := ParseAddress(a.Format(family), family)
		if err != nil || !bytes.Equal(again.Bytes(), a.Bytes()) {
			t.Errorf("%q → %v → %q → %v, %v", text, a, a.Format(family), again, err)
		}
	})
}

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
