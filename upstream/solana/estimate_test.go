package solana_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	wire "crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/token"
)

var usdcMint = wire.MustAccount("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")

func unitLimit(n uint32) []byte { return binary.LittleEndian.AppendUint32([]byte{2}, n) }
func unitPrice(n uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{3}, n) }

// TestAPlaceInABlockCostsWhatTheMessageSays assumes a market price of a hundredth of a lamport per unit.
func TestAPlaceInABlockCostsWhatTheMessageSays(t *testing.T) {
	call := wire.CompiledInstruction{Program: 1, Data: []byte("route")}
	memo := wire.CompiledInstruction{Program: 4, Data: []byte("thanks")}
	said := func(data []byte) wire.CompiledInstruction { return wire.CompiledInstruction{Program: 2, Data: data} }
	for _, row := range []struct {
		name         string
		instructions []wire.CompiledInstruction
		seen         uint64 // units that a simulation used
		want         uint64
	}{
		{"limit and price, unseen", []wire.CompiledInstruction{said(unitLimit(1_400_000)), said(unitPrice(71_428)), call}, 0, 100_000},
		{"limit and price: a fifth more than was seen", []wire.CompiledInstruction{said(unitLimit(1_400_000)), said(unitPrice(71_428)), call}, 80_000, 6_858},
		{"a lower limit than that", []wire.CompiledInstruction{said(unitLimit(90_000)), said(unitPrice(100_000)), call}, 80_000, 9_000},
		{"a price alone, for what two calls may take", []wire.CompiledInstruction{said(unitPrice(10)), call, memo}, 80_000, 4},
		{"a price of nothing", []wire.CompiledInstruction{said(unitPrice(0)), call}, 80_000, 0},
		{"no price: what others bid for the units seen, and a fifth more", []wire.CompiledInstruction{said(unitLimit(300_000)), call}, 80_000, 960},
		{"nothing: what others bid for the usual units", []wire.CompiledInstruction{call}, 0, 4_200},
	} {
		l := ledger{has: 1_000_000_000, units: row.seen}
		if row.seen == 0 {
			l.failed, l.unsimulated = quote.ErrNotSimulated, true
		}
		e, r := onSolana(l, kiosk{row.instructions})
		got, err := e.Estimate(t.Context(), r)
		if err != nil {
			t.Fatalf("with %s: %v", row.name, err)
		}
		if got.Fee.Priority != chain.NewAmount(row.want) {
			t.Errorf("with %s: %s lamports, want %d", row.name, got.Fee.Priority, row.want)
		}
	}
}

// kiosk is a venue that pays two for one on Solana, with instructions whose accounts are 0 the sender, 1 the venue's
// program, 2 the compute budget program, 3 the sender's account of USDC and 4 the memo program.
type kiosk struct{ instructions []wire.CompiledInstruction }

func (k kiosk) Profile() quote.Profile {
	return quote.Profile{Name: "kiosk", Routers: map[chain.ID]chain.Address{chain.Solana: otherProgram}}
}

func (k kiosk) Quote(_ context.Context, s quote.Swap) (quote.Quote, error) {
	return quote.Quote{AmountOut: s.In.Amount.MulDiv(2, 1)}, nil
}

func (k kiosk) Build(_ context.Context, s quote.Swap, _ quote.Quote) (quote.Tx, error) {
	return quote.Tx{Data: k.sealed(s.Sender, s.In.Amount, uint16(s.SlippagePercent.Shift(2).IntPart()))}, nil
}

// swapCall returns the data of DFlow's swap by one of SPL's pools.
func swapCall(in, quoted uint64, slippageBps, feeBps uint16) []byte {
	name := sha256.Sum256([]byte("global:swap"))
	data := binary.LittleEndian.AppendUint32(name[:8:8], 1)
	data = binary.LittleEndian.AppendUint64(append(data, 28), in)
	data = binary.LittleEndian.AppendUint64(append(data, 0), quoted)
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(data, slippageBps), feeBps)
}

func (k kiosk) sealed(sender chain.Address, in chain.Amount, slippageBps uint16) []byte {
	amount, _ := in.Uint64()
	d := draft{version: versionFlag, instructions: slices.Clone(k.instructions), keys: []chain.Address{
		sender, otherProgram, wire.ComputeBudgetProgram, walletOf(sender, usdcMint), wire.MemoProgram,
	}}
	for i := range d.instructions {
		if d.instructions[i].Program == 1 {
			d.instructions[i].Accounts, d.instructions[i].Data = []byte{4, 4, 4, 0, 3}, swapCall(amount, 2*amount, slippageBps, 0)
		}
	}
	return d.seal()
}

// teller returns a kiosk that bids price for 200,000 units.
func teller(price uint64) kiosk { return limited(200_000, price) }

func limited(units uint32, price uint64) kiosk {
	return kiosk{[]wire.CompiledInstruction{
		{Program: 2, Data: unitLimit(units)}, {Program: 2, Data: unitPrice(price)}, {Program: 1, Data: []byte("route")},
	}}
}

func TestSwapsOnSolana(t *testing.T) {
	v := teller(0)
	e, r := onSolana(ledger{has: 1_000_000_000, units: 80_000}, v)
	slippage := decimal.RequireFromString("0.5")
	r.MaxBalance, r.AmountIn, r.SlippagePercent = false, chain.NewAmount(1000), &slippage
	got := must.Get(e.Estimate(t.Context(), r))(t)
	// The limit is lowered to a fifth more than the simulation used, since the whole limit is paid for.
	if !slices.Equal(got.Tx.Data, limited(96_000, 0).sealed(r.Sender, r.AmountIn, 50)) || !got.Tx.To.IsAbsent() || got.MinOut != chain.NewAmount(1990) {
		t.Errorf("transaction %+v, minimum %s; want the venue's, and its minimum of 1990", got.Tx, got.MinOut)
	}
}

// ledger is Solana for one sender, who has the same balance of every token.
type ledger struct {
	has         uint64
	units       uint64 // used by a simulation
	failed      error
	unsimulated bool // unsimulated transactions are handed out
	operator    quote.Affiliate
}

// Payee returns the recipient's own account, except for the sender.
func (l ledger) Payee(_ context.Context, _, recipient chain.Address) (quote.Payee, error) {
	if recipient == seller {
		return quote.Payee{}, quote.ErrNoPayee
	}
	return quote.Payee{Account: recipient}, nil
}

var seller = chain.NewAddress([]byte("the sender's key on Solana......"))

func (l ledger) GasPrice(context.Context, quote.Priority) (quote.GasPrice, error) {
	return quote.GasPrice{Bid: chain.NewAmount(10_000)}, nil
}

func (ledger) RenewGasPrice(context.Context) {}

func (l ledger) EstimateGas(context.Context, chain.Address, quote.Tx) (uint64, error) {
	return 100_000, nil
}

func (l ledger) DataFee(context.Context, quote.Tx, uint64) (chain.Amount, error) {
	return chain.NewAmount(5000), nil
}

func (l ledger) Balance(context.Context, chain.Address, chain.Address) (chain.Amount, error) {
	return chain.NewAmount(l.has), nil
}

func (l ledger) Simulate(_ context.Context, s quote.Simulation) (quote.Result, error) {
	return quote.Result{Measured: true, Received: s.AmountIn.MulDiv(2, 1), Gas: cmp.Or(l.units, 100_000)}, l.failed
}

// onSolana returns an estimator with one venue for swaps of SOL to a token, and a request to swap the whole balance.
func onSolana(l ledger, v quote.Venue) (*quote.Estimator, quote.Request) {
	mint := usdcMint
	sender := seller
	return quote.New(quote.Options{
		Registry: chain.Documented(), Venues: []quote.Venue{v},
		Tokens: token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented(), Own: map[token.Key]token.Token{
			{Chain: chain.Solana, Address: mint}: {Decimals: 6, Symbol: "USDC"},
		}}),
		Chains: map[chain.ID]quote.Chain{chain.Solana: {Guard: guard, Fees: l, Simulator: l, Payee: l.Payee, Operator: l.operator, AllowUnsimulated: l.unsimulated}},
	}), quote.Request{Chain: chain.Solana, TokenIn: chain.NativeCoin(chain.SVM), TokenOut: mint, MaxBalance: true, Sender: sender, Recipient: sender}
}

func TestWholeOfTheCoinOnSolana(t *testing.T) {
	const has, signature, bids, deposits = 1_000_000_000, 5000, 1_000_000, 2*2_039_280 + 890_880 // lamports
	e, r := onSolana(ledger{has: has}, teller(50_000))
	got := must.Get(e.Estimate(t.Context(), r))(t)
	if want := chain.NewAmount(has - signature - bids - deposits); got.In.Amount != want {
		t.Errorf("input %s, want %s: the rest is for fees and accounts", got.In.Amount, want)
	}
	if f := got.Fee; f == nil || f.Beside != chain.NewAmount(signature) || f.Priority != chain.NewAmount(6_000) ||
		f.Total != chain.NewAmount(signature+6_000) || f.GasLimit != 120_000 {
		t.Errorf("fee = %+v, want 5000 and 120000 units at 0.05 lamports", f)
	}
	e, r = onSolana(ledger{has: has}, teller(10_000_000))
	if _, err := e.Estimate(t.Context(), r); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("Estimate of a transaction that bids 2000000 lamports = %v, want quote.ErrRefused", err)
	}
	e, r = onSolana(ledger{has: deposits}, teller(0))
	if _, err := e.Estimate(t.Context(), r); !errors.Is(err, quote.ErrLowBalance) {
		t.Errorf("Estimate of what accounts must hold = %v, want quote.ErrLowBalance", err)
	}
}

func TestSimulationsOnSolanaExclude(t *testing.T) {
	e, r := onSolana(ledger{has: 1_000_000_000, failed: quote.ErrReverted}, teller(0))
	if _, err := e.Estimate(t.Context(), r); !errors.Is(err, quote.ErrReverted) {
		t.Errorf("Estimate of a transaction that fails = %v, want quote.ErrReverted", err)
	}
	e, r = onSolana(ledger{has: 1_000_000_000, failed: quote.ErrNotSimulated}, teller(0))
	if _, err := e.Estimate(t.Context(), r); !errors.Is(err, quote.ErrUnsimulated) {
		t.Errorf("Estimate of a transaction that was not simulated = %v, want quote.ErrUnsimulated", err)
	}
}

// TestSharesOnSolanaStandBehindTheVenuesPart has an affiliate and an operator: the venue gets a swap of the rest.
func TestSharesOnSolanaStandBehindTheVenuesPart(t *testing.T) {
	affiliate, operator := wire.MustAccount("29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2"), wire.MustAccount("862oLANNqhdXyUCwLJPBqUHrScrqNR4yoGWGTxjZftKs")
	l := ledger{has: 1_000_000_000, operator: quote.Affiliate{Percent: decimal.RequireFromString("0.5"), Recipient: operator}}
	e, r := onSolana(l, teller(0))
	r.MaxBalance, r.AmountIn = false, chain.NewAmount(100_001)
	r.Affiliate = quote.Affiliate{Percent: decimal.RequireFromString("1"), Recipient: affiliate}
	got := must.Get(e.Estimate(t.Context(), r))(t)
	m := must.Get(wire.ParseUnsigned(got.Tx.Data))(t)
	d := must.Get(m.Draft(nil))(t)
	for i, want := range []wire.DraftInstruction{wire.Transfer(r.Sender, affiliate, 1000), wire.Transfer(r.Sender, operator, 500)} {
		if got := d.Instructions[len(d.Instructions)-2+i]; !gocmp.Equal(got, want, gocmp.Comparer(func(a, b chain.Address) bool { return a == b })) {
			t.Errorf("payment %d: %+v, want %+v", i, got, want)
		}
	}
	slippage := uint16(got.SlippagePercent * 100)
	if swap := d.Instructions[2]; !slices.Equal(swap.Data, swapCall(98_501, 2*98_501, slippage, 0)) {
		t.Errorf("the venue was to swap %x, want the 98501 that are left", swap.Data)
	}
	if got.In.Amount != r.AmountIn || got.ProtocolFee.IsZero() {
		t.Errorf("input %s with a fee of %s, want the whole of it, and the operator's", got.In.Amount, got.ProtocolFee)
	}
	r.Affiliate.Recipient = r.Sender
	if _, err := e.Estimate(t.Context(), r); !errors.Is(err, quote.ErrNoPayee) {
		t.Errorf("Estimate for an affiliate without an account = %v, want quote.ErrNoPayee", err)
	}
}
