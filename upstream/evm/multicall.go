package evm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/upstream/jsonrpc"
)

// aggregate3 selects the function of Multicall3 that is used (github.com/mds1/multicall3).
var aggregate3 = words.SelectorOf("aggregate3((address,bool,bytes)[])")

// reply is a contract's return data; empty: it reverted, or does not exist.
type reply struct {
	data     []byte
	isSingle bool // it was doubted, and only one endpoint says so
}

// weightOf ranks return data: none, then zeros, which are an answer, then anything else.
func weightOf(returned []byte) int {
	return min(len(returned), 1) + min(len(bytes.Trim(returned, "\x00")), 1)
}

// aggregated is what contracts returned that were called through Multicall3; nil: it did not answer.
type aggregated [][]byte

func (a *aggregated) UnmarshalText(text []byte) error {
	var raw Payload
	if err := raw.UnmarshalText(text); err != nil {
		return err
	}
	*a = MulticallResults(raw)
	return nil
}

// largestMulticall bounds the gas and the answer of one multicall.
const largestMulticall = 300

// callContracts calls contracts on the newest block, by two voices where what they return has a weight. Replies are
// in the sequence of calls. It takes one round trip as long as calls are not very many and the chain has Multicall3, or
// the endpoints take batches.
func (c *Chain) callContracts(
	ctx context.Context, rpc *jsonrpc.Client, calls []chain.ContractCall, weight func(returned []byte) int,
) (replies []reply, err error) {
	if c.chain.Contracts.Multicall.IsAbsent() || len(calls) == 1 {
		return callEach(ctx, rpc, calls, weight)
	}
	replies = make([]reply, 0, len(calls))
	for part := range slices.Chunk(calls, largestMulticall) {
		got, err := c.aggregate(ctx, rpc, part, weight)
		if errors.Is(err, errNoMulticall) {
			// Not deployed, or one contract used up the gas of all.
			got, err = callEach(ctx, rpc, part, weight)
		}
		if err != nil {
			return nil, err
		}
		replies = append(replies, got...)
	}
	return replies, nil
}

var errNoMulticall = errors.New("no answer of Multicall3")

func (c *Chain) aggregate(
	ctx context.Context, rpc *jsonrpc.Client, calls []chain.ContractCall, weight func(returned []byte) int,
) ([]reply, error) {
	var results aggregated
	isSingle := func(int) bool { return false }
	asked := jsonrpc.NewCall(&results, nil, "eth_call", Message{To: c.chain.Contracts.Multicall, Data: encodeAggregate3(calls)}, newestTag)
	asked.MayRevert = true
	if weight != nil {
		isSingle = jsonrpc.ByItem(asked, func(result *aggregated) *aggregated { return result }, bytes.Equal, weight)
	}
	if err := rpc.All(ctx, asked); err != nil {
		return nil, err
	}
	if len(results) != len(calls) {
		return nil, errNoMulticall
	}
	replies := make([]reply, len(results))
	for i, returned := range results {
		replies[i] = reply{returned, isSingle(i)}
	}
	return replies, nil
}

// encodeAggregate3 returns calldata that makes calls. Each may fail.
func encodeAggregate3(calls []chain.ContractCall) []byte {
	list := make(words.List, len(calls))
	for i, each := range calls {
		list[i] = words.Tuple{each.To, true, each.Data}
	}
	return aggregate3.Call(list)
}

// MulticallResults decodes the return data of calls, empty for one that failed; nil if data is malformed.
func MulticallResults(data []byte) [][]byte {
	whole := words.New(data)
	count, results := whole.List(0)
	if count > uint64(len(data)/words.Size) {
		return nil
	}
	answers := make([][]byte, count)
	for i := range answers {
		result := results.Tail(i)
		if returned := result.Bytes(1); result.Bool(0) {
			answers[i] = returned
		}
	}
	if whole.Err() != nil {
		return nil
	}
	return answers
}

// callEach makes every call as a separate eth_call.
func callEach(
	ctx context.Context, rpc *jsonrpc.Client, calls []chain.ContractCall, weight func(returned []byte) int,
) ([]reply, error) {
	results, asked := make([]Payload, len(calls)), make([]*jsonrpc.Call, len(calls))
	for i, each := range calls {
		asked[i] = furthest(callNow(&results[i], each), func(a, b []byte) int { return cmp.Compare(weight(a), weight(b)) })
		asked[i].MayRevert, asked[i].Twice = true, weight != nil
	}
	if err := rpc.All(ctx, asked...); err != nil {
		return nil, err
	}
	replies := make([]reply, len(calls))
	for i, returned := range results {
		replies[i] = reply{returned, asked[i].IsSingle()}
	}
	return replies, nil
}

// callNow returns a call of a contract on the newest block, as an eth_call.
func callNow(out *Payload, c chain.ContractCall) *jsonrpc.Call {
	return jsonrpc.NewCall(out, nil, "eth_call", Message{To: c.To, Data: c.Data}, newestTag)
}
