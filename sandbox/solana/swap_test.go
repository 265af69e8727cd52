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
)

// trading is a ledger with pools of the coin, USDC and PYUSD, and stranger, who has nothing.
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

// exchange is a swap of the maker's at the best price.
func exchange(t *testing.T, c *Chain, in, out Token, amount uint64, wraps bool) Exchange {
	t.Helper()
	route, err := c.Best(in, out, amount, anyPool)
	must(t, err)
	return Exchange{Route: route, User: maker.Key, Wraps: wraps, Quoted: route.AmountOut(), SlippageBps: 50, UnitPrice: 1000}
}

// text is what is signed of a transaction, and bytes is the whole of it.
func (t *transaction) text(tb *testing.T) []byte {
	tb.Helper()
	text, err := t.Message.MarshalBinary()
	must(tb, err)
	return text
}

func (t *transaction) bytes(tb *testing.T) []byte {
	tb.Helper()
	wire, err := t.wire()
	must(tb, err)
	return wire
}

func (a Account) sign(text []byte) Signature {
	return Signature(ed25519.Sign(ed25519.PrivateKey(a.private), text))
}

// signed puts the maker's signature into a transaction.
func signed(t *testing.T, wire []byte) string {
	t.Helper()
	tx, err := readTransaction(wire)
	must(t, err)
	tx.Signatures[0] = maker.sign(tx.text(t))
	return base64.StdEncoding.EncodeToString(tx.bytes(t))
}

// coins are all lamports of somebody, wrapped or not.
func (c *Chain) coins(owner Key) (sum uint64) {
	for _, at := range []Key{owner, Tokens[0].Wallet(owner)} {
		if content := c.accounts[at]; content != nil {
			sum += content.lamports
		}
	}
	return sum
}

// JupiterSwap makes the transaction of what Jupiter builds.
func (c *Chain) JupiterSwap(x Exchange) (Unsigned, error) {
	b := c.JupiterBuild(x)
	return c.unsigned(x, slices.Concat(b.Setup, []Instruction{b.Swap}, b.Cleanup)...)
}

func TestSwapsPayWhatTheyQuote(t *testing.T) {
	sol, usd, pyusd := named(t, wrapped), named(t, usdc), named(t, paypal)
	for _, row := range []struct {
		name      string
		swap      func(*Chain, Exchange) (Unsigned, error)
		in, out   Token
		wraps     bool
		elsewhere bool
	}{
		{"Jupiter, coin to token", (*Chain).JupiterSwap, sol, usd, true, false},
		{"Jupiter, token to coin", (*Chain).JupiterSwap, usd, sol, true, false},
		{"Jupiter, over two pools", (*Chain).JupiterSwap, sol, pyusd, true, false},
		{"Jupiter, back over two pools", (*Chain).JupiterSwap, pyusd, sol, true, false},
		{"Jupiter, wrapped coin", (*Chain).JupiterSwap, sol, usd, false, false},
		{"Jupiter, into the wrapped coin", (*Chain).JupiterSwap, usd, sol, false, false},
		{"DFlow, coin to token", (*Chain).DFlowSwap, sol, usd, true, false},
		{"DFlow, token to coin", (*Chain).DFlowSwap, usd, sol, true, false},
		{"DFlow, over two pools", (*Chain).DFlowSwap, sol, pyusd, true, false},
		{"DFlow, tokens for a stranger", (*Chain).DFlowSwap, sol, usd, true, true},
		{"DFlow, the coin for a stranger", (*Chain).DFlowSwap, pyusd, sol, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, stranger := trading(t)
			x := exchange(t, c, row.in, row.out, 2_000_000, row.wraps)
			receiver := maker.Key
			if row.elsewhere {
				x.Receiver, receiver = stranger.Key, stranger.Key
			}
			made, err := row.swap(c, x)
			must(t, err)
			if made.Failure != nil {
				t.Fatalf("the transaction would fail: %v", made.Failure)
			}
			has := func(token Token) uint64 {
				if token == sol {
					return c.coins(receiver)
				}
				return c.amount(token.Wallet(receiver))
			}
			inBefore, before, all := has(row.in), has(row.out), len(c.transactions)
			_, text := ask(t, c, fmt.Sprintf(`{"id":1,"method":"sendTransaction","params":[%q,{"encoding":"base64"}]}`, signed(t, made.Wire)))
			if len(c.transactions) != all+1 || c.transactions[all].outcome.failure() != nil {
				t.Fatalf("sendTransaction: %s", text)
			}
			got, fee := has(row.out)-before, c.transactions[all].outcome.fee
			if row.out == sol && !row.elsewhere {
				got += fee
			}
			if got != x.Quoted {
				t.Errorf("the receiver got %d, want %d", got, x.Quoted)
			}
			if spent := inBefore - has(row.in); !row.elsewhere && row.in != sol && spent != 2_000_000 {
				t.Errorf("the user spent %d, want 2000000", spent)
			}
			if want := made.Priority() + lamportsPerSignature; fee != want {
				t.Errorf("the fee is %d, want %d", fee, want)
			}
		})
	}
}

func TestSwapsTakeTheBetterPool(t *testing.T) {
	c, _ := trading(t)
	sol, usd := named(t, wrapped), named(t, usdc)
	for amount, want := range map[uint64]uint64{1_000_000: 5, 50_000_000_000: 25} {
		route, err := c.Best(sol, usd, amount, anyPool)
		must(t, err)
		if got := route.Hops[0].Pool.FeeBps; len(route.Hops) != 1 || got != want {
			t.Errorf("%d lamports go through %d pools, the first of which keeps %d bps, want one of %d", amount, len(route.Hops), got, want)
		}
	}
	if _, err := c.Best(sol, named(t, bare), 1000, anyPool); err == nil {
		t.Error("a route to a token without pools")
	}
	if _, err := c.Best(sol, sol, 1000, anyPool); err == nil {
		t.Error("a route of the wrapped coin to itself")
	}
}

// TestSimulationsSayWhatSendingDoes tries transactions that a node refuses, for the reason that it gives, and sees
// that they do nothing.
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
		route, err := c.Best(usd, sol, 2_000_000_000_000, anyPool)
		must(t, err)
		x.Route, x.Quoted = route, 1
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
		made, err := row.swap(c, row.x)
		must(t, err)
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

// TestForgedTransactionsFail changes an honest transaction in ways that somebody might want.
func TestForgedTransactionsFail(t *testing.T) {
	c, stranger := trading(t)
	sol, usd := named(t, wrapped), named(t, usdc)
	made, err := c.JupiterSwap(exchange(t, c, sol, usd, 2_000_000, true))
	must(t, err)
	thief := usd.Wallet(stranger.Key)
	for name, forge := range map[string]func([]byte) []byte{
		"unsigned": func(wire []byte) []byte { return wire },
		"signed by somebody else": func(wire []byte) []byte {
			tx, _ := readTransaction(wire)
			tx.Signatures[0] = taker.sign(tx.text(t))
			return tx.bytes(t)
		},
		"changed after it was signed": func(wire []byte) []byte {
			raw, _ := base64.StdEncoding.DecodeString(signed(t, wire))
			raw[len(raw)-1] ^= 1
			return raw
		},
		"with an old blockhash": func(wire []byte) []byte {
			tx, _ := readTransaction(wire)
			tx.Message.RecentBlockhash = c.blockhash(c.head - 300)
			tx.Signatures[0] = maker.sign(tx.text(t))
			return tx.bytes(t)
		},
		"to an account that is not there": func(wire []byte) []byte {
			tx, _ := readTransaction(wire)
			for n, k := range tx.Message.AccountKeys {
				if k == usd.Wallet(maker.Key) {
					tx.Message.AccountKeys[n] = thief
				}
			}
			tx.Signatures[0] = maker.sign(tx.text(t))
			return tx.bytes(t)
		},
		"of another's tokens": func(wire []byte) []byte {
			tx, _ := readTransaction(wire)
			for n, k := range tx.Message.AccountKeys {
				if k == sol.Wallet(maker.Key) {
					tx.Message.AccountKeys[n] = sol.Wallet(taker.Key)
				}
			}
			tx.Signatures[0] = maker.sign(tx.text(t))
			return tx.bytes(t)
		},
		"broken off":         func(wire []byte) []byte { return wire[:len(wire)-9] },
		"with a tail":        func(wire []byte) []byte { return append(bytes.Clone(wire), 0) },
		"nothing":            func([]byte) []byte { return nil },
		"of a later version": func(wire []byte) []byte { forged := bytes.Clone(wire); forged[65]++; return forged },
	} {
		all := len(c.transactions)
		text := base64.StdEncoding.EncodeToString(forge(made.Wire))
		if _, answer := ask(t, c, fmt.Sprintf(`{"id":1,"method":"sendTransaction","params":[%q,{"encoding":"base64"}]}`, text)); !strings.Contains(answer, `"error"`) || len(c.transactions) != all {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

func TestSimulationShowsAccounts(t *testing.T) {
	c, stranger := trading(t)
	x := exchange(t, c, named(t, wrapped), named(t, usdc), 2_000_000, true)
	made, err := c.JupiterSwap(x)
	must(t, err)
	at := named(t, usdc).Wallet(maker.Key)
	simulate := func(text string, options ...any) (value struct {
		Err           any
		UnitsConsumed uint64
		Accounts      []*struct{ Data []string }
		Replacement   *struct{ Blockhash string } `json:"replacementBlockhash"`
	},
	) {
		t.Helper()
		shown := result[struct{ Value json.RawMessage }](t, c, "simulateTransaction", fmt.Sprintf(text, options...))
		must(t, json.Unmarshal(shown.Value, &value))
		return value
	}
	wire := base64.StdEncoding.EncodeToString(made.Wire)
	shown := simulate(`%q,{"encoding":"base64","replaceRecentBlockhash":true,"commitment":"confirmed","accounts":{"encoding":"base64","addresses":[%q,%q]}}`,
		wire, at, stranger.Key)
	if shown.Err != nil || shown.UnitsConsumed == 0 || shown.UnitsConsumed*6/5 != made.UnitLimit || shown.Replacement == nil || len(shown.Accounts) != 2 {
		t.Fatalf("simulation = %+v, want two accounts, units for the limit %d and a blockhash", shown, made.UnitLimit)
	}
	data, err := base64.StdEncoding.DecodeString(shown.Accounts[0].Data[0])
	must(t, err)
	if got, want := readNumber(data[64:72]), c.amount(at)+x.Quoted; got != want || shown.Accounts[1] != nil {
		t.Errorf("after it the user has %d, the stranger %v, want %d and nothing", got, shown.Accounts[1], want)
	}
	if again := simulate(`%q,{"encoding":"base64","commitment":"confirmed"}`, wire); again.Err != nil || again.Replacement != nil || again.Accounts != nil {
		t.Errorf("simulation of the bare transaction = %+v", again)
	}
	c.Mine(hashLife + 1)
	if late := simulate(`%q,{"encoding":"base64","commitment":"confirmed"}`, wire); late.Err != "BlockhashNotFound" {
		t.Errorf("simulation with an old blockhash = %+v", late)
	}
}

func TestTransactionsAreReadAsTheyWereWritten(t *testing.T) {
	c, _ := trading(t)
	_, err := c.Create(began.Add(time.Minute), Way{Versioned: true, Forwarded: true}, offer(t, 1))
	must(t, err)
	_, err = c.Create(began.Add(time.Minute), Way{Priority: 3}, offer(t, 2))
	must(t, err)
	for _, tx := range c.transactions {
		again, err := readTransaction(tx.bytes(t))
		must(t, err)
		if rejected := again.resolve(c.tables); rejected != nil || again.VerifySignatures() != nil {
			t.Errorf("read again: %v, %v", rejected, again.VerifySignatures())
		}
		if !bytes.Equal(again.bytes(t), tx.bytes(t)) || !slices.Equal(again.keys(), tx.keys()) {
			t.Error("the transaction has changed")
		}
	}
	var recorded struct{ SwapTransaction []byte }
	must(t, json.Unmarshal(readShared(t, "recorded/chains/jupiter-swap-v6-transaction-2024.json"), &recorded))
	tx, err := readTransaction(recorded.SwapTransaction)
	must(t, err)
	if !bytes.Equal(tx.bytes(t), recorded.SwapTransaction) || len(tx.Message.AddressTableLookups) != 4 || len(tx.Message.AccountKeys) != 20 {
		t.Errorf("Jupiter's real transaction is read as %+v", tx.Message)
	}
	route := tx.Message.Instructions[3]
	if tx.Message.AccountKeys[route.ProgramIDIndex] != jupiterProgram || !bytes.HasPrefix(route.Data, anchor("global", "shared_accounts_route")) || route.Data[8] != jupiterID {
		t.Errorf("its route begins with %x", route.Data[:9])
	}
}
