package quote

import (
	"context"
	"math/big"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/token"
)

// onSolana is a swap there of which the gateway pays the shares itself.
func onSolana(t *testing.T, in uint64, payments ...payment) *trade {
	t.Helper()
	known, _ := chain.Documented().Chain(chain.Solana)
	share := Affiliate{Percent: decimal.RequireFromString("1"), Recipient: solanaKey(9)}
	for i := range payments {
		payments[i].share = share
	}
	return &trade{
		Estimator: &Estimator{},
		swap: Swap{
			Chain: known, Sender: solanaKey(1), Affiliate: share,
			In: Side{Address: solanaKey(2), Amount: chain.NewAmount(in), Token: token.Token{Decimals: 6}},
		},
		chain:    Chain{Payee: func(context.Context, chain.Address, chain.Address) (Payee, error) { return Payee{}, ErrNoPayee }},
		payments: payments,
	}
}

func solanaKey(n byte) chain.Address {
	return chain.NewAddress(append(make([]byte, solana.KeySize-1), n))
}

// TestSharesArePaidBehindTheSwap adds payments to a transaction with one instruction of a venue.
func TestSharesArePaidBehindTheSwap(t *testing.T) {
	coin, wrapped, tokens := payment{Payee: Payee{Account: solanaKey(3)}}, payment{Payee: Payee{Account: solanaKey(4), Wraps: true}},
		payment{Payee: Payee{Account: solanaKey(5), Program: solana.TokenProgram}}
	for _, row := range []struct {
		name     string
		in       uint64
		payments []payment
		added    int    // instructions
		left     uint64 // for the venue
	}{
		{"none", 10_000, nil, 0, 10_000},
		{"the coin", 10_000, []payment{coin}, 1, 9_900},
		{"the coin, wrapped", 10_000, []payment{wrapped}, 2, 9_900},
		{"tokens", 10_000, []payment{tokens}, 1, 9_900},
		{"two", 10_000, []payment{tokens, coin}, 2, 9_800},
		{"of too little to be shared", 99, []payment{coin, tokens, wrapped}, 0, 99},
	} {
		trade := onSolana(t, row.in, row.payments...)
		venue := solana.Draft{FeePayer: solanaKey(1), Instructions: []solana.DraftInstruction{{Program: solanaKey(8), Data: []byte{1}}}}
		raw, err := venue.Compile()
		if err != nil {
			t.Fatal(err)
		}
		tx, err := trade.pay(Tx{Data: raw})
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		m, err := solana.ParseUnsigned(tx.Data)
		if err != nil || len(m.Instructions) != 1+row.added {
			t.Errorf("%s: %d instructions, %v, want %d behind the venue's", row.name, len(m.Instructions), err, row.added)
		}
		asked := trade.direct()
		if asked.In.Amount != chain.NewAmount(row.left) || asked.Affiliate.Percent.IsPositive() {
			t.Errorf("%s: the venue swaps %s and pays %v, want %d and nothing", row.name, asked.In.Amount, asked.Affiliate, row.left)
		}
	}
}

// TestPricesAreImpliedByQuotesOfSomething: a quote of nothing says nothing of what a token is worth.
func TestPricesAreImpliedByQuotesOfSomething(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	side := func(amount uint64) Side {
		return Side{Amount: chain.NewAmount(amount), Token: token.Token{Decimals: 0}}
	}
	quoted := func(amount uint64) []*candidate {
		return []*candidate{{quote: Quote{AmountOut: chain.NewAmount(amount)}}}
	}
	known := market{in: worth{usd: big.NewRat(3, 1)}}
	for _, row := range []struct {
		in, out uint64
		want    *big.Rat
	}{
		{10, 5, big.NewRat(6, 1)}, {10, 0, nil}, {0, 5, nil},
	} {
		s := Swap{Chain: ethereum, In: side(row.in), Out: side(0)}
		got := known.implied(s, quoted(row.out)).out.usd
		if (got == nil) != (row.want == nil) || got != nil && got.Cmp(row.want) != 0 {
			t.Errorf("%d for %d: a unit is worth %v, want %v", row.in, row.out, got, row.want)
		}
	}
}

// feesOnSolana has a signature cost 5,000 lamports.
type feesOnSolana struct{ FeeSource }

func (feesOnSolana) DataFee(context.Context, chain.Address, Tx, uint64) (chain.Amount, error) {
	return chain.NewAmount(5_000), nil
}

// TestWhatIsKeptOnSolana is for a signature, a place in a block at twice the usual bid, and the accounts that a swap opens.
func TestWhatIsKeptOnSolana(t *testing.T) {
	trade := onSolana(t, 1)
	trade.gasPrice = &GasPrice{Bid: chain.NewAmount(1_000_000)} // micro-lamports a compute unit: 1 lamport
	if _, known := trade.reserve(t.Context()); known {
		t.Error("a reserve without a source of fees is said to be known")
	}
	trade.chain.Fees = feesOnSolana{}
	kept, known := trade.reserve(t.Context())
	if !known || kept.GasLimit != solana.MaxComputeUnits || kept.Deposit != chain.NewAmount(2*tokenAccountRent+walletRent) {
		t.Fatalf("reserve = %+v, %t, want two accounts of tokens and a wallet", kept, known)
	}
	if want := kept.Deposit.Add(chain.NewAmount(5_000 + 2*solana.MaxComputeUnits)); kept.Total != want {
		t.Errorf("reserve of %s in all, want %s", kept.Total, want)
	}
}

// TestInputsAreGuessedByPrices: of what an output is worth, or a whole token.
func TestInputsAreGuessedByPrices(t *testing.T) {
	dollar, two := worth{usd: big.NewRat(1, 1)}, worth{usd: big.NewRat(2, 1)}
	s := Swap{In: Side{Token: token.Token{Decimals: 6}}, Out: Side{Token: token.Token{Decimals: 3}}}
	for _, row := range []struct {
		market market
		want   uint64
	}{
		{market{in: dollar, out: two}, 20_000_001},
		{market{in: dollar}, 1_000_000},
		{market{out: two}, 1_000_000},
		{market{}, 1_000_000},
		{market{in: worth{usd: new(big.Rat)}, out: two}, 1_000_000},
	} {
		if got := row.market.guess(s, chain.NewAmount(10_000)); got != chain.NewAmount(row.want) {
			t.Errorf("guess at prices of %v and %v = %s, want %d", row.market.in.usd, row.market.out.usd, got, row.want)
		}
	}
}
