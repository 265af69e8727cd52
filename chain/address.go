package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/mr-tron/base58"
	"golang.org/x/crypto/sha3"
)

// Byte lengths of an address: EVM and TRON contracts hold 20 bytes, Solana 32.
const (
	evmAddressLength    = 20
	solanaAddressLength = 32

	// tronPrefix is the version byte in front of a TRON address in base58check.
	tronPrefix = 0x41
)

// Address is an account, contract or mint as its chain stores it, of any length in orders. The zero value means absent,
// unlike the zero address (all bytes zero: the native coin).
type Address struct{ raw string }

// NewAddress returns raw as an address; empty raw is the absent address.
func NewAddress(raw []byte) Address { return Address{string(raw)} }

// ParseAddress parses an address in the notation of family: 0x and 40 hex digits on EVM, base58 of 32 bytes on Solana;
// on TRON base58check, 0x hex, or 41 and 40 hex digits.
func ParseAddress(text string, family Family) (Address, error) {
	switch family {
	case EVM:
		return parseHexAddress(text)
	case SVM:
		raw, err := decodeBase58(text, solanaAddressLength)
		if err != nil {
			return Address{}, fmt.Errorf("%.80q is not base58 of %d bytes", text, solanaAddressLength)
		}
		return NewAddress(raw), nil
	case TVM:
		if strings.HasPrefix(text, "0x") {
			return parseHexAddress(text)
		}
		if digits, versioned := strings.CutPrefix(text, "41"); versioned {
			return parseHexAddress("0x" + digits)
		}
		return parseTronAddress(text)
	}
	return Address{}, fmt.Errorf("%.80q is an address of an unknown chain family", text)
}

// ParseAnyAddress parses an address of any family: hex is EVM, base58check TRON, 32 bytes of base58 Solana.
func ParseAnyAddress(text string) (Address, Family, error) {
	for _, family := range []Family{EVM, TVM, SVM} {
		if a, err := ParseAddress(text, family); err == nil {
			return a, family, nil
		}
	}
	return Address{}, UnknownFamily, fmt.Errorf("%.80q is not an address: want 0x and 40 hex digits, or base58", text)
}

func parseHexAddress(text string) (Address, error) {
	digits, prefixed := strings.CutPrefix(text, "0x")
	if prefixed && len(digits) == 2*evmAddressLength {
		var raw [2 * evmAddressLength]byte // decoded in place: a cache hit allocates nothing here
		copy(raw[:], digits)
		if n, err := hex.Decode(raw[:], raw[:]); err == nil {
			return NewAddress(raw[:n]), nil
		}
	}
	return Address{}, fmt.Errorf("%.80q is not 0x and 40 hex digits", text)
}

func parseTronAddress(text string) (Address, error) {
	const checksumLength = 4
	raw, err := decodeBase58(text, 1+evmAddressLength+checksumLength)
	if err != nil || raw[0] != tronPrefix {
		return Address{}, fmt.Errorf("%.80q is not a base58check TRON address", text)
	}
	body, checksum := raw[:1+evmAddressLength], raw[1+evmAddressLength:]
	if !bytes.Equal(checksum, tronChecksum(body)) {
		return Address{}, fmt.Errorf("%.80q has a wrong checksum", text)
	}
	return NewAddress(body[1:]), nil
}

// decodeBase58 bounds the text before decoding it: base58 decoding is quadratic in its length.
func decodeBase58(text string, length int) ([]byte, error) {
	if len(text) > 2*length {
		return nil, errors.New("too long")
	}
	raw, err := base58.Decode(text)
	if err == nil && len(raw) != length {
		err = fmt.Errorf("%d bytes", len(raw))
	}
	return raw, err
}

func tronChecksum(body []byte) []byte {
	once := sha256.Sum256(body)
	twice := sha256.Sum256(once[:])
	return twice[:4]
}

// Bytes returns the address as its chain stores it; nil if absent.
func (a Address) Bytes() []byte {
	if a.IsAbsent() {
		return nil
	}
	return []byte(a.raw)
}

// AppendTo appends what Bytes returns to b.
func (a Address) AppendTo(b []byte) []byte { return append(b, a.raw...) }

// Len returns the length of the address in bytes; zero if absent.
func (a Address) Len() int { return len(a.raw) }

// IsAbsent reports whether the address is missing.
func (a Address) IsAbsent() bool { return a.raw == "" }

// Compare sorts addresses by their bytes.
func (a Address) Compare(b Address) int { return strings.Compare(a.raw, b.raw) }

// IsNative reports whether this is the zero address, which represents the chain's native coin.
func (a Address) IsNative() bool { return a.raw != "" && strings.Trim(a.raw, "\x00") == "" }

// Fits reports whether the address has the length of family's addresses; in orders it may have any length.
func (a Address) Fits(family Family) bool { return a.Len() == NativeCoin(family).Len() }

// NativeCoin returns the zero address of family.
func NativeCoin(family Family) Address {
	if family == SVM {
		return NewAddress(make([]byte, solanaAddressLength))
	}
	return NewAddress(make([]byte, evmAddressLength))
}

// Format formats the address for family: 32 bytes of an unknown family as base58, lengths that do not fit as 0x hex.
func (a Address) Format(family Family) string {
	switch {
	case a.IsAbsent():
		return ""
	case len(a.raw) == solanaAddressLength && (family == SVM || family == UnknownFamily):
		return base58.Encode([]byte(a.raw))
	case len(a.raw) == evmAddressLength && family == TVM:
		body := append([]byte{tronPrefix}, a.raw...)
		return base58.Encode(append(body, tronChecksum(body)...))
	}
	return a.String()
}

// Checksum formats a 20-byte address in EIP-55 mixed case, other lengths like String.
func (a Address) Checksum() string {
	if len(a.raw) != evmAddressLength {
		return a.String()
	}
	digits := []byte(hex.EncodeToString([]byte(a.raw)))
	hasher := sha3.NewLegacyKeccak256()
	hasher.Write(digits)
	hash := hasher.Sum(nil)
	for i, digit := range digits {
		nibble := hash[i/2] >> (4 * (1 - i%2)) & 0xf
		if digit >= 'a' && nibble >= 8 {
			digits[i] = digit - 'a' + 'A'
		}
	}
	return "0x" + string(digits)
}

// ChecksumFails reports whether text is hex of 20 bytes in mixed case with a wrong EIP-55 checksum.
func ChecksumFails(text string) bool {
	digits, prefixed := strings.CutPrefix(text, "0x")
	if !prefixed || !strings.ContainsAny(digits, "abcdef") || !strings.ContainsAny(digits, "ABCDEF") {
		return false
	}
	a, err := parseHexAddress(text)
	return err == nil && a.Checksum() != text
}

// String formats the address as 0x hex, for logs and errors.
func (a Address) String() string {
	if a.IsAbsent() {
		return ""
	}
	return string(a.appendHex(make([]byte, 0, 2+2*solanaAddressLength)))
}

func (a Address) appendHex(dst []byte) []byte {
	return hex.AppendEncode(append(dst, "0x"...), []byte(a.raw))
}

// ContractCall is calldata for a contract.
type ContractCall struct {
	To   Address
	Data []byte
}
