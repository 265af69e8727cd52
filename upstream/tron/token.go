package tron

import (
	"context"

	"crossgate/chain"
	"crossgate/token"
)

var _ token.Reader = (*Chain)(nil)

// ReadTokens asks the TRC-20 contracts of addresses what they are, as ERC-20 ones are asked; see token.Reader.
func (c *Chain) ReadTokens(ctx context.Context, addresses []chain.Address) ([]token.Reading, error) {
	return c.shared.ReadTokens(ctx, addresses)
}
