// Package tron asks TRON's nodes about order events, token metadata and what transactions cost and do. TRON runs the protocol's Solidity
// contracts, and java-tron answers Ethereum's JSON-RPC about them, under /jsonrpc (documentation-en,
// docs/api/json-rpc); what that lacks is said here, what it shares is upstream/evm's.
package tron

import (
	"context"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// Chain is TRON. It is less than the chain beneath it: its gas is energy, of a price that is the same for everybody,
// and bandwidth is paid for beside it. Safe for concurrent use.
type Chain struct{ shared *evm.Chain }

// New returns the chain that rpc's endpoints serve. Their contracts are asked at the newest block only:
// java-tron refuses any other in eth_call. Its history of fees would tell nothing: energy has one price.
func New(c chain.Chain, rpc *jsonrpc.Client) *Chain {
	return &Chain{evm.New(c, rpc, evm.WithoutPast(), evm.WithoutMarket())}
}

// Head returns the newest block and the newest solidified one, which java-tron tells under the tag finalized.
func (c *Chain) Head(ctx context.Context) (order.Head, error) { return c.shared.Head(ctx) }

// CallAll asks contracts on the newest block; see evm.Chain.CallAll.
func (c *Chain) CallAll(ctx context.Context, to []chain.Address, data [][]byte) ([][]byte, error) {
	return c.shared.CallAll(ctx, to, data)
}

// Block returns the block that has number now; see order.Source.
func (c *Chain) Block(ctx context.Context, number uint64) (order.Block, error) {
	return c.shared.Block(ctx, number)
}
