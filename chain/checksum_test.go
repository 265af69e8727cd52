package chain_test

import (
	"strings"
	"testing"

	"crossgate/chain"
)

// TestMistypedChecksumsFail: one letter's case stands for the checksum of all digits (EIP-55).
func TestMistypedChecksumsFail(t *testing.T) {
	const right = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	for text, fails := range map[string]bool{
		right:                                   false,
		"0x" + strings.ToLower(right[2:]):       false,
		"0x" + strings.ToUpper(right[2:]):       false,
		strings.Replace(right, "5aA", "5AA", 1): true,
		strings.Replace(right, "605", "606", 1): true,
		"TCFNp179Lg46D16zKoumd4Poa2WFFdtqYj":    false,
		"no address":                            false,
	} {
		if got := chain.ChecksumFails(text); got != fails {
			t.Errorf("ChecksumFails(%q) = %v, want %v", text, got, fails)
		}
	}
}
