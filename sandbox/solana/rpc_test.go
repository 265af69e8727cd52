package solana

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

// ask posts a body and returns the response.
func ask(t *testing.T, c *Chain, body string) string {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	answered := httptest.NewRecorder()
	c.ServeHTTP(answered, request)
	return answered.Body.String()
}

// result calls a method and decodes its result.
func result[R any](t *testing.T, c *Chain, method, params string) R {
	t.Helper()
	text := ask(t, c, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[%s]}`, method, params))
	var answer struct {
		Result *R
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Error != nil {
		t.Fatalf("%s(%s) = %s, %v", method, params, text, err)
	}
	if answer.Result == nil {
		return *new(R)
	}
	return *answer.Result
}

// lived returns a ledger with two orders, an old one, and a recent one created by a versioned transaction.
func lived(t *testing.T) (c *Chain, legacy, versioned Order) {
	t.Helper()
	c = open(t)
	orders := must.Get(c.Create(began.Add(time.Minute), Way{}, offer(t, 1)))(t)
	c.Mine(100)
	newer := must.Get(c.Create(began.Add(time.Minute), Way{Versioned: true, Forwarded: true, Priority: 5000}, offer(t, 2)))(t)
	return c, orders[0], newer[0]
}

// TestListsBeginAndEndAtAnyTransaction proves that before and until need not involve the account.
func TestListsBeginAndEndAtAnyTransaction(t *testing.T) {
	c, legacy, versioned := lived(t)
	account := giveOrderState(legacy.Terms.ID())
	for cursor, want := range map[string]bool{
		"": true,
		`,"before":"` + versioned.Creation.String() + `"`:   true,
		`,"until":"` + versioned.Creation.String() + `"`:    false,
		`,"before":"` + strings.Repeat("1", 63) + "2" + `"`: false,
	} {
		got := ask(t, c, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"getSignaturesForAddress","params":[%q,{"commitment":"confirmed"%s}]}`, account, cursor,
		))
		if strings.Contains(got, fmt.Sprint(legacy.Creation)) != want {
			t.Errorf("%s: %s, want the creation: %t", cursor, got, want)
		}
	}
}

// TestTransactionsHaveEveryRecordedMember proves that the sandbox's answer has every member of a recorded one.
func TestTransactionsHaveEveryRecordedMember(t *testing.T) {
	var known struct {
		Response struct {
			Body struct{ Result map[string]any }
		}
	}
	recorded.JSON(t, "recorded/chains/solana-getTransaction-legacy.json", &known)
	c, legacy, _ := lived(t)
	got := result[map[string]any](t, c, "getTransaction", fmt.Sprintf("%q", legacy.Creation))
	lacking(t, "result", known.Response.Body.Result, got)
}

func lacking(t *testing.T, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for name, value := range want {
			if _, has := object[name]; !has {
				t.Errorf("%s has no %s", path, name)
				continue
			}
			lacking(t, path+"."+name, value, object[name])
		}
	case []any:
		if list, _ := got.([]any); len(want) > 0 && len(list) > 0 {
			lacking(t, path+"[0]", want[0], list[0])
		}
	default:
		if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
			t.Errorf("%s is a %T, recorded %T", path, got, want)
		}
	}
}

var (
	began  = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	maker  = NewAccount("maker", sha256.Sum256([]byte("maker")))
	taker  = NewAccount("taker", sha256.Sum256([]byte("taker")))
	keeper = NewAccount("keeper", sha256.Sum256([]byte("keeper")))
	// wallet is an address on an EVM chain.
	wallet = slices.Repeat([]byte{0xab}, 20)
)

const ethereum = 1

// open returns a ledger with three funded accounts that knows Ethereum.
func open(t *testing.T) *Chain {
	t.Helper()
	c := New(began)
	for _, a := range []Account{maker, taker, keeper} {
		c.Fund(a.Key, 1_000_000_000_000, 1_000_000)
	}
	c.Connect(ethereum, slices.Repeat([]byte{1}, 20), slices.Repeat([]byte{2}, 20))
	return c
}

func named(t *testing.T, symbol string) Token {
	t.Helper()
	i := slices.IndexFunc(Tokens, func(t Token) bool { return t.Symbol == symbol })
	return Tokens[i]
}

// offer returns an ordinary order from Solana.
func offer(t *testing.T, nonce uint64) Creation {
	return Creation{
		Maker: maker, Give: named(t, usdc), Amount: 10_000_000,
		Take:     Offer{ethereum, wallet, big.NewInt(9_900_000)},
		Receiver: wallet, Authority: wallet, Nonce: nonce, Metadata: make([]byte, 66),
	}
}

// TestTransactionsArePrinted proves that solana-go prints a transaction with crossgate's treeout.
func TestTransactionsArePrinted(t *testing.T) {
	transaction := solana.Transaction{Signatures: []solana.Signature{{1}}}
	text := transaction.String()
	_, after, found := strings.Cut(text, "  Signatures[len=1]\n    ")
	if line, _, _ := strings.Cut(after, "\n"); !found || line != (solana.Signature{1}).String() || !strings.Contains(after, "\n  Message\n    ") {
		t.Errorf("printed is\n%s\nwant the signature below Signatures, and what is in the message below Message", text)
	}
}

func (t *transaction) bytes(tb *testing.T) []byte {
	tb.Helper()
	return must.Get(t.wire())(tb)
}

func TestTransactionsAreReadAsTheyWereWritten(t *testing.T) {
	c := open(t)
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
