package gateway

import (
	"context"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/token"
)

// sixDecimals are contracts that return nothing but that.
type sixDecimals struct{}

func (sixDecimals) ReadTokens(_ context.Context, addresses []chain.Address) ([]token.Reading, error) {
	decimals := uint8(6)
	readings := make([]token.Reading, len(addresses))
	for i := range readings {
		readings[i].Decimals = &decimals
	}
	return readings, nil
}

// TestTokensAreStoredBeforeTheDatabaseIsClosed ends a gateway whose client has its answer while the metadata of the
// answer's token is still being stored. What comes after parts is the database.
func TestTokensAreStoredBeforeTheDatabaseIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, stored := make(chan struct{}), 0
		p := &parts{tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: chain.Documented(),
			Readers:  map[chain.ID]token.Reader{chain.Ethereum: sixDecimals{}},
			Remember: func(_ context.Context, readings map[token.Key]token.Reading) { <-store; stored += len(readings) },
		})}
		must.Get(p.tokens.Lookup(t.Context(), chain.Ethereum, chain.NewAddress([]byte{19: 1})))(t)
		s, closed := &set{parts: p, estimator: quote.New(quote.Options{})}, false
		go func() {
			s.close()
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("closed while tokens are being stored")
		}
		close(store)
		synctest.Wait()
		if !closed || stored == 0 {
			t.Errorf("closed: %v; %d tokens were stored, want some", closed, stored)
		}
	})
}
