// Package tron reads order events, token metadata and the costs and effects of transactions from TRON's nodes. TRON
// runs the protocol's Solidity contracts, and java-tron answers Ethereum's JSON-RPC about them, under /jsonrpc
// (documentation-en, docs/api/json-rpc): a Chain is upstream/evm's, and here is only what differs.
package tron

import (
	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// Chain is TRON. Its gas is energy, at one price for everybody, and bandwidth is paid for beside it. Its finalized
// block is the newest solidified one. Its Origin is block 0, as java-tron has no past state to search by; steps of an
// order that came long after its creation take a search of all logs since then. Safe for concurrent use.
type Chain struct{ *evm.Chain }

var (
	_ order.HistorySource   = (*Chain)(nil)
	_ order.StateReader     = (*Chain)(nil)
	_ order.TakeStateReader = (*Chain)(nil)
	_ token.Reader          = (*Chain)(nil)
)

// New returns the chain that rpc's endpoints serve. Their contracts are asked at the newest block only:
// java-tron refuses any other in eth_call. Its history of fees would say nothing: energy has one price.
func New(c chain.Chain, rpc *jsonrpc.Client, options ...evm.Option) *Chain {
	return &Chain{evm.New(c, rpc, append(options, evm.WithoutPast(), evm.WithoutMarket())...)}
}
