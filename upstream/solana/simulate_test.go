package solana

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/quote"
)

// TestSimulationsShowAnOutcome uses nodes that report success but not the recipient's balance after it, or not even
// that the transaction ran: a venue's word is not enough without a simulation.
func TestSimulationsShowAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		known, _ := chain.Documented().Chain(chain.Solana)
		account := known.Contracts.DlnSource // arbitrary
		tx := must.Get(solana.Draft{FeePayer: account, Instructions: []solana.DraftInstruction{{Program: solana.MemoProgram}}}.Compile())(t)
		const rich = `{"lamports":9,"owner":"11111111111111111111111111111111","data":["","base64"]}` // before and after
		for name, test := range map[string]struct {
			said string
			ok   bool
		}{
			"accounts":         {`{"value":{"err":null,"unitsConsumed":7,"accounts":[` + rich + `]}}`, true},
			"no accounts":      {`{"value":{"err":null,"unitsConsumed":7}}`, false},
			"too few accounts": {`{"value":{"err":null,"unitsConsumed":7,"accounts":[]}}`, false},
			"no outcome":       {`{"value":{"unitsConsumed":7,"accounts":[` + rich + `]}}`, false},
			"no value":         {`{"value":null}`, false},
		} {
			c := solanaAt(t, func(method string, params []json.RawMessage) string {
				switch {
				case method == "simulateTransaction":
					return test.said
				case len(params) > 0 && strings.Count(string(params[0]), ",") == 0:
					return `{"value":[` + rich + `]}`
				}
				return `{"value":[null,null,null]}`
			})
			got, err := c.Simulate(t.Context(), quote.Simulation{
				Sender: account, Recipient: account, In: known.Contracts.DlnDestination, Out: known.Contracts.DlnDestination, AmountIn: chain.NewAmount(1), Tx: quote.Tx{Data: tx},
			})
			if ok := err == nil && got.Measured; ok != test.ok {
				t.Errorf("%s: Simulate() = %+v, %v", name, got, err)
			}
		}
	})
}

// TestBalancesAreNotOneEndpointsWord has swaps fail, at endpoints that know different balances of the sender.
func TestBalancesAreNotOneEndpointsWord(t *testing.T) {
	coin, sender := chain.NativeCoin(chain.SVM), solana.MemoProgram // arbitrary
	tx := must.Get(solana.Draft{FeePayer: sender, Instructions: []solana.DraftInstruction{{Program: solana.MemoProgram}}}.Compile())(t)
	const poor, rich = reserveLamports, reserveLamports + 10
	for name, row := range map[string]struct {
		has     []uint64 // at each endpoint
		balance uint64
		want    error
	}{
		"the only endpoint":     {[]uint64{poor}, poor, quote.ErrSenderLacks},
		"both":                  {[]uint64{poor, poor}, poor, quote.ErrSenderLacks},
		"the first of two":      {[]uint64{poor, rich}, poor, quote.ErrNotSimulated},
		"the second of two":     {[]uint64{rich, poor}, poor, quote.ErrNotSimulated},
		"the first of three":    {[]uint64{poor, rich, rich}, rich, quote.ErrReverted},
		"none of two endpoints": {[]uint64{rich, rich}, rich, quote.ErrReverted},
	} {
		var names []string
		for i := range row.has {
			names = append(names, fmt.Sprint(i))
		}
		c := solanaAtAll(t, names, func(name, method string, _ []json.RawMessage) string {
			if method == "simulateTransaction" {
				return `{"value":{"err":{"InstructionError":[0,{"Custom":1}]}}}`
			}
			return fmt.Sprintf(`{"value":[{"lamports":%d,"owner":"11111111111111111111111111111111","data":["","base64"]}]}`, row.has[slices.Index(names, name)])
		})
		_, err := c.Simulate(t.Context(), quote.Simulation{Sender: sender, Recipient: sender, In: coin, Out: coin, AmountIn: chain.NewAmount(10), Tx: quote.Tx{Data: tx}})
		if !errors.Is(err, row.want) || row.want != quote.ErrSenderLacks && errors.Is(err, quote.ErrSenderLacks) {
			t.Errorf("%s: too little of the coin: Simulate() = %v, want %v", name, err, row.want)
		}
		if has, err := c.Balance(t.Context(), coin, sender); err != nil || has != chain.NewAmount(row.balance) {
			t.Errorf("%s: Balance = %s, %v, want %d", name, has, err, row.balance)
		}
	}
}

// TestBidOfACreationStaysWithinTheBound: a venue's unit price also applies to the units of the order behind its swap.
func TestBidOfACreationStaysWithinTheBound(t *testing.T) {
	const price = 10_000_000 // 10 lamports
	draft := solana.Draft{FeePayer: solana.MemoProgram, Instructions: solana.Budget{Units: 1_000_000, Price: price}.Instructions()}
	m := must.Get(solana.ParseUnsigned(must.Get(draft.Compile())(t)))(t)
	for units, want := range map[uint64]error{200_000: nil, 200_001: quote.ErrRefused} {
		if err := checkBid(m, units); !errors.Is(err, want) {
			t.Errorf("%d units: %v, want %v", units, err, want)
		}
	}
}
