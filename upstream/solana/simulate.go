package solana

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream"
)

var _ quote.Simulator = (*Chain)(nil)

// spareLamports is what a sender needs beside the input: for accounts that the swap opens, and fees.
const spareLamports = 6_000_000

// outcome is what simulateTransaction says a transaction comes to.
type outcome struct {
	Err   json.RawMessage `json:"err"` // null when it goes through
	Units uint64          `json:"unitsConsumed"`
	Logs  []string        `json:"logs"`
	// Accounts are those that were asked for, as the transaction leaves them.
	Accounts []*storage `json:"accounts"`
}

// Beginnings of the words for what is the sender's or the moment's fault, not the transaction's (agave, sdk transaction_error.rs).
var notItsFault = []string{
	"AccountNotFound", "InsufficientFundsForFee", "InsufficientFundsForRent", "BlockhashNotFound", "AccountInUse",
	"ClusterMaintenance", "TooManyAccountLocks", "WouldExceed",
}

// failure is why the transaction does not go through: quote.ErrReverted, or quote.ErrNotSimulated where that is not
// the transaction's fault.
func (o outcome) failure() error {
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

type outcomeAnswer struct {
	Value outcome `json:"value"`
}

// runCall has a transaction run without its signatures on the newest confirmed block, whatever block it was made for,
// and accounts shown as it leaves them.
func runCall(out *outcomeAnswer, tx quote.Tx, shown ...chain.Address) *upstream.Call {
	o := options{"encoding": "base64", "commitment": confirmed, "sigVerify": false, "replaceRecentBlockhash": true}
	if len(shown) > 0 {
		texts := make([]string, len(shown))
		for i, a := range shown {
			texts[i] = a.Format(chain.SVM)
		}
		o["accounts"] = options{"encoding": "base64", "addresses": texts}
	}
	return call(out, nil, "simulateTransaction", base64.StdEncoding.EncodeToString(tx.Data), o)
}

func (c *Chain) run(ctx context.Context, tx quote.Tx) (outcome, error) {
	var ran outcomeAnswer
	err := c.need(ctx, runCall(&ran, tx))
	return ran.Value, err
}

// Simulate implements quote.Simulator, in one round trip. It tells whether the transaction goes through, how many
// compute units that takes, and what the recipient has more of; not so of the coin where he is the sender, who pays for
// accounts and fees with it. A failure proves something only where the sender has what the transaction takes: nodes
// suppose nothing.
func (c *Chain) Simulate(ctx context.Context, t quote.Simulation) (quote.Result, error) {
	var ran outcomeAnswer
	var states, before storageAnswer
	purse := holdings(t.Out, t.Recipient)
	if err := c.need(ctx, runCall(&ran, t.Tx, purse...), storageCall(&states, holdings(t.In, t.Sender)), storageCall(&before, purse)); err != nil {
		return quote.Result{}, err
	}
	failure := ran.Value.failure()
	if failure == nil {
		found := quote.Result{Gas: ran.Value.Units}
		if after := ran.Value.Accounts; len(after) == len(purse) && (!t.Out.IsNative() || t.Recipient != t.Sender) {
			found.Measured, found.Received = true, more(worth(t.Out, after), worth(t.Out, before.Value))
		}
		return found, nil
	}
	needed := chain.NewAmount(spareLamports)
	if t.In.IsNative() {
		needed = needed.Add(t.AmountIn)
	} else if has := held(t.In, states.Value); has.Cmp(t.AmountIn) < 0 {
		return quote.Result{}, fmt.Errorf("%w: the sender has %s of the %s that it takes: %v", quote.ErrNotSimulated, has, t.AmountIn, failure)
	}
	if has := lamports(states.Value); has.Cmp(needed) < 0 {
		return quote.Result{}, fmt.Errorf("%w: the sender has %s lamports of the %s that it may take: %v", quote.ErrNotSimulated, has, needed, failure)
	}
	return quote.Result{}, failure
}

// Balance implements quote.Simulator. Of a token it is what lies on the holder's associated account, which is the one
// that swaps spend from.
func (c *Chain) Balance(ctx context.Context, token, holder chain.Address) (chain.Amount, error) {
	states, err := c.storages(ctx, holdings(token, holder))
	if err != nil {
		return chain.Amount{}, err
	}
	return worth(token, states), nil
}

// worth is what lies on the accounts of holdings.
func worth(token chain.Address, states []*storage) chain.Amount {
	if token.IsNative() {
		return lamports(states)
	}
	return held(token, states)
}

// more is by how much there is more than before; nothing where there is less.
func more(after, before chain.Amount) chain.Amount {
	if after.Cmp(before) < 0 {
		return chain.Amount{}
	}
	return after.Sub(before)
}

// holdings are the accounts that tell what holder has: his own, and those for a token, of each token program.
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

// lamports is what lies on the first of the accounts of holdings.
func lamports(states []*storage) chain.Amount {
	if states[0] == nil {
		return chain.Amount{}
	}
	return chain.NewAmount(states[0].Lamports)
}

// Places in an account for tokens (github.com/solana-program/token).
const (
	heldMint   = 0
	heldAmount = 64
	heldSize   = 165
)

// held is what lies on the other accounts of holdings.
func held(token chain.Address, states []*storage) chain.Amount {
	var sum chain.Amount
	for _, state := range states[1:] {
		if state == nil || state.Owner.Address != solana.TokenProgram && state.Owner.Address != solana.Token2022Program ||
			len(state.Data) < heldSize || chain.NewAddress(state.Data[heldMint:heldMint+32]) != token {
			continue
		}
		sum = sum.Add(chain.NewAmount(binary.LittleEndian.Uint64(state.Data[heldAmount:])))
	}
	return sum
}
