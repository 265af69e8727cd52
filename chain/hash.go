package chain

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/mr-tron/base58"
)

// Byte lengths of a transaction hash: 32 on EVM and TRON, a 64-byte signature on Solana.
const (
	evmHashLength         = 32
	solanaSignatureLength = 64
)

// TxHash names a transaction. The zero value means absent.
type TxHash struct{ raw string }

// NewTxHash holds raw as a transaction hash.
func NewTxHash(raw []byte) TxHash { return TxHash{string(raw)} }

// ParseTxHash reads 0x and 64 hex digits, 64 hex digits alone, or base58 of 64 bytes.
func ParseTxHash(text string) (TxHash, error) {
	if digits := strings.TrimPrefix(text, "0x"); len(digits) == 2*evmHashLength {
		var raw [evmHashLength]byte
		if _, err := hex.Decode(raw[:], []byte(digits)); err == nil {
			return NewTxHash(raw[:]), nil
		}
	}
	if raw, err := decodeBase58(text, solanaSignatureLength); err == nil {
		return NewTxHash(raw), nil
	}
	return TxHash{}, fmt.Errorf("%.100q is no transaction hash: want 0x and 64 hex digits, or a base58 signature", text)
}

// Bytes returns the hash as its chain stores it.
func (h TxHash) Bytes() []byte { return []byte(h.raw) }

// AppendTo appends what Bytes returns to b.
func (h TxHash) AppendTo(b []byte) []byte { return append(b, h.raw...) }

// IsAbsent reports whether there is no hash.
func (h TxHash) IsAbsent() bool { return h.raw == "" }

// Families lists the chain families on which a transaction can have this hash.
func (h TxHash) Families() []Family {
	if len(h.raw) == solanaSignatureLength {
		return []Family{SVM}
	}
	return []Family{EVM, TVM}
}

// Format writes the hash in the text form of family: 0x hex, hex without prefix on TRON, base58 on Solana.
func (h TxHash) Format(family Family) string {
	switch {
	case h.IsAbsent():
		return ""
	case family == SVM || len(h.raw) == solanaSignatureLength:
		return base58.Encode([]byte(h.raw))
	case family == TVM:
		return hex.EncodeToString([]byte(h.raw))
	}
	return "0x" + hex.EncodeToString([]byte(h.raw))
}

// String writes the hash as 0x hex, or as base58 when it is a signature: one canonical text per hash.
func (h TxHash) String() string { return h.Format(UnknownFamily) }

// Hash is any 32-byte hash: an order id, a block hash, a submission id. The zero value means absent.
type Hash [32]byte

// ParseHash reads 0x and 64 hex digits in any case.
func ParseHash(text string) (Hash, error) {
	digits, prefixed := strings.CutPrefix(text, "0x")
	var raw Hash
	if !prefixed || len(digits) != hex.EncodedLen(len(raw)) {
		return Hash{}, fmt.Errorf("%.100q is not 0x and 64 hex digits", text)
	}
	if _, err := hex.Decode(raw[:], []byte(digits)); err != nil {
		return Hash{}, fmt.Errorf("%.100q is not 0x and 64 hex digits", text)
	}
	return raw, nil
}

// ParseSolanaHash reads base58 of 32 bytes, in which Solana writes hashes of blocks.
func ParseSolanaHash(text string) (Hash, error) {
	raw, err := decodeBase58(text, len(Hash{}))
	if err != nil {
		return Hash{}, fmt.Errorf("%.80q is not base58 of 32 bytes", text)
	}
	return Hash(raw), nil
}

// IsAbsent reports whether the hash is all zero.
func (h Hash) IsAbsent() bool { return h == Hash{} }

// Format writes the hash as 0x hex, as base58 on Solana, without prefix on TRON.
func (h Hash) Format(family Family) string {
	if h.IsAbsent() {
		return ""
	}
	return TxHash{string(h[:])}.Format(family)
}

func (h Hash) String() string { return "0x" + hex.EncodeToString(h[:]) }
