package solana

import (
	"context"
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

// readMint decodes a mint; the names that Metaplex stores take precedence over the mint's own.
func readMint(account, metadata *accountInfo) (reading token.Reading) {
	if !account.isToken() {
		return reading
	}
	mint, is := solana.ReadMint(account.Data)
	if !is {
		return reading
	}
	reading.Decimals = &mint.Decimals
	name := func(name, symbol string) {
		reading.Name, reading.Symbol = token.CleanText(name), token.CleanText(symbol)
	}
	if metadata != nil && metadata.Owner.Address == metadataProgram {
		name(solana.ReadMetadata(metadata.Data))
	}
	if reading.Name == "" && reading.Symbol == "" {
		name(mint.Names())
	}
	return reading
}
