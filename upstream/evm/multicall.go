package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/upstream/jsonrpc"
)

// multicallABI is the part of Multicall3 that is used (github.com/mds1/multicall3).
var multicallABI = parseABI(`[{"type":"function","name":"aggregate3","stateMutability":"payable",
	"inputs":[{"name":"calls","type":"tuple[]","components":[
		{"name":"target","type":"address"},{"name":"allowFailure","type":"bool"},{"name":"callData","type":"bytes"}]}],
	"outputs":[{"name":"returnData","type":"tuple[]","components":[
		{"name":"success","type":"bool"},{"name":"returnData","type":"bytes"}]}]}]`)

func parseABI(text string) abi.ABI {
	parsed, err := abi.JSON(strings.NewReader(text))
	if err != nil {
		panic("evm: ABI: " + err.Error())
	}
	return parsed
}

// question is calldata for a contract.
type question struct {
	to   chain.Address
	data []byte
}

// questionsAtOnce bounds the gas and the answer of one multicall.
const questionsAtOnce = 300

// askAll asks contracts on the newest block. Answers are in the order of questions; that of a contract
// that refuses, or is none, is empty. It takes one round trip as long as questions are not very many
// and the chain has Multicall3, or the endpoints take batches.
func (c *Chain) askAll(ctx context.Context, questions []question) ([][]byte, error) {
	if c.chain.Contracts.Multicall.IsAbsent() || len(questions) == 1 {
		return c.askEach(ctx, questions)
	}
	answers := make([][]byte, 0, len(questions))
	for len(questions) > 0 {
		part := questions[:min(len(questions), questionsAtOnce)]
		questions = questions[len(part):]
		got, err := c.aggregate(ctx, part)
		if refusedByContract(err) || errors.Is(err, errNoMulticall) {
			// Not deployed, or one contract used up the gas of all.
			got, err = c.askEach(ctx, part)
		}
		if err != nil {
			return nil, err
		}
		answers = append(answers, got...)
	}
	return answers, nil
}

var errNoMulticall = errors.New("no answer of Multicall3")

// aggregate asks through Multicall3.
func (c *Chain) aggregate(ctx context.Context, questions []question) ([][]byte, error) {
	type call3 struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	calls := make([]call3, len(questions))
	for i, q := range questions {
		calls[i] = call3{common.BytesToAddress(q.to.Bytes()), true, q.data}
	}
	data, err := multicallABI.Pack("aggregate3", calls)
	if err != nil {
		return nil, fmt.Errorf("encode aggregate3: %w", err)
	}
	raw, err := c.Call(ctx, c.chain.Contracts.Multicall, data)
	if err != nil {
		return nil, err
	}
	var results []struct {
		Success    bool
		ReturnData []byte
	}
	if err := multicallABI.UnpackIntoInterface(&results, "aggregate3", raw); err != nil || len(results) != len(questions) {
		return nil, errNoMulticall
	}
	answers := make([][]byte, len(results))
	for i, result := range results {
		if result.Success {
			answers[i] = result.ReturnData
		}
	}
	return answers, nil
}

// askEach asks every contract in a call of its own.
func (c *Chain) askEach(ctx context.Context, questions []question) ([][]byte, error) {
	answers := make([]payload, len(questions))
	calls := make([]*jsonrpc.Call, len(questions))
	for i, q := range questions {
		calls[i] = latestCall(&answers[i], message{To: q.to, Data: q.data})
	}
	if err := c.rpc.Batch(ctx, calls...); err != nil {
		return nil, err
	}
	plain := make([][]byte, len(answers))
	for i, call := range calls {
		if call.Err != nil && !refusedByContract(call.Err) {
			return nil, call.Err
		}
		plain[i] = answers[i]
	}
	return plain, nil
}

// word reads the 32-byte word at index of an answer.
func word(answer []byte, index int) (*big.Int, bool) {
	const size = 32
	if len(answer) < (index+1)*size {
		return nil, false
	}
	return new(big.Int).SetBytes(answer[index*size : (index+1)*size]), true
}
