package evm

import (
	"bytes"
	"context"
	"slices"

	"crossgate/chain"
	"crossgate/token"
)

var _ token.Reader = (*Chain)(nil)

// The metadata functions of ERC-20 (EIP-20).
var metadataCalls = [...][]byte{Selector("decimals()"), Selector("name()"), Selector("symbol()")}

// ReadTokens reads the metadata of the tokens at addresses; see token.Reader.
func (c *Chain) ReadTokens(ctx context.Context, addresses []chain.Address) ([]token.Reading, error) {
	calls := make([]contractCall, 0, len(addresses)*len(metadataCalls))
	for _, address := range addresses {
		for _, data := range metadataCalls {
			calls = append(calls, contractCall{address, data})
		}
	}
	if len(calls) == 0 {
		return nil, nil
	}
	replies, err := c.callContracts(ctx, c.rpc.Batching(), calls, isAny)
	if err != nil {
		return nil, err
	}
	readings := make([]token.Reading, len(addresses))
	for i := range readings {
		said := replies[i*len(metadataCalls):][:len(metadataCalls)]
		readings[i] = token.Reading{
			Decimals: decimals(said[0].data), Name: text(said[1].data), Symbol: text(said[2].data),
			IsSingle: slices.ContainsFunc(said, func(r reply) bool { return r.isSingle }),
		}
	}
	return readings, nil
}

// decimals reads a uint8; nil when the answer is none.
func decimals(answer []byte) *uint8 {
	n, ok := Word(answer, 0)
	if !ok || !n.IsUint64() || n.Uint64() > 255 {
		return nil
	}
	small := uint8(n.Uint64())
	return &small
}

// text reads an ABI string, or the bytes32 padded with zeros that contracts from before the standard answer.
func text(answer []byte) string {
	const size = 32
	if len(answer) == size {
		return token.CleanText(string(bytes.TrimRight(answer, "\x00")))
	}
	offset, ok := Word(answer, 0)
	if !ok || !offset.IsUint64() || offset.Uint64() > uint64(len(answer)) {
		return ""
	}
	tail := answer[offset.Uint64():]
	length, ok := Word(tail, 0)
	if !ok || !length.IsUint64() || length.Uint64() > uint64(len(tail)-size) {
		return ""
	}
	return token.CleanText(string(tail[size : size+length.Uint64()]))
}
