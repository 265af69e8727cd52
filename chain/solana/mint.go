package solana

import "encoding/binary"

// Mint is what a mint says of its token.
type Mint struct {
	Decimals uint8
	names    []byte // of its extension; empty without one
}

// Offsets in a mint's account (github.com/solana-program/token, and its extensions in token-2022).
const (
	mintDecimals    = 44
	mintInitialised = 45
	mintSize        = 82
	mintKind        = 165 // of a mint with extensions, which follow it
	isMint          = 1
	extensionNames  = 19 // TokenMetadata
)

// ReadMint decodes the data of a token program's account, if it is an initialised mint.
func ReadMint(data []byte) (m Mint, is bool) {
	if len(data) < mintSize || data[mintInitialised] != 1 {
		return m, false
	}
	return Mint{data[mintDecimals], extension(data)}, true
}

// extension returns the content of the extension with a mint's own names, nil without one. Extensions are kind and
// length, two bytes each, and content, one after the other.
func extension(mint []byte) []byte {
	if len(mint) <= mintKind || mint[mintKind] != isMint {
		return nil
	}
	for rest := mint[mintKind+1:]; len(rest) >= 4; {
		kind, length := binary.LittleEndian.Uint16(rest), int(binary.LittleEndian.Uint16(rest[2:]))
		if rest = rest[4:]; length > len(rest) {
			return nil
		}
		if kind == extensionNames {
			return rest[:length]
		}
		rest = rest[length:]
	}
	return nil
}

// Names returns the token's name and symbol by the mint itself.
func (m Mint) Names() (name, symbol string) { return readNames(m.names) }

// ReadMetadata decodes name and symbol in the data of Metaplex's account for a mint.
func ReadMetadata(data []byte) (name, symbol string) {
	const key = 1 // which kind of account it is
	return readNames(data[min(key, len(data)):])
}

// readNames decodes name and symbol, which follow two keys both at Metaplex and in an extension.
func readNames(data []byte) (name, symbol string) {
	r := Reader{Rest: data}
	r.Take(2 * KeySize) // who may change it, and the mint
	text := func() string { return string(r.Take(uint64(r.Uint32()))) }
	name = text()
	return name, text()
}
