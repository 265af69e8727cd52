package onchain_test

import (
	"encoding/hex"
	"strings"
)

// hexBytes is a byte string that JSON holds as 0x hex.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	*b = raw
	return err
}
