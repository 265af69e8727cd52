package solana

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/token"
	"crossgate/upstream/jsonrpc"
)

var _ token.Reader = (*Chain)(nil)

// metadataProgram stores the names of tokens: Metaplex.
var metadataProgram = solana.MustAccount("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")

// ReadTokens reads the accounts of mints and of their metadata; see token.Reader.
func (c *Chain) ReadTokens(ctx context.Context, mints []chain.Address) ([]token.Reading, error) {
	accounts := make([]chain.Address, 0, 2*len(mints))
	for _, mint := range mints {
		if !mint.Fits(chain.SVM) {
			mint = chain.NativeCoin(chain.SVM) // which is not a mint; nodes refuse addresses of other lengths
		}
		metadata := solana.ProgramAddress(metadataProgram, []byte("metadata"), metadataProgram.Bytes(), mint.Bytes())
		accounts = append(accounts, mint, metadata)
	}
	var asked []*jsonrpc.Call
	states, err := c.readAccounts(ctx, accounts, func(call *jsonrpc.Call) {
		byAccount(call, func(data []byte) ([]byte, error) { return data, nil }, solana.TokenProgram, solana.Token2022Program, metadataProgram)
		asked = append(asked, call)
		call.Same = func(a, b any) bool {
			return reflect.DeepEqual(readMints(a.(*accountInfos).Value), readMints(b.(*accountInfos).Value))
		}
	})
	if err != nil {
		return nil, err
	}
	readings := readMints(states)
	for i := range readings {
		readings[i].IsSingle = asked[2*i/accountsAtOnce].IsSingle()
	}
	return readings, nil
}

// isToken reports whether a token program owns an account.
func (a *accountInfo) isToken() bool {
	return a != nil && (a.Owner.Address == solana.TokenProgram || a.Owner.Address == solana.Token2022Program)
}

// programOf finds the program of a token in its mint's account. No other may be called with a signature.
func programOf(token chain.Address) func(mint []*accountInfo) (chain.Address, error) {
	return func(mint []*accountInfo) (chain.Address, error) {
		switch {
		case token.IsNative():
			return solana.TokenProgram, nil
		case !mint[0].isToken():
			return chain.Address{}, fmt.Errorf("no mint %s on Solana", token.Format(chain.SVM))
		}
		return mint[0].Owner.Address, nil
	}
}

// readMints decodes mints, each followed by the account of its metadata.
func readMints(states []*accountInfo) []token.Reading {
	readings := make([]token.Reading, len(states)/2)
	for i := range readings {
		readings[i] = readMint(states[2*i], states[2*i+1])
	}
	return readings
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

// readMint decodes a mint; the names that Metaplex stores take precedence over the mint's own.
func readMint(mint, metadata *accountInfo) token.Reading {
	if !mint.isToken() || len(mint.Data) < mintSize || mint.Data[mintInitialised] != 1 {
		return token.Reading{}
	}
	decimals := mint.Data[mintDecimals]
	reading := token.Reading{Decimals: &decimals}
	if metadata != nil && metadata.Owner.Address == metadataProgram && len(metadata.Data) > 0 {
		const key = 1 // which kind of account it is
		reading.Name, reading.Symbol = namesIn(metadata.Data[key:])
	}
	if reading.Name == "" && reading.Symbol == "" {
		reading.Name, reading.Symbol = namesIn(extension(mint.Data))
	}
	return reading
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

// namesIn decodes name and symbol, which follow two keys both at Metaplex and in an extension.
func namesIn(data []byte) (name, symbol string) {
	r := solana.Reader{Rest: data}
	r.Take(2 * solana.KeySize) // who may change it, and the mint
	text := func() string { return token.CleanText(string(r.Take(uint64(r.Uint32())))) }
	name = text()
	return name, text()
}
