package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/upstream/jsonrpc"
)

// multicallABI is the part of Multicall3 that is used (github.com/mds1/multicall3).
var multicallABI = ParseABI(`[{"type":"function","name":"aggregate3","stateMutability":"payable",
	"inputs":[{"name":"calls","type":"tuple[]","components":[
		{"name":"target","type":"address"},{"name":"allowFailure","type":"bool"},{"name":"callData","type":"bytes"}]}],
	"outputs":[{"name":"returnData","type":"tuple[]","components":[
		{"name":"success","type":"bool"},{"name":"returnData","type":"bytes"}]}]}
]`)

// callResult is what Multicall3 returns of a call.
type callResult struct {
	Success    bool
	ReturnData []byte
}

// ParseABI reads an ABI in JSON that is part of the program.
func ParseABI(text string) abi.ABI {
	parsed, err := abi.JSON(strings.NewReader(text))
	if err != nil {
		panic("evm: ABI: " + err.Error())
	}
	return parsed
}

// contractCall is calldata for a contract.
type contractCall struct {
	to   chain.Address
	data []byte
}

// largestMulticall bounds the gas and the answer of one multicall.
const largestMulticall = 300

// callContracts calls contracts on the newest block. Answers are in the sequence of calls; that of a contract that
// reverts, or is none, is empty. It takes one round trip as long as calls are not very many and the chain has
// Multicall3, or the endpoints take batches.
func (c *Chain) callContracts(ctx context.Context, rpc *jsonrpc.Client, calls []contractCall) (answers [][]byte, by []string, err error) {
	if c.chain.Contracts.Multicall.IsAbsent() || len(calls) == 1 {
		return c.callEach(ctx, rpc, calls)
	}
	answers = make([][]byte, 0, len(calls))
	for part := range slices.Chunk(calls, largestMulticall) {
		got, teller, err := c.aggregate(ctx, rpc, part)
		if refusedByContract(err) || errors.Is(err, errNoMulticall) {
			// Not deployed, or one contract used up the gas of all.
			got, teller, err = c.callEach(ctx, rpc, part)
		}
		if err != nil {
			return nil, nil, err
		}
		answers, by = append(answers, got...), append(by, teller...)
	}
	return answers, by, nil
}

var errNoMulticall = errors.New("no answer of Multicall3")

// aggregate makes calls through Multicall3.
func (c *Chain) aggregate(ctx context.Context, rpc *jsonrpc.Client, calls []contractCall) (answers [][]byte, by []string, err error) {
	type call3 struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	arguments := make([]call3, len(calls))
	for i, each := range calls {
		arguments[i] = call3{NodeAddress(each.to), true, each.data}
	}
	data, err := multicallABI.Pack("aggregate3", arguments)
	if err != nil {
		return nil, nil, fmt.Errorf("encode aggregate3: %w", err)
	}
	var raw Payload
	asked := contractCall{c.chain.Contracts.Multicall, data}.on(&raw, newestTag)
	if err := rpc.All(ctx, asked); err != nil {
		return nil, nil, err
	}
	var results []callResult
	if err := multicallABI.UnpackIntoInterface(&results, "aggregate3", raw); err != nil || len(results) != len(calls) {
		return nil, nil, errNoMulticall
	}
	answers = make([][]byte, len(results))
	for i, result := range results {
		if result.Success {
			answers[i] = result.ReturnData
		}
	}
	return answers, []string{asked.By}, nil
}

// callEach makes every call as an eth_call of its own.
func (c *Chain) callEach(ctx context.Context, rpc *jsonrpc.Client, calls []contractCall) (answers [][]byte, by []string, err error) {
	payloads := make([]Payload, len(calls))
	rpcs := make([]*jsonrpc.Call, len(calls))
	for i, each := range calls {
		rpcs[i] = each.on(&payloads[i], newestTag)
	}
	rpc.Each(ctx, rpcs...)
	answers = make([][]byte, len(calls))
	for i, made := range rpcs {
		if made.Err != nil && !refusedByContract(made.Err) {
			return nil, nil, made.Err
		}
		answers[i] = payloads[i]
	}
	return answers, namesOf(rpcs), nil
}

// namesOf are the endpoints that answered calls, each once.
func namesOf(calls []*jsonrpc.Call) []string {
	var names []string
	for _, call := range calls {
		if call.By != "" && !slices.Contains(names, call.By) {
			names = append(names, call.By)
		}
	}
	return names
}

// on is the call at a block, as an eth_call.
func (c contractCall) on(out *Payload, block any) *jsonrpc.Call {
	return jsonrpc.NewCall(out, nil, "eth_call", Message{To: c.to, Data: c.data}, block)
}

// Word reads the 32-byte word at index of an answer.
func Word(answer []byte, index int) (*big.Int, bool) {
	const size = 32
	if len(answer) < (index+1)*size {
		return nil, false
	}
	return new(big.Int).SetBytes(answer[index*size : (index+1)*size]), true
}

// NodeAddress is a as go-ethereum's encoder takes it; absent is the zero address.
func NodeAddress(a chain.Address) common.Address { return common.BytesToAddress(a.Bytes()) }

// PaddedAddress is a as the ABI writes it.
func PaddedAddress(a chain.Address) []byte { return append(make([]byte, 12, 32), a.Bytes()...) }

// Selector is the part of calldata that names a function.
func Selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }
