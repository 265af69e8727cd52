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

// Chain is TRON: gas is energy at one price, bandwidth is paid beside it, finalized is solidified. java-tron has no
// past state, so its Origin is block 0 and late steps of an order take a search of all logs. Safe for concurrent use.
type Chain struct{ *evm.Chain }

var (
	_ order.HistorySource   = (*Chain)(nil)
	_ order.StateReader     = (*Chain)(nil)
	_ order.TakeStateReader = (*Chain)(nil)
	_ token.Reader          = (*Chain)(nil)
)

// New returns the chain of rpc's endpoints. java-tron's eth_call knows the newest block alone, and energy has one
// price.
func New(c chain.Chain, rpc *jsonrpc.Client, options ...evm.Option) *Chain {
	return &Chain{evm.New(c, rpc, append(options, evm.WithoutPast(), evm.WithoutMarket())...)}
}
