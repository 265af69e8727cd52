package solana_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	client "github.com/gagliardetto/solana-go"

	"crossgate/chain"
	wire "crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	sandbox "crossgate/sandbox/solana"
)

// asked returns an order of the maker, and what its creation must do.
func asked(t *testing.T, token sandbox.Token, amount uint64, change func(*creation.OnSolana)) (creation.OnSolana, creation.Promise) {
	t.Helper()
	nonce, evm := uint64(1_800_000_000_123), chain.NewAddress(onEVM)
	o := creation.OnSolana{
		SolanaCreation: onchain.SolanaCreation{
			GiveAmount: chain.NewAmount(amount), Take: order.Offer{Chain: 1, Token: evm, Amount: chain.NewAmount(990_000)},
			Receiver: evm, Authorities: order.Authorities{GivePatch: chain.NewAddress(maker.Key[:]), Order: evm},
			Nonce: &nonce, ReferralCode: 31805, Metadata: []byte("metadata"),
		},
		Maker: chain.NewAddress(maker.Key[:]), GiveToken: chain.NewAddress(token.Mint[:]),
	}
	if change != nil {
		change(&o)
	}
	percent := o.GiveAmount.MulDiv(4, 10_000)
	net := o.GiveAmount.Sub(percent)
	if o.Affiliate != nil {
		net = net.Sub(o.Affiliate.Amount)
	}
	terms := creation.Creation{
		GiveToken: o.GiveToken, Take: o.Take, Receiver: o.Receiver, Authorities: o.Authorities, ExternalCall: o.ExternalCall,
	}.Terms(chain.Solana, o.Maker, nonce, net)
	made := order.Created{
		Terms: terms, FixFee: chain.NewAmount(15_000_000), PercentFee: percent, Affiliate: o.Affiliate,
		ReferralCode: o.ReferralCode, Metadata: o.Metadata,
	}
	return o, creation.Promise{ID: onchain.ID(made.Terms), Created: made}
}

// TestCreationsOnSolana creates orders of each kind of token and sends them as a wallet does.
func TestCreationsOnSolana(t *testing.T) {
	for name, row := range map[string]struct {
		token  sandbox.Token
		amount uint64
		change func(*creation.OnSolana)
	}{
		"USDC": {usdc, 1_000_000, nil},
		"USDC with all that an order can have": {usdc, 123_456_789, func(o *creation.OnSolana) {
			evm := chain.NewAddress(onEVM)
			o.Authorities.AllowedTaker, o.Authorities.CancelBeneficiary = evm, chain.NewAddress(other.Key[:])
			o.Authorities.GivePatch, o.ExternalCall = chain.NewAddress(taker.Key[:]), []byte("call")
			o.Affiliate = &order.Affiliate{Beneficiary: chain.NewAddress(other.Key[:]), Amount: chain.NewAmount(5)}
		}},
		"a token of the newer program": {sandbox.Tokens[3], 5_000, nil},
		"the coin":                     {sandbox.Native, 2_000_000_000, nil},
		"the wrapped coin":             {sandbox.Tokens[0], 3_000_000_000, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.chain()
			o, promised := asked(t, row.token, row.amount, row.change)
			want := crosschain.Charges{Fixed: chain.NewAmount(15_000_000), TransferBps: 4}
			if charges := must.Get(c.Charges(t.Context(), 1))(t); charges != want {
				t.Errorf("Charges = %+v", charges)
			}
			data := must.Get(c.Create(t.Context(), o, promised.ID, nil, quote.Aggressive))(t)
			units := must.Get(c.Creation(t.Context(), creation.Transaction{Sender: o.Maker, Data: data}, promised))(t)
			if units == 0 || units > 200_000 {
				t.Errorf("it takes %d units, want some, at most the limit", units)
			}
			all := must.Get(c.Forecast(t.Context(), creation.Transaction{Data: data}))(t)
			if len(all) != 1 || all[0].Refusal != nil || len(all[0].Unknown) > 0 || *all[0].ID != promised.ID || len(all[0].Warnings) > 0 && len(o.ExternalCall) == 0 {
				t.Errorf("verified as %+v, want order %s", all, promised.ID)
			}
			w.signed(t, data)
			made := w.Orders()
			if len(made) != 1 || order.ID(made[0].Terms.ID()) != promised.ID || string(made[0].Metadata) != "metadata" {
				t.Errorf("the ledger has %+v, want order %s", made, promised.ID)
			}
			seen := must.Get(c.EventsIn(t.Context(), txOf(made[0].Creation)))(t)
			if len(seen.Events) != 1 || seen.Events[0].Order != promised.ID {
				t.Errorf("the chain has %+v", seen)
			}
		})
	}
}

// TestOnlyTokenProgramsGetASignature covers a node that names another program as that of a token.
func TestOnlyTokenProgramsGetASignature(t *testing.T) {
	w := newWorld(t)
	made := w.terms([]byte("call"))
	w.deliver(sandbox.Way{}, made)
	c := w.chainOver(liar{w, "getMultipleAccounts", func(result json.RawMessage) json.RawMessage {
		return bytes.ReplaceAll(result, []byte(wire.TokenProgram.Format(chain.SVM)), []byte(wire.MemoProgram.Format(chain.SVM)))
	}})
	o, promised := asked(t, usdc, 1_000_000, nil)
	_, createErr := c.Create(t.Context(), o, promised.ID, nil, quote.Normal)
	_, cancelErr := c.CancelCall(t.Context(), order.ID(made.ID()), termsOf(made))
	for what, err := range map[string]error{"Create": createErr, "CancelCall": cancelErr} {
		if err == nil || !strings.Contains(err.Error(), "no mint") {
			t.Errorf("%s = %v, want that the mint is missing", what, err)
		}
	}
}

// signed signs a transaction with an ordinary client and sends it.
func (w *world) signed(t *testing.T, data []byte) {
	t.Helper()
	w.signedBy(t, maker, data)
}

// signedBy is signed for another account.
func (w *world) signedBy(t *testing.T, by sandbox.Account, data []byte) {
	t.Helper()
	tx := must.Get(client.TransactionFromBytes(data))(t)
	key := must.Get(client.PrivateKeyFromBase58(by.Secret()))(t)
	must.Get(tx.Sign(func(client.PublicKey) *client.PrivateKey { return &key }))(t)
	raw := must.Get(tx.MarshalBinary())(t)
	var signature string
	must.Do(t, json.Unmarshal(w.raw("sendTransaction", base64.StdEncoding.EncodeToString(raw), map[string]any{"encoding": "base64"}), &signature))
	if signature != tx.Signatures[0].String() {
		t.Fatalf("sent as %s, want %s", signature, tx.Signatures[0])
	}
}

// TestOrdersAreCreatedBehindAMessageWithTheirAccounts takes the token program, which the creation names, too, from a
// lookup table in the part before it.
func TestOrdersAreCreatedBehindAMessageWithTheirAccounts(t *testing.T) {
	c := newWorld(t).chain()
	o, promised := asked(t, usdc, 1_000_000, nil)
	holds := make([]chain.Address, 9)
	holds[8] = wire.TokenProgram
	signer := wire.DraftAccount{Address: o.Maker, Signer: true, Writable: true}
	opened := wire.DraftAccount{Address: wire.TokenAccount(o.Maker, wire.TokenProgram, o.GiveToken), Writable: true}
	before := must.Get(wire.Draft{
		FeePayer: o.Maker, Tables: []wire.LookupTable{{Address: wire.MustAccount("Z9SwCHdnxCpAEHdTewMXqZedbQBuBpQr16G9yedAU9q"), Holds: holds}},
		Instructions: []wire.DraftInstruction{{Program: wire.AssociatedTokenProgram, Data: []byte{1}, Accounts: []wire.DraftAccount{
			signer, opened, signer, {Address: o.GiveToken}, {Address: wire.SystemProgram}, {Address: wire.TokenProgram},
		}}},
	}.Compile())(t)
	data := must.Get(c.Create(t.Context(), o, promised.ID, before, quote.Normal))(t)
	must.Get(c.Creation(t.Context(), creation.Transaction{Sender: o.Maker, Data: data}, promised))(t)
}

// TestCreationsThatBreakThePromise proves that creations of another order are refused; a poor maker's are not judged.
func TestCreationsThatBreakThePromise(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	o, promised := asked(t, usdc, 1_000_000, nil)
	another, anothers := asked(t, usdc, 2_000_000, nil)
	mine := must.Get(c.Create(t.Context(), o, promised.ID, nil, quote.Normal))(t)
	poor := sandbox.NewAccount("poor", [32]byte{9})
	w.Fund(poor.Key, 1_000_000_000, 0)
	poors, poorsPromise := asked(t, usdc, 1_000_000, func(o *creation.OnSolana) { o.Maker = chain.NewAddress(poor.Key[:]) })
	short := sandbox.NewAccount("short", [32]byte{8})
	w.Fund(short.Key, 15_000_000, 1_000_000)
	shorts, shortsPromise := asked(t, usdc, 1_000_000, func(o *creation.OnSolana) { o.Maker = chain.NewAddress(short.Key[:]) })
	nowhere := wire.TokenAccount(o.GiveToken, wire.TokenProgram, o.GiveToken) // nobody's
	failing := must.Get(wire.Draft{FeePayer: poors.Maker, Instructions: []wire.DraftInstruction{
		wire.TransferTokens(wire.TokenProgram, o.GiveToken, nowhere, nowhere, poors.Maker, 1, 6),
	}}.Compile())(t)
	for name, row := range map[string]struct {
		data   []byte
		sender chain.Address
		want   error
		says   creation.Promise
	}{
		"another order":    {must.Get(c.Create(t.Context(), another, anothers.ID, nil, quote.Normal))(t), o.Maker, creation.ErrBroken, promised},
		"another sender":   {mine, chain.NewAddress(other.Key[:]), creation.ErrBroken, promised},
		"no message":       {mine[:100], o.Maker, creation.ErrBroken, promised},
		"another id":       {must.Get(c.Create(t.Context(), o, anothers.ID, nil, quote.Normal))(t), o.Maker, quote.ErrReverted, promised},
		"the fixed fee":    {must.Get(c.Create(t.Context(), shorts, shortsPromise.ID, nil, quote.Normal))(t), shorts.Maker, quote.ErrSenderLacks, shortsPromise},
		"a failing swap":   {must.Get(c.Create(t.Context(), poors, poorsPromise.ID, failing, quote.Normal))(t), poors.Maker, quote.ErrReverted, poorsPromise},
		"more than he has": {must.Get(c.Create(t.Context(), poors, poorsPromise.ID, nil, quote.Normal))(t), poors.Maker, quote.ErrSenderLacks, poorsPromise},
	} {
		if _, err := c.Creation(t.Context(), creation.Transaction{Sender: row.sender, Data: row.data}, row.says); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
}
