package swap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/cache/recent"
	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/internal/rawjson"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// Simulator runs transactions with overrides that give the sender whatever they take. Safe for concurrent use.
type Simulator struct {
	chain *evm.Chain

	reportsMaxUsed atomic.Bool // the last simulation reported the gas used before refunds
	layouts        recent.Map[chain.Address, layout]
}

var _ quote.Simulator = (*Simulator)(nil)

// NewSimulator returns a simulator on the newest block of c.
func NewSimulator(c *evm.Chain) *Simulator { return &Simulator{chain: c} }

// Simulate implements quote.Simulator. It takes two round trips, another one for an unfamiliar token that the sender
// lacks, and two more if the usual gas limit is too low for the transaction. Nodes without eth_simulateV1 get
// eth_calls, which measure as far as the nodes accept state overrides.
func (s *Simulator) Simulate(ctx context.Context, t quote.Simulation) (found quote.Result, err error) {
	err = s.prepared(ctx, t, func(set overrides, now surroundings) (err error) {
		if s.simulates() {
			if found, err = s.run(ctx, t, set, now); !isUnknownMethod(err) {
				return err
			}
		}
		found, err = s.runPlain(ctx, t, set, now)
		return err
	})
	return found, err
}

// simulates reports whether nodes offer eth_simulateV1, and take overrides in it. java-tron's do not.
func (s *Simulator) simulates() bool {
	return s.chain.Facts().Family != chain.TVM && !s.chain.Client().Lacks(simulateV1, "")
}

// isBare reports whether no endpoint takes overrides of states. java-tron's do not.
func (s *Simulator) isBare() bool {
	return s.chain.Facts().Family == chain.TVM || s.chain.Client().Lacks("eth_call", jsonrpc.Overrides)
}

// prepared runs a transaction in a state in which the sender has whatever it takes, and again with more gas if it fails
// for lack of that, or if endpoints turn out to take no overrides.
func (s *Simulator) prepared(ctx context.Context, t quote.Simulation, run func(overrides, surroundings) error) error {
	now, err := s.surroundings(ctx, t)
	if err != nil {
		return err
	}
	set, err := s.overrides(ctx, t, now)
	if err != nil {
		return err
	}
	isBare := s.isBare()
	err = run(set, now)
	switch {
	case err != nil && !isBare && s.isBare():
		return s.prepared(ctx, t, run)
	case errors.Is(err, quote.ErrReverted):
		if needed := s.need(ctx, t, set); needed > now.gas {
			now.gas = needed + needed/5 // as wallets are advised to offer
			if set, err = s.overrides(ctx, t, now); err != nil {
				return err
			}
			err = run(set, now)
		}
	}
	return set.explain(err)
}

// need is the gas with which the transaction succeeds, as a node estimates it; zero where it fails with any.
func (s *Simulator) need(ctx context.Context, t quote.Simulation, set overrides) uint64 {
	var gas evm.Quantity
	if err := s.chain.Client().All(ctx, set.estimate(&gas, t)); err != nil {
		return 0
	}
	return uint64(gas)
}

// Balance implements quote.Simulator. Two endpoints are asked: all of a balance may be swapped.
func (s *Simulator) Balance(ctx context.Context, token, holder chain.Address) (chain.Amount, error) {
	if token.IsNative() {
		var coins evm.Amount
		err := s.chain.Client().All(ctx, coinsCall(&coins, holder, jsonrpc.Lesser))
		return coins.Amount, err
	}
	var answer evm.Payload
	if err := s.chain.Client().Insist(ctx, wordCall(&answer, token, balanceOf.Call(holder), jsonrpc.Lesser)); err != nil {
		return chain.Amount{}, err
	}
	if len(answer) != 32 {
		return chain.Amount{}, fmt.Errorf("token %s returned no balance", token)
	}
	return chain.AmountFromBytes(answer), nil
}

// choice has a call that asks how much there is take one of two results: jsonrpc.Greater or jsonrpc.Lesser.
type choice[T any] func(call *jsonrpc.Call, compare func(a, b T) int)

// wordCall asks a contract for a number.
func wordCall(out *evm.Payload, to chain.Address, data []byte, choose choice[evm.Payload]) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, nil, "eth_call", evm.Message{To: to, Data: data}, "latest")
	choose(asked, func(a, b evm.Payload) int { return wordAmount(a).Cmp(wordAmount(b)) })
	return asked
}

// coinsCall asks for the coins of an account.
func coinsCall(out *evm.Amount, holder chain.Address, choose choice[evm.Amount]) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, nil, "eth_getBalance", holder, "latest")
	choose(asked, func(a, b evm.Amount) int { return a.Cmp(b.Amount) })
	return asked
}

// Delivers simulates the transfer of a token to an account, by one that has it. It returns quote.ErrRefused if less
// arrives, and quote.ErrReverted if only this account cannot get it; nil also if nothing certain is known.
func (s *Simulator) Delivers(ctx context.Context, token, to chain.Address, amount chain.Amount) error {
	pay := func(to chain.Address) (quote.Result, error) {
		return s.Simulate(ctx, quote.Simulation{
			Sender: placeholderHolder, Recipient: to, In: token, Out: token, AmountIn: amount, Spender: to, IsPermitted: true,
			Tx: quote.Tx{To: token, Data: transfer.Call(to, amount)},
		})
	}
	got, err := pay(to)
	switch {
	case err == nil && got.Measured && got.Received.Cmp(amount) < 0:
		return fmt.Errorf("%w: of %s of the token %s arrive", quote.ErrRefused, amount, got.Received)
	case errors.Is(err, quote.ErrReverted):
		if other, otherErr := pay(placeholderSpender); otherErr == nil && other.Measured {
			return err
		}
	}
	return nil
}

// isUnknownMethod reports whether a node says that it lacks the method, or does not offer it to us.
func isUnknownMethod(err error) bool {
	_, is := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.MethodMissing })
	return is
}

// meterCode is a contract for simulations, at an unpredictable address, that returns the balance of the account it is
// called with: PUSH1 0, CALLDATALOAD, BALANCE, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN.
var meterCode = evm.Payload{0x60, 0, 0x35, 0x31, 0x60, 0, 0x52, 0x60, 0x20, 0x60, 0, 0xf3}

var (
	balanceOf = words.SelectorOf("balanceOf(address)")
	approve   = words.SelectorOf("approve(address,uint256)")
	transfer  = words.SelectorOf("transfer(address,uint256)")
	allowance = words.SelectorOf("allowance(address,address)")
	// swapExecuted is topic 0 of the public router's event about a venue's payment; the amount is the last word.
	swapExecuted     = chain.Hash(crypto.Keccak256([]byte("SwapExecuted(address,address,uint256,address,uint256)")))
	swapExecutedText = []byte(swapExecuted.String()) // as nodes write it
)

// balanceCall returns a call for an account's balance of a token, or of the coin.
func balanceCall(token, account, meter chain.Address) evm.Message {
	if token.IsNative() {
		return evm.Message{To: meter, Data: words.Encode(account)}
	}
	return evm.Message{To: token, Data: balanceOf.Call(account)}
}

// simulatedResult is the result of eth_simulateV1 for one call. Not all nodes report MaxUsedGas, the gas used before
// refunds.
type simulatedResult struct {
	Status     evm.Quantity    `json:"status"`
	ReturnData evm.Payload     `json:"returnData"`
	GasUsed    evm.Quantity    `json:"gasUsed"`
	MaxUsedGas evm.Quantity    `json:"maxUsedGas"`
	Logs       json.RawMessage `json:"logs"` // of simulatedLog; decoded only when needed
	Error      *jsonrpc.Error  `json:"error"`
}

// simulatedLog is an event log of a transaction that is in no block.
type simulatedLog struct {
	Address chain.Address `json:"address"`
	Topics  []chain.Hash  `json:"topics"`
	Data    evm.Payload   `json:"data"`
}

// run simulates the transaction between two readings of the balances that it changes.
func (s *Simulator) run(ctx context.Context, t quote.Simulation, set overrides, now surroundings) (quote.Result, error) {
	calls, balances := set.calls(t, now)
	runs, gas, err := s.inNextBlocks(ctx, t, calls, len(calls)-balances-1, set, now)
	if err != nil {
		return quote.Result{}, err
	}
	var worst quote.Result
	for _, results := range runs {
		found, err := finding(results, balances, t, now, gas)
		if err != nil {
			return quote.Result{}, err
		}
		worst = worseOf(worst, found)
	}
	return worst, nil
}

// inNextBlocks simulates calls, with the transaction among them, in each of the next two blocks separately. The gas
// used is less than the need, since refunds come at the end; if nodes do not report the need, they estimate it in the
// same round trip.
func (s *Simulator) inNextBlocks(
	ctx context.Context, t quote.Simulation, calls []evm.Message, transaction int, set overrides, now surroundings,
) (results [][]simulatedResult, gas evm.Quantity, err error) {
	overridden := maps.Clone(set.accounts)
	overridden[now.meter] = override{Code: meterCode}
	accounts, accountsErr := json.Marshal(overridden)
	made, callsErr := json.Marshal(calls)
	if err := errors.Join(accountsErr, callsErr); err != nil {
		return nil, 0, err
	}
	runs := make([]simulatedRun, len(now.blocks))
	var asked []*jsonrpc.Call
	for i := range now.blocks {
		chained := make([]simulatedBlock, i+1) // those before it are empty
		for j := range chained {
			chained[j] = simulatedBlock{Header: &now.blocks[j], Calls: json.RawMessage("[]")}
		}
		chained[i].Accounts, chained[i].Calls = accounts, made
		asked = append(asked, simulation(&runs[i], chained, len(calls)))
	}
	if !s.reportsMaxUsed.Load() {
		asked = append(asked, set.estimate(&gas, t))
	}
	if err := s.chain.Client().Batch(ctx, asked...); err != nil {
		return nil, 0, err
	}
	s.chain.Client().Again(ctx, asked[:len(runs)]...)
	for i, run := range runs {
		if asked[i].Err != nil {
			return nil, 0, fmt.Errorf("simulate: %w", asked[i].Err)
		}
		results = append(results, run[i].Calls)
		s.reportsMaxUsed.Store(run[i].Calls[transaction].MaxUsedGas > 0)
	}
	return results, gas, nil
}

// calls returns the transaction between readings of balances, and the number of readings on each side.
func (s overrides) calls(t quote.Simulation, now surroundings) (calls []evm.Message, balances int) {
	read := []evm.Message{balanceCall(t.Out, t.Recipient, now.meter)}
	if !t.Through.IsAbsent() {
		read = append(read, balanceCall(t.In, t.Through, now.meter))
	}
	for _, share := range t.Shares {
		read = append(read, balanceCall(t.In, share.Recipient, now.meter))
	}
	return slices.Concat(read, s.transaction(t, now), read), len(read)
}

// transaction returns the transaction, after the approval that it may need, and that of nothing before; see Approvals.
func (s overrides) transaction(t quote.Simulation, now surroundings) (calls []evm.Message) {
	if s.approve && !now.allowed.IsZero() {
		calls = append(calls, evm.Message{From: &t.Sender, To: t.In, Data: approve.Call(t.Spender, chain.Amount{})})
	}
	if s.approve {
		calls = append(calls, evm.Message{From: &t.Sender, To: t.In, Data: approve.Call(t.Spender, t.AmountIn)})
	}
	made := messageOf(t.Sender, t.Tx)
	made.Gas, made.GasPrice = evm.Quantity(now.gas), &evm.Amount{Amount: now.gasPrice}
	return append(calls, made)
}

// worseOf returns the result that leaves the recipient less, with the larger of both gas needs and of both remainders.
func worseOf(first, second quote.Result) quote.Result {
	if !first.Measured {
		return second
	}
	worse := first
	if second.Received.Cmp(first.Received) < 0 {
		worse = second
	}
	worse.Gas = max(first.Gas, second.Gas)
	if worse.Left = first.Left; second.Left.Cmp(first.Left) > 0 {
		worse.Left = second.Left
	}
	return worse
}

// finding evaluates the results: first balances, then the transaction, at the end the same balances again. Up to
// roundedShares of each share may be missing.
func finding(
	calls []simulatedResult, balances int, t quote.Simulation, now surroundings, gas evm.Quantity,
) (quote.Result, error) {
	swap := calls[len(calls)-balances-1]
	if swap.Status != 1 {
		return quote.Result{}, swap.refusal()
	}
	found := quote.Result{Measured: true, Gas: swap.need(gas)}
	changes := make([]chain.Amount, balances)
	for i := range balances {
		before, after := calls[i], calls[len(calls)-balances+i]
		if before.Status != 1 || after.Status != 1 || len(before.ReturnData) != 32 || len(after.ReturnData) != 32 {
			return quote.Result{}, fmt.Errorf("%w: a token returned no balance", quote.ErrNotSimulated)
		}
		had, has := chain.AmountFromBytes(before.ReturnData), chain.AmountFromBytes(after.ReturnData)
		if i == 0 && t.Out.IsNative() && t.Recipient == t.Sender {
			has = has.Add(now.gasPrice.MulDiv(uint64(swap.GasUsed), 1)) // gas is not part of the outcome
		}
		changes[i] = has.Sub(had)
	}
	found.Received = changes[0]
	if !t.Through.IsAbsent() {
		found.Left, found.Gross = changes[1], swap.gross(t.Through)
	}
	for i, share := range t.Shares {
		var owed chain.Amount
		for _, each := range t.Shares { // one recipient may have both
			if each.Recipient == share.Recipient {
				owed = owed.Add(quote.Share(t.AmountIn, each.Percent))
			}
		}
		if paid := changes[balances-len(t.Shares)+i]; paid.Add(roundedShares).Cmp(owed) < 0 {
			return quote.Result{}, fmt.Errorf("%w: it pays %s %s of the input in place of %s", quote.ErrRefused, share.Recipient, paid, owed)
		}
	}
	return found, nil
}

// gross returns how much a venue paid according to the public router; zero if it does not say.
func (c simulatedResult) gross(router chain.Address) (paid chain.Amount) {
	list := rawjson.Text(c.Logs)
	for next := byte('['); list.Take(next); next = ',' {
		text := list.Value()
		if !bytes.Contains(text, swapExecutedText) {
			continue
		}
		var l simulatedLog
		if json.Unmarshal(text, &l) == nil && l.Address == router && len(l.Topics) == 1 && l.Topics[0] == swapExecuted && len(l.Data) == 5*32 {
			paid = chain.AmountFromBytes(l.Data[4*32:])
		}
	}
	return paid
}

// need returns the gas that a simulated call needs; estimate is a node's, zero if there is none.
func (c simulatedResult) need(estimate evm.Quantity) uint64 {
	switch {
	case c.MaxUsedGas > 0:
		return uint64(c.MaxUsedGas) * 33 / 32 // each inner call keeps a 64th of the gas for its caller (EIP-150)
	case estimate == 0:
		return uint64(c.GasUsed) * 5 / 4 // go-ethereum's estimates were 23 to 27 % above
	}
	return uint64(estimate)
}

// refusal returns why a simulated call failed.
func (c simulatedResult) refusal() error {
	if len(c.ReturnData) > 0 {
		return fmt.Errorf("%w: %s", quote.ErrReverted, explainRevert(c.ReturnData))
	}
	if c.Error == nil {
		return fmt.Errorf("%w: no reason given", quote.ErrReverted)
	}
	return fmt.Errorf("%w: %s", quote.ErrReverted, revertReason(c.Error))
}
