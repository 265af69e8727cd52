package solana

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

// trading returns a ledger with pools of the coin, USDC and PYUSD, and a stranger without funds.
func trading(t *testing.T) (c *Chain, stranger Account) {
	t.Helper()
	c = open(t)
	sol, usd, pyusd := named(t, wrapped), named(t, usdc), named(t, paypal)
	c.Stock(NewPool(sol, usd, 25), 100_000_000_000_000, 15_000_000_000_000)
	c.Stock(NewPool(sol, usd, 5), 1_000_000_000_000, 150_000_000_000)
	c.Stock(NewPool(usd, pyusd, 4), 5_000_000_000_000, 5_000_000_000_000)
	return c, NewAccount("stranger", [32]byte{7})
}

func anyPool(Pool) bool { return true }

// exchange returns a swap of the maker at the best price.
func exchange(t *testing.T, c *Chain, in, out Token, amount uint64, wraps bool) Exchange {
	t.Helper()
	route := must.Get(c.Best(in, out, amount, anyPool))(t)
	return Exchange{Route: route, User: maker.Key, Wraps: wraps, Quoted: route.AmountOut(), SlippageBps: 50, UnitPrice: 1000}
}

// text returns the signed part of a transaction; bytes returns all of it.
func (t *transaction) text(tb *testing.T) []byte {
	tb.Helper()
	return must.Get(t.Message.MarshalBinary())(tb)
}

func (t *transaction) bytes(tb *testing.T) []byte {
	tb.Helper()
	return must.Get(t.wire())(tb)
}

func (a Account) sign(text []byte) Signature {
	return Signature(ed25519.Sign(ed25519.PrivateKey(a.private), text))
}

// signed adds the maker's signature to a transaction.
func signed(t *testing.T, wire []byte) string {
	t.Helper()
	tx := must.Get(readTransaction(wire))(t)
	tx.Signatures[0] = maker.sign(tx.text(t))
	return base64.StdEncoding.EncodeToString(tx.bytes(t))
}

// JupiterSwap builds the transaction from Jupiter's parts.
func (c *Chain) JupiterSwap(x Exchange) (Unsigned, error) {
	b := c.JupiterBuild(x)
	return c.unsigned(x, slices.Concat(b.Setup, []Instruction{b.Swap}, b.Cleanup)...)
}

// TestSimulationsSayWhatSendingDoes proves that transactions that a node rejects fail for the same reason in a
// simulation, and change nothing.
func TestSimulationsSayWhatSendingDoes(t *testing.T) {
	c, stranger := trading(t)
	sol, usd := named(t, wrapped), named(t, usdc)
	fair := exchange(t, c, usd, sol, 2_000_000, true)
	change := func(change func(*Exchange)) Exchange {
		x := fair
		change(&x)
		return x
	}
	dear := change(func(x *Exchange) { x.Quoted = x.Quoted * 2 })
	poor := change(func(x *Exchange) { x.User = stranger.Key })
	huge := change(func(x *Exchange) {
		x.Route, x.Quoted = must.Get(c.Best(usd, sol, 2_000_000_000_000, anyPool))(t), 1
	})
	for _, row := range []struct {
		name, want string
		swap       func(*Chain, Exchange) (Unsigned, error)
		x          Exchange
	}{
		{"Jupiter below the minimum", `{"InstructionError":[3,{"Custom":6001}]}`, (*Chain).JupiterSwap, dear},
		{"DFlow below the minimum", `{"InstructionError":[3,{"Custom":15001}]}`, (*Chain).DFlowSwap, dear},
		{"more tokens than there are", `{"InstructionError":[3,{"Custom":1}]}`, (*Chain).JupiterSwap, huge},
		{"nobody's account", `"AccountNotFound"`, (*Chain).JupiterSwap, poor},
	} {
		made := must.Get(row.swap(c, row.x))(t)
		shown := result[struct{ Value struct{ Err json.RawMessage } }](t, c, "simulateTransaction", fmt.Sprintf(
			`%q,{"encoding":"base64","commitment":"confirmed","replaceRecentBlockhash":true}`, base64.StdEncoding.EncodeToString(made.Wire)))
		if string(shown.Value.Err) != row.want {
			t.Errorf("%s: simulation says %s, want %s", row.name, shown.Value.Err, row.want)
		}
		all := len(c.transactions)
		if _, text := ask(t, c, fmt.Sprintf(`{"id":1,"method":"sendTransaction","params":[%q,{"encoding":"base64"}]}`, signed(t, made.Wire))); !strings.Contains(text, "-32002") || len(c.transactions) != all {
			t.Errorf("%s: sent: %s", row.name, text)
		}
	}
}

func TestTransactionsAreReadAsTheyWereWritten(t *testing.T) {
	c, _ := trading(t)
	paid := offer(t, 1)
	paid.Payer = keeper
	must.Get(c.Create(began.Add(time.Minute), Way{Versioned: true, Forwarded: true}, paid))(t)
	must.Get(c.Create(began.Add(time.Minute), Way{Priority: 3}, offer(t, 2)))(t)
	for _, tx := range c.transactions {
		again := must.Get(readTransaction(tx.bytes(t)))(t)
		if rejected := again.resolve(c.tables); rejected != nil || again.VerifySignatures() != nil {
			t.Errorf("read again: %v, %v", rejected, again.VerifySignatures())
		}
		if !bytes.Equal(again.bytes(t), tx.bytes(t)) || !slices.Equal(again.keys(), tx.keys()) {
			t.Error("the transaction has changed")
		}
	}
	if payer := c.transactions[0].Message.AccountKeys[0]; payer != keeper.Key {
		t.Errorf("payer %s, want the keeper", payer)
	}
	var known struct{ SwapTransaction []byte }
	recorded.JSON(t, "recorded/chains/jupiter-swap-v6-transaction-2024.json", &known)
	tx := must.Get(readTransaction(known.SwapTransaction))(t)
	if !bytes.Equal(tx.bytes(t), known.SwapTransaction) || len(tx.Message.AddressTableLookups) != 4 || len(tx.Message.AccountKeys) != 20 {
		t.Errorf("Jupiter's real transaction is read as %+v", tx.Message)
	}
	route := tx.Message.Instructions[3]
	if tx.Message.AccountKeys[route.ProgramIDIndex] != jupiterProgram || !bytes.HasPrefix(route.Data, anchor("global", "shared_accounts_route")) || route.Data[8] != jupiterID {
		t.Errorf("its route begins with %x", route.Data[:9])
	}
}
