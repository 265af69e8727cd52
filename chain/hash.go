package chain

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/mr-tron/base58"
)

// solanaSignatureLength is the length of a transaction hash on Solana in bytes; on EVM and TRON it is a Hash.
const solanaSignatureLength = 64

// TxHash identifies a transaction. The zero value means absent.
type TxHash struct{ raw string }

// NewTxHash returns raw as a transaction hash.
func NewTxHash(raw []byte) TxHash { return TxHash{string(raw)} }

// ParseTxHash parses hex like ParseHash, or base58 of 64 bytes.
func ParseTxHash(text string) (TxHash, error) {
	if raw, is := readHash(text); is {
		return NewTxHash(raw[:]), nil
	}
	if raw, err := decodeBase58(text, solanaSignatureLength); err == nil {
		return NewTxHash(raw), nil
	}
	return TxHash{}, fmt.Errorf("%.100q is not a transaction hash: want 0x and 64 hex digits, or a base58 signature", text)
}

// Bytes returns the hash as its chain stores it.
func (h TxHash) Bytes() []byte { return []byte(h.raw) }

// AppendTo appends what Bytes returns to b.
func (h TxHash) AppendTo(b []byte) []byte { return append(b, h.raw...) }

// IsAbsent reports whether the hash is missing.
func (h TxHash) IsAbsent() bool { return h.raw == "" }

// Families lists the chain families that can have a transaction with this hash.
func (h TxHash) Families() []Family {
	if len(h.raw) == solanaSignatureLength {
		return []Family{SVM}
	}
	return []Family{EVM, TVM}
}

// Format formats the hash for family: 0x hex, hex without prefix on TRON, base58 on Solana.
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

// String formats the hash as 0x hex, or as base58 if it is a signature: one canonical text per hash.
func (h TxHash) String() string { return h.Format(UnknownFamily) }

// Hash is any 32-byte hash: an order ID, a block hash, a submission ID. The zero value means absent.
type Hash [32]byte

// ParseHash parses 64 hex digits in any case, after 0x, 0X or nothing.
func ParseHash(text string) (Hash, error) {
	raw, is := readHash(text)
	if !is {
		return Hash{}, fmt.Errorf("%.100q is not 0x and 64 hex digits", text)
	}
	return raw, nil
}

func readHash(text string) (raw Hash, is bool) {
	digits := text
	if len(text) > 2 && (text[:2] == "0x" || text[:2] == "0X") {
		digits = text[2:]
	}
	if len(digits) != hex.EncodedLen(len(raw)) {
		return Hash{}, false
	}
	if _, err := hex.Decode(raw[:], []byte(digits)); err != nil {
		return Hash{}, false
	}
	return raw, true
}

// ParseSolanaHash parses base58 of 32 bytes, Solana's notation of block hashes.
func ParseSolanaHash(text string) (Hash, error) {
	raw, err := decodeBase58(text, len(Hash{}))
	if err != nil {
		return Hash{}, fmt.Errorf("%.80q is not base58 of 32 bytes", text)
	}
	return Hash(raw), nil
}

// IsAbsent reports whether the hash is all zero.
func (h Hash) IsAbsent() bool { return h == Hash{} }

// Compare compares hashes by their bytes.
func (h Hash) Compare(other Hash) int { return bytes.Compare(h[:], other[:]) }

// Format formats the hash as 0x hex, as base58 on Solana, without prefix on TRON.
func (h Hash) Format(family Family) string {
	if h.IsAbsent() {
		return ""
	}
	return TxHash{string(h[:])}.Format(family)
}

func (h Hash) String() string { return string(h.hex()) }

func (h Hash) hex() []byte {
	return hex.AppendEncode(append(make([]byte, 0, 2+2*len(h)), "0x"...), h[:])
}
