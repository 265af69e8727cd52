package evm

import (
	"context"

	"crossgate/chain"
)

// Message is a transaction as eth_call and eth_estimateGas take it.
type Message struct {
	From  *chain.Address `json:"from,omitempty"`
	To    chain.Address  `json:"to"`
	Data  Payload        `json:"data"`
	Value *Amount        `json:"value,omitempty"`
}

// Call calls a contract on the newest block. The answer is empty for a missing contract; a *jsonrpc.Error is in the
// error's chain when the contract reverts.
func (c *Chain) Call(ctx context.Context, to chain.Address, data []byte) ([]byte, error) {
	var answer Payload
	if err := c.rpc.All(ctx, contractCall{to, data}.on(&answer, "latest")); err != nil {
		return nil, err
	}
	return answer, nil
}
