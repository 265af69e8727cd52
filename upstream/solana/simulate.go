package solana

import (
	"context"
	"encoding/base64"
	"encoding/binary"
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

// reserveLamports is what a sender needs beside the input: for accounts that the swap opens, and fees.
const reserveLamports = 6_000_000

// simulated is what simulateTransaction returns for a transaction.
type simulated struct {
	Err   json.RawMessage `json:"err"` // null when it succeeds; absent when nothing is said of that
	Units uint64          `json:"unitsConsumed"`
	Logs  []string        `json:"logs"`
	// Accounts are those that were asked for, as the transaction leaves them.
	Accounts []*accountInfo `json:"accounts"`
}

// Beginnings of the errors that are the sender's or the moment's fault, not the transaction's (agave, sdk
// transaction_error.rs).
var notItsFault = []string{
	"AccountNotFound", "InsufficientFundsForFee", "InsufficientFundsForRent", "BlockhashNotFound", "AccountInUse",
	"ClusterMaintenance", "TooManyAccountLocks", "WouldExceed",
}

// failure is why the transaction fails: quote.ErrReverted, or quote.ErrNotSimulated where that is not
// the transaction's fault.
func (o simulated) failure() error {
	if isNull(o.Err) {
		return nil
	}
	said := string(o.Err)
	kind := quote.ErrReverted
	if slices.ContainsFunc(notItsFault, func(word string) bool { return strings.Contains(said, `"`+word) }) {
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
// and returns accounts as it leaves them. A node that does not say how it ended, or that it succeeded without these
// accounts, is passed over.
func runCall(out *simulationReply, tx quote.Tx, shown ...chain.Address) *jsonrpc.Call {
	o := options{"encoding": "base64", "commitment": confirmed, "sigVerify": false, "replaceRecentBlockhash": true}
	if len(shown) > 0 {
		texts := make([]string, len(shown))
		for i, a := range shown {
			texts[i] = a.Format(chain.SVM)
		}
		o["accounts"] = options{"encoding": "base64", "addresses": texts}
	}
	return jsonrpc.NewCall(out, func(ran simulationReply) error {
		switch {
		case len(ran.Value.Err) == 0:
			return errors.New("simulation without its outcome")
		case isNull(ran.Value.Err) && len(ran.Value.Accounts) != len(shown):
			return errors.New("simulation without the accounts that were asked for")
		}
		return nil
	}, "simulateTransaction", base64.StdEncoding.EncodeToString(tx.Data), o)
}

func (c *Chain) run(ctx context.Context, tx quote.Tx) (simulated, error) {
	var ran simulationReply
	err := c.rpc.All(ctx, runCall(&ran, tx))
	return ran.Value, err
}

// Simulate implements quote.Simulator, in one round trip. It says whether the transaction succeeds, how many compute
// units that takes, and how much more the recipient has then; not so of the coin where that is the sender, who pays for
// accounts and fees with it. A failure proves something only where the sender has what the transaction takes: nodes
// cannot override state.
func (c *Chain) Simulate(ctx context.Context, t quote.Simulation) (quote.Result, error) {
	var ran simulationReply
	var states, before accountInfos
	received := holdings(t.Out, t.Recipient)
	err := c.rpc.All(ctx,
		runCall(&ran, t.Tx, received...), accountsCall(&states, holdings(t.In, t.Sender)), accountsCall(&before, received))
	if err != nil {
		return quote.Result{}, err
	}
	failure := ran.Value.failure()
	if failure == nil {
		found := quote.Result{Gas: ran.Value.Units}
		if !t.Out.IsNative() || t.Recipient != t.Sender {
			found.Measured, found.Received = true, gain(balanceOf(t.Out, ran.Value.Accounts), balanceOf(t.Out, before.Value))
		}
		return found, nil
	}
	needed := chain.NewAmount(reserveLamports)
	if t.In.IsNative() {
		needed = needed.Add(t.AmountIn)
	} else if has := tokenBalance(t.In, states.Value); has.Cmp(t.AmountIn) < 0 {
		return quote.Result{}, fmt.Errorf("%w: the sender has %s of the %s that the transaction takes: %v",
			quote.ErrNotSimulated, has, t.AmountIn, failure)
	}
	if has := lamports(states.Value); has.Cmp(needed) < 0 {
		return quote.Result{}, fmt.Errorf("%w: the sender has %s lamports of the %s that the transaction may take: %v",
			quote.ErrNotSimulated, has, needed, failure)
	}
	return quote.Result{}, failure
}

// Balance implements quote.Simulator. Of a token it is the balance of the holder's associated account, the one that
// swaps spend from.
func (c *Chain) Balance(ctx context.Context, token, holder chain.Address) (chain.Amount, error) {
	states, err := c.readAccounts(ctx, holdings(token, holder))
	if err != nil {
		return chain.Amount{}, err
	}
	return balanceOf(token, states), nil
}

// balanceOf is the balance of the accounts of holdings.
func balanceOf(token chain.Address, states []*accountInfo) chain.Amount {
	if token.IsNative() {
		return lamports(states)
	}
	return tokenBalance(token, states)
}

// gain is by how much there is more than before; zero where there is less.
func gain(after, before chain.Amount) chain.Amount {
	if after.Cmp(before) < 0 {
		return chain.Amount{}
	}
	return after.Sub(before)
}

// holdings are the accounts with what holder has: its own, and those for a token, of each token program.
func holdings(token, holder chain.Address) []chain.Address {
	accounts := []chain.Address{holder}
	if token.IsNative() {
		return accounts
	}
	for _, program := range []chain.Address{solana.TokenProgram, solana.Token2022Program} {
		accounts = append(accounts, solana.ProgramAddress(solana.AssociatedTokenProgram, holder.Bytes(), program.Bytes(), token.Bytes()))
	}
	return accounts
}

// lamports is the balance of the first of the accounts of holdings.
func lamports(states []*accountInfo) chain.Amount {
	if states[0] == nil {
		return chain.Amount{}
	}
	return chain.NewAmount(states[0].Lamports)
}

// Offsets in a token account (github.com/solana-program/token).
const (
	mintOffset       = 0
	amountOffset     = 64
	tokenAccountSize = 165
)

// tokenBalance is the balance of the other accounts of holdings.
func tokenBalance(token chain.Address, states []*accountInfo) chain.Amount {
	var sum chain.Amount
	for _, state := range states[1:] {
		if state == nil || state.Owner.Address != solana.TokenProgram && state.Owner.Address != solana.Token2022Program ||
			len(state.Data) < tokenAccountSize || chain.NewAddress(state.Data[mintOffset:mintOffset+32]) != token {
			continue
		}
		sum = sum.Add(chain.NewAmount(binary.LittleEndian.Uint64(state.Data[amountOffset:])))
	}
	return sum
}
