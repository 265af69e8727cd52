package solana_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
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
	"crossgate/sandbox/jsonrpc"
	sandbox "crossgate/sandbox/solana"
	"crossgate/upstream/solana"
)

// offer returns an order of the maker, created with another client.
func offer(give sandbox.Token, nonce uint64) sandbox.Creation {
	return sandbox.Creation{
		Maker: maker, Give: give, Amount: 1_000_000, Take: sandbox.Offer{Chain: 1, Token: onEVM, Amount: big.NewInt(990_000)},
		Receiver: onEVM, Authority: onEVM, Nonce: nonce,
	}
}

// twins returns a transaction that the maker signed on an identical ledger.
func (w *world) twins(t *testing.T, way sandbox.Way, made ...sandbox.Creation) []byte {
	t.Helper()
	twin := newWorld(t)
	orders := must.Get(twin.Create(twin.later(), way, made...))(t)
	var mined struct{ Transaction []string }
	settings := map[string]any{"encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": 0}
	must.Do(t, json.Unmarshal(twin.raw("getTransaction", orders[0].Creation.String(), settings), &mined))
	return must.Get(base64.StdEncoding.DecodeString(mined.Transaction[0]))(t)
}

// TestForecastOfAnybodysTransaction decodes transactions of another client: signed ones, and ones with the program's
// own counter, a wrapped coin, two orders, or a lookup table.
func TestForecastOfAnybodysTransaction(t *testing.T) {
	for name, row := range map[string]struct {
		way   sandbox.Way
		made  []sandbox.Creation
		warns bool
	}{
		"the program's counter":  {sandbox.Way{}, []sandbox.Creation{offer(usdc, 0)}, false},
		"in a versioned message": {sandbox.Way{Versioned: true}, []sandbox.Creation{offer(usdc, 77)}, false},
		"behind a wrap":          {sandbox.Way{Priority: 5}, []sandbox.Creation{offer(sandbox.Tokens[0], 78)}, true},
		"two orders":             {sandbox.Way{}, []sandbox.Creation{offer(usdc, 79), offer(usdc, 80)}, false},
		"two by the counter":     {sandbox.Way{}, []sandbox.Creation{offer(usdc, 0), offer(usdc, 0)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.chain()
			raw := w.twins(t, row.way, row.made...)
			all := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: raw}))(t)
			made := must.Get(w.Create(w.later(), row.way, row.made...))(t)
			if len(all) != len(made) {
				t.Fatalf("%d orders are foreseen, %d made", len(all), len(made))
			}
			for i, f := range all {
				if f.ID == nil || *f.ID != made[i].Terms.ID() || f.Refusal != nil || len(f.Unknown) > 0 {
					t.Errorf("order %d: %+v, %q, %v, want %x", i, f.Refusal, f.Unknown, f.ID, made[i].Terms.ID())
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

// TestForecastMeasuresTheInput puts other calls before an order of 1 USDC: whatever they take from the maker counts,
// except for deposits, fees and tips.
func TestForecastMeasuresTheInput(t *testing.T) {
	of := func(account sandbox.Account) chain.Address { return chain.NewAddress(account.Key[:]) }
	coin, wrapped, dollars := chain.NativeCoin(chain.SVM), chain.NewAddress(sandbox.Tokens[0].Mint[:]), chain.NewAddress(usdc.Mint[:])
	walletOf := func(mint, owner chain.Address) chain.Address {
		return wire.TokenAccount(owner, wire.TokenProgram, mint)
	}
	pay := func(mint, to chain.Address, amount uint64, decimals uint8) wire.DraftInstruction {
		return wire.TransferTokens(wire.TokenProgram, mint, walletOf(mint, of(maker)), walletOf(mint, to), of(maker), amount, decimals)
	}
	approval := wire.DraftInstruction{Program: wire.TokenProgram, Data: []byte{4, 1, 0, 0, 0, 0, 0, 0, 0}, Accounts: []wire.DraftAccount{
		{Address: walletOf(dollars, of(maker)), Writable: true}, {Address: of(other)}, {Address: of(maker), Signer: true},
	}}
	for name, row := range map[string]struct {
		before []wire.DraftInstruction
		want   string
	}{
		"nothing":                 {nil, "[]"},
		"a tip":                   {[]wire.DraftInstruction{wire.Transfer(of(maker), wire.MustAccount("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"), 1_000_000)}, "[1000000 of " + dollars.Format(chain.SVM) + "]"},
		"coin to a stranger":      {[]wire.DraftInstruction{wire.Transfer(of(maker), of(other), 77)}, "[77 of " + coin.Format(chain.SVM) + " 1000000 of " + dollars.Format(chain.SVM) + "]"},
		"more of the same":        {[]wire.DraftInstruction{pay(dollars, of(other), 5, 6)}, "[1000005 of " + dollars.Format(chain.SVM) + "]"},
		"a wrapped coin":          {[]wire.DraftInstruction{pay(wrapped, of(other), 9, 9)}, "[9 of " + coin.Format(chain.SVM) + " 1000000 of " + dollars.Format(chain.SVM) + "]"},
		"wrapping for oneself":    {[]wire.DraftInstruction{wire.Transfer(of(maker), walletOf(wrapped, of(maker)), 77), wire.SyncNative(walletOf(wrapped, of(maker)))}, "[1000000 of " + dollars.Format(chain.SVM) + "]"},
		"an approval":             {[]wire.DraftInstruction{approval}, "[" + creation.UnknownInput + "]"},
		"more than the maker has": {[]wire.DraftInstruction{wire.Transfer(of(maker), of(other), math.MaxUint64)}, "[" + creation.UnknownInput + "]"},
	} {
		c := newWorld(t).chain()
		o, promised := asked(t, usdc, 1_000_000, nil)
		d := must.Get(must.Get(wire.ParseUnsigned(must.Get(c.Create(t.Context(), o, promised.ID, nil, quote.Normal))(t)))(t).Draft(nil))(t)
		d.Instructions = slices.Insert(d.Instructions, len(d.Instructions)-1, row.before...)
		all := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: must.Get(d.Compile())(t)}))(t)
		got := slices.DeleteFunc(all[0].Unknown, func(text string) bool { return text != creation.UnknownInput })
		for _, spent := range all[0].Spent {
			got = append(got, spent.Amount.String()+" of "+spent.Token.Format(chain.SVM))
		}
		if fmt.Sprint(got) != row.want {
			t.Errorf("%s: the maker spends %v, want %s", name, got, row.want)
		}
	}
}

// mixed returns a creation with parts changed, or nil if there is no transaction.
func mixed(t *testing.T, r *rand.Rand, w *world, c *solana.Chain, n uint64) []byte {
	t.Helper()
	of := func(n int) bool { return r.IntN(n) == 0 }
	token := []sandbox.Token{usdc, sandbox.Native, sandbox.Tokens[3], sandbox.Tokens[0]}[r.IntN(4)]
	o, promised := asked(t, token, []uint64{0, 1, 2_499, 2_500, 1e6, 1e12, 1e12 + 1, math.MaxUint64}[r.IntN(8)], func(o *creation.OnSolana) {
		if *o.Nonce += n; of(2) {
			o.Affiliate = &order.Affiliate{Beneficiary: o.Maker, Amount: chain.NewAmount(uint64(r.IntN(3000)))}
		}
		long := chain.NewAddress(other.Key[:])
		for _, each := range []*chain.Address{&o.Receiver, &o.Authorities.Order, &o.Authorities.AllowedTaker} {
			if of(12) {
				*each = long
			}
		}
		if of(12) {
			o.Take.Chain = 999
		}
	})
	if of(12) { // with the program's counter, and another order's ID
		o.Nonce = nil
	}
	d := must.Get(must.Get(wire.ParseUnsigned(must.Get(c.Create(t.Context(), o, promised.ID, nil, quote.Normal))(t)))(t).Draft(nil))(t)
	last := &d.Instructions[len(d.Instructions)-1]
	at := r.IntN(len(last.Accounts))
	strangers := [][32]byte{other.Key, maker.Key, usdc.Mint, usdc.Wallet(other.Key), usdc.Wallet(maker.Key), sandbox.Tokens[0].Wallet(maker.Key)}
	stranger := strangers[r.IntN(len(strangers))]
	switch r.IntN(16) {
	case 0:
		last.Accounts[at].Address = chain.NewAddress(stranger[:])
	case 1:
		n := r.IntN(len(last.Accounts))
		last.Accounts[at].Address, last.Accounts[n].Address = last.Accounts[n].Address, last.Accounts[at].Address
	case 2:
		last.Accounts = last.Accounts[:at]
	case 3:
		last.Accounts = append(last.Accounts, last.Accounts[at])
	case 4:
		last.Data = last.Data[:r.IntN(len(last.Data))]
	case 5:
		last.Data[8+r.IntN(len(last.Data)-8)] ^= 1
	case 6:
		last.Data = append(last.Data, 1, 2)
	case 7:
		d.Instructions = d.Instructions[2:] // without a budget
	case 8:
		d.Instructions = append(d.Instructions, *last)
	case 9:
		d.Instructions = slices.Insert(d.Instructions, r.IntN(len(d.Instructions)+1), wire.Transfer(o.Maker, chain.NewAddress(other.Key[:]), uint64(1e12)))
	case 10:
		d.Tables = []wire.LookupTable{{Address: chain.NewAddress(stranger[:]), Holds: []chain.Address{last.Accounts[3].Address}}}
	}
	raw, err := d.Compile()
	if err != nil {
		return nil
	}
	return raw
}

// TestForecastsOfMixtures changes creations at random: the forecast must be what the ledger does. Without a simulation
// no bad creation is called good, nor a good one bad.
func TestForecastsOfMixtures(t *testing.T) {
	w := newWorld(t)
	c, r, came := w.chain(), rand.New(rand.NewPCG(1, 2)), map[bool]int{}
	mute := w.chainOver(jsonrpc.Altered(w, func(call jsonrpc.Request, _ int) string {
		if call.Method == "simulateTransaction" {
			return `"error":{"code":-32601,"message":"Method not found"}`
		}
		return ""
	}))
	for n := range uint64(200) {
		raw := mixed(t, r, w, c, n)
		if raw == nil {
			continue
		}
		said := w.raw("simulateTransaction", base64.StdEncoding.EncodeToString(raw), map[string]any{"encoding": "base64", "sigVerify": false, "replaceRecentBlockhash": true})
		var ran struct{ Value struct{ Err any } }
		must.Do(t, json.Unmarshal(said, &ran))
		isMade := ran.Value.Err == nil
		all, err := c.Forecast(t.Context(), creation.Transaction{Data: raw})
		if err != nil {
			if !errors.Is(err, creation.ErrOtherFunction) && !errors.Is(err, creation.ErrMalformed) {
				t.Error(err)
			}
			continue
		}
		came[isMade]++
		unsaid := must.Get(mute.Forecast(t.Context(), creation.Transaction{Data: raw}))(t)
		for i, f := range all {
			if isMade != (f.Refusal == nil) && len(all) == 1 || isMade && (f.Refusal != nil || f.ID == nil) {
				t.Errorf("mixture %d: %v, forecast %+v, not known %q", n, ran.Value.Err, f.Refusal, f.Unknown)
			}
			if u := unsaid[i]; isMade && u.Refusal != nil || u.Refusal == nil && len(u.Unknown) == 0 {
				t.Errorf("mixture %d: %v, without the ledger's word %+v, not known %q", n, ran.Value.Err, u.Refusal, u.Unknown)
			}
		}
	}
	if came[true] < 30 || came[false] < 30 {
		t.Errorf("made, and not: %v, want many of both", came)
	}
}

// TestForecastWithoutANode proves that a forecast shows what the transaction itself contains, and the rest as unknown.
func TestForecastWithoutANode(t *testing.T) {
	w := newWorld(t)
	o, promised := asked(t, usdc, 1_000_000, nil)
	data := must.Get(w.chain().Create(t.Context(), o, promised.ID, nil, quote.Normal))(t)
	c := w.chainOver(http.NotFoundHandler())
	all := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: data}))(t)
	if len(all) != 1 || all[0].Refusal != nil || all[0].ID != nil || len(all[0].Unknown) < 3 || all[0].Creation.GiveAmount != o.GiveAmount || all[0].Maker != o.Maker {
		t.Errorf("without a node: %+v", all)
	}
	also := must.Get(must.Get(wire.ParseUnsigned(data))(t).Draft(nil))(t)
	patch := also.Instructions[len(also.Instructions)-1]
	patch.Data = append([]byte{0x40, 0xbc, 0x81, 0xff, 0x40, 0x81, 0x8b, 0x66}, patch.Data[8:48]...) // patch_order_give
	also.Instructions = append(also.Instructions, patch)
	all = must.Get(c.Forecast(t.Context(), creation.Transaction{Data: must.Get(also.Compile())(t)}))(t)
	if !slices.ContainsFunc(all[0].Warnings, func(w creation.Warning) bool { return w.Code == creation.CallsOthers }) {
		t.Errorf("giving more to another order: %+v", all[0].Warnings)
	}
	dear := must.Get(must.Get(wire.ParseUnsigned(data))(t).Draft(nil))(t)
	dear.Instructions = append(wire.Budget{Units: wire.MaxComputeUnits, Price: 1_428_572}.Instructions(), dear.Instructions[2:]...) // of 2,000,001 lamports
	all = must.Get(c.Forecast(t.Context(), creation.Transaction{Data: must.Get(dear.Compile())(t)}))(t)
	if last := all[0].Warnings; len(last) == 0 || last[len(last)-1].Code != creation.HighPriority || !strings.Contains(last[len(last)-1].Text, "2000001 lamports") {
		t.Errorf("much for priority: %+v", last)
	}
	beyond := transfer(t)
	beyond[len(beyond)-1-12-1-1] = 99 // the receiver, before the length, the data and the number of tables
	for name, row := range map[string]struct {
		raw  []byte
		want error
	}{
		"nothing": {nil, creation.ErrMalformed}, "no message": {data[:99], creation.ErrMalformed}, "one more": {append(data, 0), creation.ErrMalformed},
		"an account beyond": {beyond, creation.ErrMalformed}, "a transfer": {transfer(t), creation.ErrOtherFunction},
	} {
		if _, err := c.Forecast(t.Context(), creation.Transaction{Data: row.raw}); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
}

// transfer returns a transaction of another program.
func transfer(t *testing.T) []byte {
	t.Helper()
	from := chain.NewAddress(maker.Key[:])
	d := wire.Draft{FeePayer: from, Instructions: []wire.DraftInstruction{wire.Transfer(from, chain.NewAddress(other.Key[:]), 1)}}
	return must.Get(d.Compile())(t)
}
