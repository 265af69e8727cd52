package evm

import (
	"bytes"
	"context"
	"slices"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/token"
)

var _ token.Reader = (*Chain)(nil)

// The metadata functions of ERC-20 (EIP-20).
var metadataCalls = [...][]byte{words.Call("decimals()"), words.Call("name()"), words.Call("symbol()")}

// ReadTokens reads the metadata of the tokens at addresses; see token.Reader.
func (c *Chain) ReadTokens(ctx context.Context, addresses []chain.Address) ([]token.Reading, error) {
	calls := make([]chain.ContractCall, 0, len(addresses)*len(metadataCalls))
	for _, address := range addresses {
		if !address.Fits(c.chain.Family) {
			address = chain.NativeCoin(c.chain.Family) // not a contract; nodes reject other families' addresses
		}
		for _, data := range metadataCalls {
			calls = append(calls, chain.ContractCall{To: address, Data: data})
		}
	}
	replies, err := c.callContracts(ctx, c.rpc.Batching(), calls, weightOf)
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

// decimals decodes a uint8; nil if the answer is not one.
func decimals(answer []byte) *uint8 {
	read := words.New(answer)
	n := uint8(read.Uint(0, 8))
	if read.Err() != nil {
		return nil
	}
	return &n
}

// text decodes an ABI string, or the bytes32 padded with zeros that contracts older than the standard return.
func text(answer []byte) string {
	if len(answer) == words.Size {
		return token.CleanText(string(bytes.TrimRight(answer, "\x00")))
	}
	return token.CleanText(string(words.New(answer).Bytes(0)))
}
