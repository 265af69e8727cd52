package quote

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/token"
)

func unitLimit(n uint32) []byte { return binary.LittleEndian.AppendUint32([]byte{setUnitLimit}, n) }
func unitPrice(n uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{setUnitPrice}, n) }

func TestAPlaceInABlockCostsWhatTheMessageSays(t *testing.T) {
	solana, _ := chain.Documented().Chain(chain.Solana)
	s := Swap{Chain: solana, Bid: chain.NewAmount(10_000)}
	call := instruction{program: 1, data: []byte("route")}
	said := func(data []byte) instruction { return instruction{program: 2, data: data} }
	keys := []chain.Address{systemProgram, jupiterProgram, budgetProgram}
	for _, row := range []struct {
		name         string
		instructions []instruction
		seen         uint64 // units in a trial
		want         uint64
	}{
		{"limit and price", []instruction{said(unitLimit(1_400_000)), said(unitPrice(71_428)), call}, 80_000, 100_000},
		{"a price alone, for what two calls may take", []instruction{said(unitPrice(10)), call, call}, 80_000, 4},
		{"a price of nothing", []instruction{said(unitPrice(0)), call}, 80_000, 0},
		{"no price: what others bid for the units seen, and a fifth more", []instruction{said(unitLimit(300_000)), call}, 80_000, 960},
		{"nothing: what others bid for the usual units", []instruction{call}, 0, 4_200},
	} {
		b := built{tx: Tx{Data: letter{keys: keys, instructions: row.instructions, version: versionBit}.seal()}}
		if row.seen > 0 {
			b.finding = &Finding{Gas: row.seen}
		}
		if got := b.placeFee(s); got != chain.NewAmount(row.want) {
			t.Errorf("with %s: %s lamports, want %d", row.name, got, row.want)
		}
	}
}

// ledger is Solana for one sender, who has the same of everything.
type ledger struct {
	has    uint64
	failed error
}

func (l ledger) GasPrice(context.Context, Priority) (GasPrice, error) {
	return GasPrice{Bid: chain.NewAmount(10_000)}, nil
}

func (l ledger) EstimateGas(context.Context, chain.Address, Tx) (uint64, error) { return 100_000, nil }

func (l ledger) DataFee(context.Context, chain.Address, Tx, uint64) (chain.Amount, error) {
	return chain.NewAmount(5000), nil
}

func (l ledger) Balance(context.Context, chain.Address, chain.Address) (chain.Amount, error) {
	return chain.NewAmount(l.has), nil
}

func (l ledger) Simulate(context.Context, Trial) (Finding, error) {
	return Finding{Gas: 100_000}, l.failed
}

// teller pays two for one on Solana.
type teller struct{ price uint64 }

func (v teller) Profile() Profile {
	return Profile{Name: "teller", Routers: map[chain.ID]chain.Address{chain.Solana: jupiterProgram}, OmitsSender: true}
}

func (v teller) Quote(_ context.Context, s Swap) (Quote, error) {
	out := s.In.Amount.MulDiv(2, 1)
	return Quote{AmountOut: out, Minimum: out.Sub(share(out, s.SlippagePercent))}, nil
}

func (v teller) Build(_ context.Context, s Swap, _ Quote) (Tx, error) {
	return Tx{Data: letter{
		version: versionBit, keys: []chain.Address{s.Sender, jupiterProgram, budgetProgram},
		instructions: []instruction{
			{program: 2, data: unitLimit(200_000)}, {program: 2, data: unitPrice(v.price)}, {program: 1, data: []byte("route")},
		},
	}.seal()}, nil
}

// onSolana is an estimator with one venue for swaps of SOL to a token, and such a swap of all there is.
func onSolana(l ledger, v Venue) (*Estimator, Request) {
	mint := solanaProgram("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	sender := chain.NewAddress([]byte("the sender's key on Solana......"))
	return New(Options{
		Registry: chain.Documented(), Venues: []Venue{v},
		Tokens: token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented(), Own: map[token.Key]token.Token{
			{Chain: chain.Solana, Address: mint}: {Decimals: 6, Symbol: "USDC"},
		}}),
		Fees:       map[chain.ID]FeeSource{chain.Solana: l},
		Simulators: map[chain.ID]Simulator{chain.Solana: l},
	}), Request{Chain: chain.Solana, TokenIn: chain.NativeCoin(chain.SVM), TokenOut: mint, Whole: true, Sender: sender, Recipient: sender}
}

func TestWholeOfTheCoinOnSolana(t *testing.T) {
	const has, signature, deposits = 1_000_000_000, 5000, 2*tokenAccountRent + walletRent
	e, r := onSolana(ledger{has: has}, teller{price: 50_000})
	got, err := e.Estimate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if want := chain.NewAmount(has - signature - leastPriority - deposits); got.In.Amount != want {
		t.Errorf("input %s, want %s: the rest is for fees and accounts", got.In.Amount, want)
	}
	if f := got.Fee; f == nil || f.Beside != chain.NewAmount(signature) || f.Priority != chain.NewAmount(10_000) ||
		f.Total != chain.NewAmount(signature+10_000) || f.GasLimit != 120_000 {
		t.Errorf("fee = %+v, want 5000 and 200000 units at 0.05 lamports", f)
	}
	e, r = onSolana(ledger{has: has}, teller{price: 10_000_000})
	if _, err := e.Estimate(t.Context(), r); !errors.Is(err, ErrRefused) {
		t.Errorf("Estimate of a transaction that bids 2000000 lamports = %v, want ErrRefused", err)
	}
	e, r = onSolana(ledger{has: deposits}, teller{})
	if _, err := e.Estimate(t.Context(), r); !errors.Is(err, ErrLowBalance) {
		t.Errorf("Estimate of what accounts must hold = %v, want ErrLowBalance", err)
	}
}

func TestTrialsOnSolanaExclude(t *testing.T) {
	e, r := onSolana(ledger{has: 1_000_000_000, failed: ErrReverted}, teller{})
	if _, err := e.Estimate(t.Context(), r); !errors.Is(err, ErrReverted) {
		t.Errorf("Estimate of a transaction that fails = %v, want ErrReverted", err)
	}
	e, r = onSolana(ledger{has: 1_000_000_000, failed: ErrNoTrial}, teller{})
	got, err := e.Estimate(t.Context(), r)
	if err != nil || len(got.Asked) != 1 || got.Asked[0].Verdict != Won || !errors.Is(got.Asked[0].Err, ErrNoTrial) {
		t.Errorf("Estimate of a transaction that was not tried = %+v, %v, want that it wins and that this is said", got.Asked, err)
	}
}

// TestNoVenueOnSolanaPaysAnAffiliate is of venues that declare no share, as those on Solana do: they are left out, and
// why is told.
func TestNoVenueOnSolanaPaysAnAffiliate(t *testing.T) {
	e, r := onSolana(ledger{has: 1_000_000_000}, teller{})
	r.Affiliate = Affiliate{Percent: decimal.NewFromInt(1), Recipient: solanaProgram("29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2")}
	got, err := e.Estimate(t.Context(), r)
	if !errors.Is(err, ErrNoRoute) || len(got.Asked) != 1 || got.Asked[0].Verdict != LeftOut ||
		!strings.Contains(got.Asked[0].Err.Error(), "it does not pay 1 % of the input to others") {
		t.Errorf("Estimate = %+v, %v, want the venue left out for want of an affiliate share", got.Asked, err)
	}
}
