package solana_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"crossgate/chain"
	wire "crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/quote"
	"crossgate/sandbox/jsonrpc"
	sandbox "crossgate/sandbox/solana"
)

// instead answers one method with a fixed result; the world's node answers all others.
func (w *world) instead(method, result string) http.Handler {
	return jsonrpc.Altered(w, func(call jsonrpc.Request, _ int) string {
		if call.Method == method {
			return `"result":` + result
		}
		return ""
	})
}

func TestRecordedBids(t *testing.T) {
	var told struct {
		Response struct {
			Body struct{ Result json.RawMessage }
		}
	}
	recorded.JSON(t, "recorded/chains/solana-getRecentPrioritizationFees.json", &told)
	for _, row := range []struct {
		result             string
		normal, aggressive uint64
	}{
		{string(told.Response.Body.Result), 2000, 2500}, // 0, 1000 and 500
		{`[]`, 2000, 2500},
		{`[{"slot":1,"prioritizationFee":1000},{"slot":2,"prioritizationFee":90000},{"slot":3,"prioritizationFee":4000},{"slot":4,"prioritizationFee":5000}]`, 5000, 90000},
	} {
		w := newWorld(t)
		c := w.chain(w.instead("getRecentPrioritizationFees", row.result))
		normal, err := c.GasPrice(t.Context(), quote.Normal)
		aggressive, _ := c.GasPrice(t.Context(), quote.Aggressive)
		if err != nil || normal.Bid != chain.NewAmount(row.normal) || aggressive.Bid != chain.NewAmount(row.aggressive) {
			t.Errorf("bids = %s and %s, %v, want %d and %d", normal.Bid, aggressive.Bid, err, row.normal, row.aggressive)
		}
	}
}

func TestTheLedgersBidsAreRead(t *testing.T) {
	w := newWorld(t)
	w.create(sandbox.Way{})
	c := w.chain()
	var price quote.GasPrice
	var err error
	if trips := w.tripsOf(func() { price, err = c.GasPrice(t.Context(), quote.Normal) }); err != nil || price.Bid.IsZero() || trips > 2 {
		t.Errorf("GasPrice() = %+v, %v in %d round trips, want a bid in one, and one for the proof", price, err, trips)
	}
	fee, err := c.DataFee(t.Context(), quote.Tx{Data: []byte{1, 0}}, 0)
	if err != nil || fee != chain.NewAmount(5000) {
		t.Errorf("DataFee of one signature = %s, %v, want 5000 lamports", fee, err)
	}
}

func TestBalancesOnSolana(t *testing.T) {
	w := newWorld(t)
	c := w.chain(liar{w, "getMultipleAccounts", func(result json.RawMessage) json.RawMessage { // which knows no account
		var told struct{ Value []any }
		must.Do(t, json.Unmarshal(result, &told))
		return must.Get(json.Marshal(map[string]any{"value": make([]any, len(told.Value))}))(t)
	}})
	holder, nobody := chain.NewAddress(maker.Key[:]), chain.NewAddress([]byte("nobody who has an account here.."))
	for _, token := range []chain.Address{chain.NativeCoin(chain.SVM), chain.NewAddress(usdc.Mint[:])} {
		want := chain.NewAmount(1e12)
		if !token.IsNative() {
			want = chain.NewAmount(1e18) // whole tokens with six decimals
		}
		has, err := c.Balance(t.Context(), token, holder)
		if err != nil || has != want {
			t.Errorf("Balance of %s = %s, %v, want %s", token.Format(chain.SVM), has, err, want)
		}
		if none, err := c.Balance(t.Context(), token, nobody); err != nil || !none.IsZero() {
			t.Errorf("Balance of nobody = %s, %v, want nothing", none, err)
		}
	}
}

// TestTrialsOnSolana covers agave's simulation results of a transaction (docs.solana.com, simulateTransaction).
func TestTrialsOnSolana(t *testing.T) {
	holder, nobody := chain.NewAddress(maker.Key[:]), chain.NewAddress([]byte("nobody who has an account here.."))
	coin, token := chain.NativeCoin(chain.SVM), chain.NewAddress(usdc.Mint[:])
	const slippage = `{"InstructionError":[3,{"Custom":6001}]}`
	for _, row := range []struct {
		name   string
		err    string
		sender chain.Address
		in     chain.Address
		want   error
		says   string
	}{
		{"that goes through", "null", holder, token, nil, ""},
		{"that goes through, of somebody unknown", "null", nobody, token, nil, ""},
		{"that a program refuses", slippage, holder, token, quote.ErrReverted, "SlippageToleranceExceeded"},
		{"that a program refuses, of the coin", slippage, holder, coin, quote.ErrReverted, "6001"},
		{"of a sender without the token", slippage, nobody, token, quote.ErrSenderLacks, "the sender has 0"},
		{"of a sender without the coin", slippage, nobody, coin, quote.ErrSenderLacks, "lamports"},
		{"that calls no program", `"ProgramAccountNotFound"`, holder, token, quote.ErrReverted, "ProgramAccountNotFound"},
		{"of a sender who cannot pay", `"InsufficientFundsForFee"`, holder, token, quote.ErrNotSimulated, "InsufficientFundsForFee"},
		{"that leaves the sender too little", `{"InsufficientFundsForRent":{"account_index":0}}`, holder, coin, quote.ErrNotSimulated, "Rent"},
		{"that leaves another too little", `{"InsufficientFundsForRent":{"account_index":3}}`, holder, coin, quote.ErrReverted, "Rent"},
		{"of too many accounts", `"TooManyAccountLocks"`, holder, token, quote.ErrReverted, "TooManyAccountLocks"},
		{"of a program just deployed", `{"ProgramExecutionTemporarilyRestricted":{"account_index":1}}`, holder, token, quote.ErrNotSimulated, "Restricted"},
	} {
		w := newWorld(t)
		accounts := "null"
		if row.err == "null" {
			accounts = `[{"lamports":1000000000000,"owner":"11111111111111111111111111111111","data":["","base64"]}]`
		}
		c := w.chain(w.instead("simulateTransaction", `{"context":{"slot":1},"value":{"err":`+row.err+
			`,"unitsConsumed":81234,"logs":["Program log: AnchorError occurred. Error Code: SlippageToleranceExceeded","Program x consumed 1"],"accounts":`+accounts+`}}`))
		signed := wire.Draft{FeePayer: row.sender, Instructions: []wire.DraftInstruction{{Program: wire.MemoProgram}}}
		data := must.Get(signed.Compile())(w.t)
		trial := quote.Simulation{Sender: row.sender, Recipient: row.sender, In: row.in, Out: coin, AmountIn: chain.NewAmount(1000), Tx: quote.Tx{Data: data}}
		found, err := c.Simulate(t.Context(), trial)
		if !errors.Is(err, row.want) || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("Simulate a transaction %s: %v, want %v saying %q", row.name, err, row.want, row.says)
		}
		if row.want == nil && found.Gas != 81_234 {
			t.Errorf("Simulate a transaction %s took %d units, want 81234", row.name, found.Gas)
		}
	}
}
