package evm

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/upstream/jsonrpc"
)

// aggregate3Selector is of the function of Multicall3 that is used (github.com/mds1/multicall3).
var aggregate3Selector = Selector("aggregate3((address,bool,bytes)[])")

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
	var raw Payload
	asked := contractCall{c.chain.Contracts.Multicall, encodeAggregate3(calls)}.on(&raw, newestTag)
	if err := rpc.All(ctx, asked); err != nil {
		return nil, nil, err
	}
	answers, isRead := decodeAggregate3(raw, len(calls))
	if !isRead {
		return nil, nil, errNoMulticall
	}
	return answers, []string{asked.By}, nil
}

// encodeAggregate3 is calldata that makes calls, of which any may fail.
func encodeAggregate3(calls []contractCall) []byte {
	const tuple = 4 * wordSize // without the calldata: target, leave to fail, offset and length
	word := func(data []byte, number int) []byte {
		return binary.BigEndian.AppendUint64(append(data, make([]byte, wordSize-8)...), uint64(number))
	}
	padding := func(data []byte) int { return (wordSize - len(data)%wordSize) % wordSize }
	data := word(word(slices.Clone(aggregate3Selector), wordSize), len(calls))
	next := wordSize * len(calls)
	for _, each := range calls {
		data = word(data, next)
		next += tuple + len(each.data) + padding(each.data)
	}
	for _, each := range calls {
		target := NodeAddress(each.to)
		data = append(append(data, make([]byte, wordSize-len(target))...), target[:]...)
		data = append(word(word(word(data, 1), 3*wordSize), len(each.data)), each.data...)
		data = append(data, make([]byte, padding(each.data))...)
	}
	return data
}

// decodeAggregate3 reads the answers to so many calls: of each whether it succeeded, and what it returned.
func decodeAggregate3(data []byte, calls int) (answers [][]byte, isRead bool) {
	list := tail(data, 0)
	if count, told := small(list, 0); !told || count != calls {
		return nil, false
	}
	answers = make([][]byte, calls)
	for i := range answers {
		result := tail(list[wordSize:], i)
		success, told := small(result, 0)
		returned := tail(result, 1)
		length, isThere := small(returned, 0)
		if !told || !isThere || success > 1 || length > len(returned)-wordSize {
			return nil, false
		}
		if success == 1 {
			answers[i] = returned[wordSize : wordSize+length : wordSize+length]
		}
	}
	return answers, true
}

// tail is where the word at an index says that something begins; nothing where it is beyond the data.
func tail(data []byte, index int) []byte {
	if at, told := small(data, index); told && at <= len(data) {
		return data[at:]
	}
	return nil
}

// small is the word at an index where that is a length or an offset.
func small(data []byte, index int) (number int, told bool) {
	if len(data) < (index+1)*wordSize {
		return 0, false
	}
	value, fits := chain.AmountFromBytes(data[index*wordSize : (index+1)*wordSize]).Uint64()
	return int(value), fits && value <= math.MaxInt32
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
	if len(answer) < (index+1)*wordSize {
		return nil, false
	}
	return new(big.Int).SetBytes(answer[index*wordSize : (index+1)*wordSize]), true
}

const wordSize = 32 // bytes

// NodeAddress is a as go-ethereum's encoder takes it; absent is the zero address.
func NodeAddress(a chain.Address) common.Address { return common.BytesToAddress(a.Bytes()) }

// PaddedAddress is a as the ABI writes it.
func PaddedAddress(a chain.Address) []byte { return append(make([]byte, 12, 32), a.Bytes()...) }

// Selector is the part of calldata that names a function.
func Selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }
