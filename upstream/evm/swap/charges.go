package swap

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote/crosschain"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// Code returns the code at an address on the newest block.
func (s *Simulator) Code(ctx context.Context, at chain.Address) (code []byte, err error) {
	err = s.chain.Client().All(ctx, codeCall((*evm.Payload)(&code), at))
	return code, err
}

// codeCall asks for the code at an address on the newest block. That there is none is doubted.
func codeCall(code *evm.Payload, at chain.Address) *jsonrpc.Call {
	asked := jsonrpc.NewCall(code, nil, "eth_getCode", at, "latest")
	jsonrpc.Greater(asked, func(a, b evm.Payload) int { return cmp.Compare(len(a), len(b)) })
	return asked
}

// cheaper ranks the words in which contracts say what they charge: the less counts, since users pay it.
func cheaper(a, b evm.Payload) int {
	return cmp.Or(cmp.Compare(min(len(a), words.Size), min(len(b), words.Size)), bytes.Compare(b, a))
}

// callTwice calls contracts on the newest block by two voices each: of different answers the greater counts, unless two
// agree. An answer is empty for a contract that reverts or does not exist.
func callTwice(ctx context.Context, c *evm.Chain, calls []chain.ContractCall, compare func(a, b evm.Payload) int) ([][]byte, error) {
	answers, asked := make([][]byte, len(calls)), make([]*jsonrpc.Call, len(calls))
	for i, call := range calls {
		asked[i] = jsonrpc.NewCall((*evm.Payload)(&answers[i]), nil, "eth_call", evm.Message{To: call.To, Data: call.Data}, "latest")
		asked[i].Twice, asked[i].MayRevert = true, true
		jsonrpc.Prefer(asked[i], compare)
	}
	return answers, c.Client().All(ctx, asked...)
}

// Charges returns the charges of DlnSource and the gate for orders with a chain, in one round trip (dln-contracts,
// DlnSource.sol and DeBridgeGate.sol). Chains whose gate is unknown have no message fee.
func (s *Simulator) Charges(ctx context.Context, with chain.ID) (charges crosschain.Charges, err error) {
	contracts := s.chain.Facts().Contracts
	calls := []chain.ContractCall{
		{To: contracts.DlnSource, Data: words.Call("globalFixedNativeFee()")},
		{To: contracts.DlnSource, Data: words.Call("globalTransferFeeBps()")},
	}
	if !contracts.Gate.IsAbsent() {
		calls = append(calls, messageFees(contracts.Gate, with)...)
	}
	answers, err := callTwice(ctx, s.chain, calls, cheaper)
	if err != nil {
		return charges, fmt.Errorf("charges of the order contracts: %w", err)
	}
	if len(answers[0]) != words.Size || len(answers[1]) != words.Size {
		return charges, fmt.Errorf("charges of the order contracts: those of chain %d answer in an unknown format", s.chain.Facts().ID)
	}
	bps, fits := chain.AmountFromBytes(answers[1]).Uint64()
	if !fits || bps >= 10_000 {
		return charges, fmt.Errorf("the order contract of chain %d charges 100 %% or more", s.chain.Facts().ID)
	}
	charges = crosschain.Charges{Fixed: chain.AmountFromBytes(answers[0]), TransferBps: int(bps)}
	if len(answers) > 2 {
		charges.Message, err = messageFee(answers[2:], with)
	}
	return charges, err
}
