package quote

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/token"
)

// onSolana returns a trade on Solana, in which the gateway pays the shares itself.
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
		chain:    Chain{Payee: func(context.Context, chain.Address, chain.Address) (Payee, error) { return Payee{}, ErrNoPayee }, LookUp: fromShelf},
		payments: payments,
	}
}

// shelf is a lookup table with accounts that payments name, too.
var shelf = solana.LookupTable{Address: solanaKey(7), Holds: []chain.Address{solana.TokenProgram, solana.SystemProgram, solanaKey(2), solanaKey(6)}}

// fromShelf returns the accounts that a message takes from the shelf.
func fromShelf(_ context.Context, m solana.Message) (written, read []chain.Address, err error) {
	for _, use := range m.Tables {
		for _, at := range use.Written {
			written = append(written, shelf.Holds[at])
		}
		for _, at := range use.Read {
			read = append(read, shelf.Holds[at])
		}
	}
	return written, read, nil
}

func solanaKey(n byte) chain.Address {
	return chain.NewAddress(append(make([]byte, solana.KeySize-1), n))
}

// TestSharesArePaidBehindTheSwap adds payments to a transaction with one venue instruction. Solana rejects one that names
// an account twice, itself and in a lookup table (AccountLoadedTwice).
func TestSharesArePaidBehindTheSwap(t *testing.T) {
	coin, wrapped, tokens := payment{Payee: Payee{Account: solanaKey(3)}}, payment{Payee: Payee{Account: solanaKey(4), Wraps: true}},
		payment{Payee: Payee{Account: solanaKey(5), Program: solana.TokenProgram}}
	var held []solana.DraftAccount
	for i, at := range shelf.Holds {
		held = append(held, solana.DraftAccount{Address: at, Writable: i == 3})
	}
	for _, row := range []struct {
		name     string
		in       uint64
		payments []payment
		added    int    // instructions
		left     uint64 // input left for the venue
	}{
		{"none", 10_000, nil, 0, 10_000},
		{"the coin", 10_000, []payment{coin}, 1, 9_900},
		{"the coin, wrapped", 10_000, []payment{wrapped}, 2, 9_900},
		{"tokens", 10_000, []payment{tokens}, 1, 9_900},
		{"two", 10_000, []payment{tokens, coin}, 2, 9_800},
		{"of too little to be shared", 99, []payment{coin, tokens, wrapped}, 0, 99},
	} {
		trade := onSolana(t, row.in, row.payments...)
		venue := solana.Draft{
			FeePayer: solanaKey(1), Tables: []solana.LookupTable{shelf}, Instructions: []solana.DraftInstruction{{Program: solanaKey(8), Accounts: held}},
		}
		tx, err := trade.pay(t.Context(), Tx{Data: must.Get(venue.Compile())(t)})
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		m, err := solana.ParseUnsigned(tx.Data)
		if err != nil || len(m.Instructions) != 1+row.added {
			t.Errorf("%s: %d instructions, %v, want %d behind the venue's", row.name, len(m.Instructions), err, row.added)
		}
		written, read, _ := fromShelf(t.Context(), m)
		named := slices.SortedFunc(slices.Values(slices.Concat(m.Accounts, written, read)), chain.Address.Compare)
		if once := slices.Compact(slices.Clone(named)); len(once) < len(named) {
			t.Errorf("%s: the message names %d of its accounts twice", row.name, len(named)-len(once))
		}
		asked := trade.direct()
		if asked.In.Amount != chain.NewAmount(row.left) || asked.Affiliate.Percent.IsPositive() {
			t.Errorf("%s: the venue swaps %s and pays %v, want %d and nothing", row.name, asked.In.Amount, asked.Affiliate, row.left)
		}
	}
}

// feesOnSolana are fees with a cost of 5,000 lamports per signature.
type feesOnSolana struct{ FeeSource }

func (feesOnSolana) DataFee(context.Context, Tx, uint64) (chain.Amount, error) {
	return chain.NewAmount(5_000), nil
}

// TestWhatIsKeptOnSolana covers a signature, a priority fee at twice the usual bid, and the accounts that a swap opens.
func TestWhatIsKeptOnSolana(t *testing.T) {
	trade := onSolana(t, 1)
	trade.gasPrice = &GasPrice{Bid: chain.NewAmount(1_000_000)} // micro-lamports per compute unit: 1 lamport
	trade.chain.Fees = feesOnSolana{}
	kept, err := trade.reserve(t.Context())
	if err != nil || kept.deposit != chain.NewAmount(2*solana.TokenAccountRent+solana.WalletRent) {
		t.Fatalf("reserve = %+v, %v, want two accounts of tokens and a wallet", kept, err)
	}
	trade.gasPrice = nil
	if _, err := trade.reserve(t.Context()); err == nil {
		t.Error("a reserve without a price of gas is said to be known")
	}
	if want := kept.deposit.Add(chain.NewAmount(5_000 + 2*solana.MaxComputeUnits)); kept.Total != want {
		t.Errorf("reserve of %s in all, want %s", kept.Total, want)
	}
}

func TestInputsAreGuessedByPrices(t *testing.T) {
	dollar, two := big.NewRat(1, 1), big.NewRat(2, 1)
	for _, row := range []struct {
		in, out *big.Rat
		want    uint64
	}{{dollar, two, 20_000_001}, {dollar, nil, 1_000_000}, {nil, two, 1_000_000}, {nil, nil, 1_000_000}, {new(big.Rat), two, 1_000_000}} {
		if got := Guess(row.in, row.out, 6, 3, chain.NewAmount(10_000)); got != chain.NewAmount(row.want) {
			t.Errorf("guess at prices of %v and %v = %s, want %d", row.in, row.out, got, row.want)
		}
	}
}

func TestTheOperatorIsPaidWithoutAnAffiliate(t *testing.T) {
	swap := onSolana(t, 1000)
	swap.swap.Affiliate, swap.chain.Operator = Affiliate{}, NewAffiliate(10, solanaKey(8))
	swap.chain.Payee = func(context.Context, chain.Address, chain.Address) (Payee, error) {
		return Payee{Account: solanaKey(3)}, nil
	}
	if err := swap.settlePayees(t.Context()); err != nil || len(swap.payments) != 1 || swap.direct().In.Amount != chain.NewAmount(999) {
		t.Errorf("settlePayees = %v with %d payments, want one, of a thousandth", err, len(swap.payments))
	}
}

// TestUnitLimitFitsWhatASimulationTook: if the simulation does not report its units the limit stays.
func TestUnitLimitFitsWhatASimulationTook(t *testing.T) {
	draft := solana.Draft{FeePayer: solanaKey(1), Instructions: append(
		solana.Budget{Units: 100_000}.Instructions(), solana.Transfer(solanaKey(1), solanaKey(2), 1))}
	for gas, want := range map[uint64]uint64{0: 100_000, 1000: 1200} {
		b := built{tx: Tx{Data: must.Get(draft.Compile())(t)}, result: &Result{Gas: gas}}
		onSolana(t, 1).fitBudget(&b)
		if m, err := solana.ParseUnsigned(b.tx.Data); err != nil || m.Budget().Units != want {
			t.Errorf("after %d units: limit %d, %v, want %d", gas, m.Budget().Units, err, want)
		}
	}
}
