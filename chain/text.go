package chain

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Values are stored as text: hashes and addresses as 0x hex, signatures as base58, amounts as digits; absent is empty.

// MarshalText formats the address as 0x hex, the absent one as the empty text.
func (a Address) MarshalText() ([]byte, error) {
	if a.IsAbsent() {
		return nil, nil
	}
	return a.appendHex(make([]byte, 0, 2+2*a.Len())), nil
}

// UnmarshalText reads what MarshalText wrote; the family does not matter.
func (a *Address) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*a = Address{}
		return nil
	}
	digits, prefixed := strings.CutPrefix(string(text), "0x")
	raw, err := hex.DecodeString(digits)
	if !prefixed || err != nil {
		return fmt.Errorf("%.80q is not 0x hex", text)
	}
	*a = NewAddress(raw)
	return nil
}

// MarshalText formats the hash in its canonical text.
func (h TxHash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *TxHash) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*h = TxHash{}
		return nil
	}
	parsed, err := ParseTxHash(string(text))
	*h = parsed
	return err
}

// MarshalText formats the hash as 0x hex.
func (h Hash) MarshalText() ([]byte, error) { return h.hex(), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(string(text))
	*h = parsed
	return err
}

// MarshalText formats the amount in decimal digits.
func (a Amount) MarshalText() ([]byte, error) { return a.AppendDecimal(nil), nil }

// UnmarshalText parses decimal digits.
func (a *Amount) UnmarshalText(text []byte) error {
	parsed, err := ParseAmount(string(text))
	*a = parsed
	return err
}
