package solana_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	wire "crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
	sandbox "crossgate/sandbox/solana"
)

// TestForecastOfMistakes alters a creation in one way each: it is refused for the right reason, by what is read of the
// chain and by the ledger itself.
func TestForecastOfMistakes(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	poor := sandbox.NewAccount("poor", [32]byte{9})
	w.Fund(poor.Key, 1_000_000_000, 0)
	_, anothers := asked(t, usdc, 2_000_000, nil)
	for name, row := range map[string]struct {
		change   func(*creation.OnSolana)
		anothers bool
		want     string
	}{
		"an unknown chain":         {func(o *creation.OnSolana) { o.Take.Chain = 999 }, false, "no DlnDestination for chain 999"},
		"a receiver of 19 bytes":   {func(o *creation.OnSolana) { o.Receiver = chain.NewAddress(onEVM[:19]) }, false, "the receiver has 19 bytes"},
		"an authority of Solana":   {func(o *creation.OnSolana) { o.Authorities.Order = o.Maker }, false, "the order authority has 32 bytes"},
		"another order's accounts": {nil, true, "refuses the accounts: account 3"},
		"more than the maker has":  {func(o *creation.OnSolana) { o.Maker = chain.NewAddress(poor.Key[:]) }, false, "has 0 of the give token"},
	} {
		o, promised := asked(t, usdc, 1_000_000, row.change)
		if row.anothers {
			promised.ID = anothers.ID
		}
		data := must.Get(c.Create(t.Context(), o, promised.ID, nil, quote.Normal))(t)
		all := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: data}))(t)
		if len(all) != 1 || all[0].Refusal == nil || !strings.Contains(all[0].Refusal.Why, row.want) {
			t.Errorf("%s: %+v, want a refusal that says %q", name, all, row.want)
		}
	}
	o, promised := asked(t, usdc, 1_000_000, nil)
	o.Affiliate = &order.Affiliate{Beneficiary: o.Maker, Amount: o.GiveAmount}
	data := must.Get(c.Create(t.Context(), o, promised.ID, nil, quote.Normal))(t)
	all := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: data}))(t)
	if all[0].Refusal == nil || all[0].ID != nil || !strings.Contains(all[0].Refusal.Why, "exceed the give amount") {
		t.Errorf("a share of all: %+v", all)
	}
}

// offer is an order of the maker's, by another client.
func (w *world) offer(give sandbox.Token, nonce uint64) sandbox.Creation {
	return sandbox.Creation{
		Maker: maker, Give: give, Amount: 1_000_000, Take: sandbox.Offer{Chain: 1, Token: onEVM, Amount: big.NewInt(990_000)},
		Receiver: onEVM, Authority: onEVM, Nonce: nonce,
	}
}

// twins is a transaction as the maker signed it on a ledger like this one.
func (w *world) twins(t *testing.T, way sandbox.Way, made ...sandbox.Creation) []byte {
	t.Helper()
	twin := newWorld(t)
	orders := must.Get(twin.Create(twin.later(), way, made...))(t)
	var mined struct{ Transaction []string }
	settings := map[string]any{"encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": 0}
	must.Do(t, json.Unmarshal(twin.raw("getTransaction", orders[0].Creation.String(), settings), &mined))
	return must.Get(base64.StdEncoding.DecodeString(mined.Transaction[0]))(t)
}

// TestForecastOfAnybodysTransaction reads transactions of another client: signed, by the program's own counter, with a
// wrapped coin, with two orders, through a lookup table.
func TestForecastOfAnybodysTransaction(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	for name, row := range map[string]struct {
		way   sandbox.Way
		made  []sandbox.Creation
		warns bool
	}{
		"the program's counter":  {sandbox.Way{}, []sandbox.Creation{w.offer(usdc, 0)}, false},
		"in a versioned message": {sandbox.Way{Versioned: true}, []sandbox.Creation{w.offer(usdc, 77)}, false},
		"behind a wrap":          {sandbox.Way{Priority: 5}, []sandbox.Creation{w.offer(sandbox.Tokens[0], 78)}, true},
		"two orders":             {sandbox.Way{}, []sandbox.Creation{w.offer(usdc, 79), w.offer(usdc, 80)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			raw := w.twins(t, row.way, row.made...)
			all := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: raw}))(t)
			made := must.Get(w.Create(w.later(), row.way, row.made...))(t)
			if len(all) != len(made) {
				t.Fatalf("%d orders are foreseen, %d made", len(all), len(made))
			}
			for i, f := range all {
				if f.ID == nil || *f.ID != made[i].Terms.ID() || f.Refusal != nil || len(f.Unknown) > 0 {
					t.Errorf("order %d: %+v, want %x", i, f, made[i].Terms.ID())
				}
				if warns := slices.ContainsFunc(f.Warnings, func(w creation.Warning) bool { return w.Code == creation.CallsOthers }); warns != row.warns {
					t.Errorf("order %d warns of other programs: %t", i, warns)
				}
			}
			if again := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: raw}))(t); row.made[0].Nonce != 0 &&
				(again[0].Refusal == nil || !strings.Contains(again[0].Refusal.Why, "an order with this id exists")) {
				t.Errorf("a second time: %+v, want a refusal", again[0].Refusal)
			}
		})
	}
}

// TestForecastWithoutANode tells what the transaction itself says, and that the rest is not known.
func TestForecastWithoutANode(t *testing.T) {
	w := newWorld(t)
	o, promised := asked(t, usdc, 1_000_000, nil)
	data := must.Get(w.chain().Create(t.Context(), o, promised.ID, nil, quote.Normal))(t)
	c := w.chainOver(http.NotFoundHandler())
	all := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: data}))(t)
	if len(all) != 1 || all[0].Refusal != nil || all[0].ID != nil || len(all[0].Unknown) < 3 || all[0].Creation.GiveAmount != o.GiveAmount || all[0].Maker != o.Maker {
		t.Errorf("without a node: %+v", all)
	}
	for name, raw := range map[string][]byte{"nothing": nil, "no message": data[:99], "a transfer": transfer(t)} {
		if _, err := c.Forecast(t.Context(), creation.Transaction{Data: raw}); !errors.Is(err, creation.ErrOtherFunction) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// transfer is a transaction of another program.
func transfer(t *testing.T) []byte {
	t.Helper()
	from := chain.NewAddress(maker.Key[:])
	d := wire.Draft{FeePayer: from, Instructions: []wire.DraftInstruction{wire.Transfer(from, chain.NewAddress(other.Key[:]), 1)}}
	return must.Get(d.Compile())(t)
}
