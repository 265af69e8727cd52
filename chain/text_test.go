package chain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
)

func TestValuesSurviveTheirText(t *testing.T) {
	type values struct {
		Address, Mint, Absent chain.Address
		Tx, Signature, NoTx   chain.TxHash
		Hash                  chain.Hash
		Amount                chain.Amount
	}
	raw := make([]byte, 64)
	for i := range raw {
		raw[i] = byte(i * 5)
	}
	want := values{
		Address:   chain.NewAddress(raw[:20]),
		Mint:      chain.NewAddress(raw[:32]),
		Tx:        chain.NewTxHash(raw[:32]),
		Signature: chain.NewTxHash(raw),
		Hash:      chain.Hash(raw),
		Amount:    chain.AmountFromBytes(raw[:32]),
	}
	text := must.Get(json.Marshal(want))(t)
	var got values
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("Unmarshal(%s): %v", text, err)
	}
	if got != want {
		t.Errorf("values changed on their way through %s", text)
	}
}

func TestUnmarshalTextRefusesOtherText(t *testing.T) {
	for _, text := range []string{`"12"`, `"0x1"`, `"0xzz"`} {
		for _, into := range []any{new(chain.Address), new(chain.Hash), new(chain.TxHash)} {
			if err := json.Unmarshal([]byte(text), into); err == nil {
				t.Errorf("Unmarshal(%s) into %T succeeded", text, into)
			}
		}
	}
	if err := json.Unmarshal([]byte(`"-1"`), new(chain.Amount)); err == nil {
		t.Error("Unmarshal of -1 into an amount succeeded")
	}
}

func TestParseID(t *testing.T) {
	for text, want := range map[string]chain.ID{
		"1": 1, "100000014": 100000014, "9223372036854775807": 1<<63 - 1,
		"": 0, "0": 0, "-1": 0, "0x1": 0, "1.0": 0, "9223372036854775808": 0,
	} {
		got, err := chain.ParseID(text)
		if got != want || (err == nil) != (want != 0) || err == nil && got.String() != text {
			t.Errorf("ParseID(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}

// TestMistypedChecksumsFail: the case of the letters is a checksum of all digits (EIP-55).
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
