package swap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// walletCode turns the sender's account into a contract during an eth_call from the account to itself: it makes calls
// in a row and returns the first word that each returned, or reverts like the first that fails. To other callers, such
// as those who pay it coins, it is an account without code, but for its size. It has 16 words of memory for results,
// one for each call.
var walletCode = evm.Payload(common.FromHex("" +
	"3330146007" + "57" + "00" + // CALLER ADDRESS EQ, to 7; STOP
	"5b6000" + "6000" + // 7: place of the next result, place in the calldata
	"5b3681101560" + "4d57" + // 12: CALLDATASIZE LT ISZERO, to 77
	"80604001358082606001610200" + "37" + // the input of the call, to memory at 512
	"6020838261020085602001358635" + "5af1" + // CALL with all gas, its result to its place
	"15604257" + // ISZERO, to 66
	"016060019060200190" + "600c56" + // both places, to 12
	"5b3d600060003e3d6000fd" + // 66: RETURNDATACOPY, REVERT
	"5b506000f3")) // 77: RETURN

// walletGas is what the readings of balances, and an approval, may take beside the transaction.
const walletGas = 500_000

// runPlain simulates the transaction by eth_call, on the newest block and on the pending one if nodes have that: by
// itself, and among readings of balances, with a contract for the sender's account. Contracts can detect the latter;
// the former shows whether they fail otherwise. If it succeeds only by itself, nothing is measured.
func (s *Simulator) runPlain(ctx context.Context, t quote.Simulation, set overrides, now surroundings) (quote.Result, error) {
	overridden := !s.isBare()
	switch {
	case !overridden && !now.suffice(t):
		return quote.Result{}, now.withoutOverrides()
	case !overridden && len(set.accounts) > 0:
		return quote.Result{}, fmt.Errorf("%w: the sender may lack the coin for gas, and no endpoint takes overrides of states", quote.ErrNotSimulated)
	case !overridden && set.approve:
		return quote.Result{}, fmt.Errorf("%w: the sender has approved %s of the %s that it takes, and no endpoint takes overrides of states",
			quote.ErrNotSimulated, now.allowed, t.AmountIn)
	}
	var gas evm.Quantity
	var alone, measured []*jsonrpc.Call
	var answers [2]evm.Payload
	calls, balances := set.calls(t, now)
	blocks := []string{"latest", "pending"}
	if s.chain.Facts().Family == chain.TVM { // which has no other one
		blocks = blocks[:1]
	}
	for i, block := range blocks {
		if overridden {
			measured = append(measured, set.inWallet(&answers[i], t, now, calls, block))
		}
		if !set.approve {
			alone = append(alone, set.call(new(evm.Payload), "eth_call", calls[len(calls)-balances-1], block))
		}
	}
	asked := slices.Concat(alone, measured)
	if !set.approve {
		asked = append(asked, set.estimate(&gas, t))
	}
	if err := s.chain.Client().Batch(ctx, asked...); err != nil {
		return quote.Result{}, err
	}
	s.chain.Client().Again(ctx, asked...)
	for i, run := range alone {
		if run.Err != nil && !(i > 0 && lacksBlock(run)) {
			return quote.Result{}, fmt.Errorf("try: %w", reverted(run.Err))
		}
	}
	var worst quote.Result
	for i, run := range measured {
		if i > 0 && lacksBlock(run) {
			continue
		}
		found, err := quote.Result{}, run.Err
		if err == nil {
			found, err = finding(walletResults(answers[i]), balances, t, now, gas)
		}
		switch {
		case errors.Is(err, quote.ErrRefused):
			return quote.Result{}, err
		case err != nil && set.approve:
			return quote.Result{}, fmt.Errorf("%w: the sender's approval and the transaction in one call: %v", quote.ErrNotSimulated, err)
		case err != nil:
			return quote.Result{Gas: uint64(gas)}, nil
		}
		worst = worseOf(worst, found)
	}
	worst.Gas = max(worst.Gas, uint64(gas))
	if !overridden {
		worst.Received, worst.Measured = s.CoinOutcome(ctx, t)
	}
	return worst, nil
}

// lacksBlock reports whether a call failed because the node has no such block, or no state of it.
func lacksBlock(run *jsonrpc.Call) bool {
	_, lacks := jsonrpc.Said(run.Err, func(said *jsonrpc.Error) bool {
		return said.Meaning() == jsonrpc.TagMissing || said.Meaning() == jsonrpc.Pruned
	})
	return lacks
}

// aggregate3Value is the function of Multicall3 that CoinOutcome uses (github.com/mds1/multicall3).
var aggregate3Value = words.SelectorOf("aggregate3Value((address,bool,uint256,bytes)[])")

// CoinOutcome returns the recipient's gain of a token by a transaction that sends the coin, made by Multicall3 in place
// of the sender between readings of the balance: nodes without overrides can measure only that. The gain is unknown if
// the transaction pays its caller.
func (s *Simulator) CoinOutcome(ctx context.Context, t quote.Simulation) (received chain.Amount, measured bool) {
	multicall := s.chain.Facts().Contracts.Multicall
	if !t.In.IsNative() || t.Out.IsNative() || !t.Through.IsAbsent() || multicall.IsAbsent() {
		return received, false
	}
	const mayFail = false
	balance := words.Tuple{t.Out, mayFail, 0, balanceOf.Call(t.Recipient)}
	data := aggregate3Value.Call(words.List{balance, words.Tuple{t.Tx.To, mayFail, t.Tx.Value, []byte(t.Tx.Data)}, balance})
	var raw evm.Payload
	made := messageOf(t.Sender, quote.Tx{To: multicall, Data: data, Value: t.Tx.Value})
	if err := s.chain.Client().All(ctx, jsonrpc.NewCall(&raw, nil, "eth_call", made, "latest")); err != nil {
		return received, false
	}
	results := evm.MulticallResults(raw)
	if len(results) != 3 {
		return received, false
	}
	received = wordAmount(results[2]).Sub(wordAmount(results[0]))
	return received, !received.IsZero()
}

// inWallet returns the calls as one that the sender's account makes on a block. Its gas limit is the transaction's and
// walletGas, and a little more.
func (s overrides) inWallet(out *evm.Payload, t quote.Simulation, now surroundings, calls []evm.Message, block string) *jsonrpc.Call {
	now.gas += now.gas/32 + walletGas
	coins := &evm.Amount{Amount: t.Tx.Value.Add(now.gasMoney())}
	if now.coins.Cmp(coins.Amount) > 0 {
		coins.Amount = now.coins
	}
	s.accounts = maps.Clone(s.accounts)
	s.accounts[t.Sender], s.accounts[now.meter] = override{Balance: coins, Code: walletCode}, override{Code: meterCode}
	var input evm.Payload // as walletCode reads calls: receiver, value, length of the input, a word each, and the input
	for _, c := range calls {
		var value chain.Amount
		if c.Value != nil {
			value = c.Value.Amount
		}
		input = slices.Concat(input, words.Encode(c.To, value, len(c.Data)), c.Data)
	}
	asked := s.call(out, "eth_call", evm.Message{
		From: &t.Sender, To: t.Sender, Data: input, Gas: evm.Quantity(now.gas), GasPrice: &evm.Amount{Amount: now.gasPrice},
	}, block)
	asked.Accept = func(result any) error {
		if len(*result.(*evm.Payload)) != words.Size*len(calls) { // the account has no such code
			return &upstream.Error{Class: upstream.Rejected, Err: jsonrpc.ErrOverridesIgnored}
		}
		return nil
	}
	return asked
}

// walletResults returns the results of calls by the sender's account.
func walletResults(answer evm.Payload) []simulatedResult {
	var results []simulatedResult
	for word := range slices.Chunk(answer, words.Size) {
		results = append(results, simulatedResult{Status: 1, ReturnData: word})
	}
	return results
}
