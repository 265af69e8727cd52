package solana

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream/jsonrpc"
)

var _ quote.Simulator = (*Chain)(nil)

// reserveLamports is the sender's need besides the input, for fees and accounts that the swap opens. It bounds the
// lamports on opened accounts that are not the sender's: the recipient's, and those that programs keep about the
// sender.
const reserveLamports = 6_000_000

// simulated is what simulateTransaction returns for a transaction.
type simulated struct {
	Err   json.RawMessage `json:"err"` // null on success; absent if the outcome is missing
	Units uint64          `json:"unitsConsumed"`
	Logs  []string        `json:"logs"`
	// Accounts are those requested, as the transaction leaves them.
	Accounts []*accountInfo `json:"accounts"`
}

// Prefixes of the errors that are the fault of the sender or the moment, not of the transaction (agave, sdk
// transaction_error.rs). The sender is account 0.
var (
	poorSender  = []string{"AccountNotFound", "InsufficientFundsForFee", `InsufficientFundsForRent":{"account_index":0}`}
	wrongMoment = []string{
		"BlockhashNotFound", "AccountInUse", "ClusterMaintenance", "ProgramExecutionTemporarilyRestricted", "ProgramCacheHitMaxLimit", "WouldExceed",
	}
)

// isOf reports whether the error begins with one of the words.
func (o simulated) isOf(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(string(o.Err), `"`+word) })
}

// failure returns why the transaction fails, nil if it does not: quote.ErrReverted, or quote.ErrNotSimulated if that is
// not the transaction's fault.
func (o simulated) failure() error {
	if isNull(o.Err) {
		return nil
	}
	said := string(o.Err)
	kind := quote.ErrReverted
	if o.isOf(poorSender) || o.isOf(wrongMoment) {
		kind = quote.ErrNotSimulated
	}
	for _, line := range slices.Backward(o.Logs) {
		if strings.Contains(line, "rror") { // programs write Error and error
			said += ", " + line
			break
		}
	}
	return fmt.Errorf("%w: %s", kind, token.CleanText(said))
}

type simulationReply struct {
	Value simulated `json:"value"`
}

// runCall simulates a transaction without its signatures on the newest confirmed block, whatever block it was made for,
// and returns accounts as it leaves them. A node that does not report the outcome, or reports success without these
// accounts, is passed over. A failure is doubted.
func runCall(out *simulationReply, tx quote.Tx, shown ...chain.Address) *jsonrpc.Call {
	o := options{"encoding": "base64", "commitment": confirmed, "sigVerify": false, "replaceRecentBlockhash": true}
	if len(shown) > 0 {
		texts := make([]string, len(shown))
		for i, a := range shown {
			texts[i] = a.Format(chain.SVM)
		}
		o["accounts"] = options{"encoding": "base64", "addresses": texts}
	}
	asked := jsonrpc.NewCall(out, func(ran simulationReply) error {
		switch {
		case len(ran.Value.Err) == 0:
			return errors.New("simulation without its outcome")
		case isNull(ran.Value.Err) && len(ran.Value.Accounts) != len(shown):
			return errors.New("simulation without the requested accounts")
		}
		return nil
	}, "simulateTransaction", base64.StdEncoding.EncodeToString(tx.Data), o)
	asked.Doubt = func(result any) bool { return !isNull(result.(*simulationReply).Value.Err) }
	return asked
}

func (c *Chain) run(ctx context.Context, tx quote.Tx) (simulated, error) {
	var ran simulationReply
	err := c.rpc.All(ctx, runCall(&ran, tx))
	return ran.Value, err
}

// runWatched simulates a transaction and compares the accounts that its message names and may write. Those that it
// looks up may be large: quote.ErrRefused if one of them is the sender's.
func (c *Chain) runWatched(ctx context.Context, m solana.Message, tx quote.Tx, lookedUp []chain.Address) (ran simulated, accounts []watched, err error) {
	written := m.Written()
	var reply simulationReply
	var before accountInfos
	err = c.rpc.All(ctx, runCall(&reply, tx, written...), holdingsCall(&before, slices.Concat(written, lookedUp)))
	if ran = reply.Value; err != nil || !isNull(ran.Err) {
		return ran, nil, err
	}
	for i, at := range written {
		accounts = append(accounts, watch(at, before.Value[i], ran.Accounts[i]))
	}
	for _, state := range before.Value[len(written):] {
		if readHolding(state).owner == m.FeePayer() {
			return ran, nil, fmt.Errorf("%w: an account of the sender's is in a lookup table", quote.ErrRefused)
		}
	}
	return ran, accounts, nil
}

// Simulate implements quote.Simulator in one round trip, after one for lookup tables. It measures compute units, the
// recipient's gain, and all of the sender's accounts that the transaction may write. A failure proves something only if
// the sender has the input, which takes another round trip: nodes cannot override state.
func (c *Chain) Simulate(ctx context.Context, t quote.Simulation) (quote.Result, error) {
	m, err := solana.ParseUnsigned(t.Tx.Data)
	if err != nil {
		return quote.Result{}, fmt.Errorf("%w: %w", quote.ErrRefused, err)
	}
	lookedUp, _, err := c.LookUp(ctx, m)
	if err != nil {
		return quote.Result{}, err
	}
	ran, accounts, err := c.runWatched(ctx, m, t.Tx, lookedUp)
	if err != nil {
		return quote.Result{}, err
	}
	if failure := ran.failure(); failure != nil {
		return quote.Result{}, c.unlessPoor(ctx, t, failure)
	}
	measured := measurement{t, c.chain.WrappedCoin, holdings(t.Out, t.Recipient)[1:], accounts, cost(m)}
	received, err := measured.received()
	if err != nil {
		return quote.Result{}, fmt.Errorf("%w: %w", quote.ErrRefused, err)
	}
	return quote.Result{Measured: true, Received: received, Gas: ran.Units}, nil
}

// unlessPoor returns why a transaction failed: the sender's balances if they are too low, otherwise failure. If
// endpoints differ about that, one of them is behind, and the failure proves nothing.
func (c *Chain) unlessPoor(ctx context.Context, t quote.Simulation, failure error) error {
	var asked *jsonrpc.Call
	states, err := c.readAccounts(ctx, holdings(t.In, t.Sender), func(call *jsonrpc.Call) {
		isPoor := func(result any) bool { return lack(t, result.(*accountInfos).Value) != nil }
		call.Twice, call.Same, asked = true, func(a, b any) bool { return isPoor(a) == isPoor(b) }, call
	})
	if err != nil {
		return fmt.Errorf("%w: %w", quote.ErrNotSimulated, err)
	}
	poor := lack(t, states)
	switch {
	case asked.IsSingle() && len(asked.Contradicting()) > 0:
		return fmt.Errorf("%w: endpoints differ about the sender's balance: %v", quote.ErrNotSimulated, failure)
	case poor != nil:
		return fmt.Errorf("%w: %w: %w: %v", quote.ErrNotSimulated, quote.ErrSenderLacks, poor, failure)
	}
	return failure
}

// lack returns an error if a sender with holdings in these states has less than a transaction may take.
func lack(t quote.Simulation, states []*accountInfo) error {
	needed := chain.NewAmount(reserveLamports).Add(t.Tx.Value)
	if t.In.IsNative() {
		needed = needed.Add(t.AmountIn)
	} else if has := tokenBalance(t.In, states); has.Cmp(t.AmountIn) < 0 {
		return fmt.Errorf("the sender has %s of the %s of tokenIn that the transaction takes", has, t.AmountIn)
	}
	if has := lamportsOf(states[0]); has.Cmp(needed) < 0 {
		return fmt.Errorf("the sender has %s lamports of the %s that the transaction may take", has, needed)
	}
	return nil
}

// Balance implements quote.Simulator. For a token it returns the balance of the holder's associated account, from which
// swaps spend.
func (c *Chain) Balance(ctx context.Context, token, holder chain.Address) (chain.Amount, error) {
	has := func(states []*accountInfo) chain.Amount {
		if len(states) > 0 && token.IsNative() {
			return lamportsOf(states[0])
		}
		return tokenBalance(token, states)
	}
	states, err := c.readAccounts(ctx, holdings(token, holder), func(call *jsonrpc.Call) {
		jsonrpc.Lesser(call, func(a, b accountInfos) int { return has(a.Value).Cmp(has(b.Value)) })
	})
	return has(states), err
}

// holdings returns the accounts of what holder has: its own and, for a token, that of each token program.
func holdings(token, holder chain.Address) []chain.Address {
	accounts := []chain.Address{holder}
	if token.IsNative() {
		return accounts
	}
	for _, program := range []chain.Address{solana.TokenProgram, solana.Token2022Program} {
		accounts = append(accounts, solana.TokenAccount(holder, program, token))
	}
	return accounts
}

// tokenBalance returns the balance in the token accounts of holdings.
func tokenBalance(token chain.Address, states []*accountInfo) chain.Amount {
	var sum chain.Amount
	for _, state := range states[min(1, len(states)):] {
		if h := readHolding(state); h.mint == token {
			sum = sum.Add(h.amount)
		}
	}
	return sum
}
