package query

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestMain(m *testing.M) {
	if plan, isChild := os.LookupEnv(childPlan); isChild {
		if err := beChild(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if shared.server != nil {
			if err := shared.server.Remove(); err != nil {
				fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// compare lets cmp compare the values of package chain, whose fields are their own business.
var compare = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b chain.TxHash) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Amount) bool { return a.Cmp(b) == 0 }),
}

// everyFact holds each kind of fact, with what is optional and without.
func everyFact() []order.Fact {
	d := newDeal(1, 1, 137)
	whole := d.created().fact.(order.Created)
	whole.Terms.ExternalCall = []byte{0xca, 0x11}
	whole.Terms.Authorities.AllowedTaker = taker
	whole.FixFee, whole.PercentFee, whole.ReferralCode = chain.NewAmount(1), chain.NewAmount(2), 3
	whole.Affiliate = &order.Affiliate{Beneficiary: taker, Amount: chain.NewAmount(4)}
	whole.Preswap = &order.Preswap{TokenIn: taker, AmountIn: chain.NewAmount(5), AmountOut: chain.NewAmount(6)}
	whole.Metadata = []byte{}
	bare := order.Fulfilled{Terms: d.terms}
	return []order.Fact{
		whole,
		order.Created{Terms: d.terms},
		order.GiveIncreased{Final: chain.NewAmount(7), FinalPercentFee: chain.NewAmount(8)},
		order.TakeDecreased{Final: chain.NewAmount(9)},
		d.fulfilled().fact, bare,
		d.sentUnlock().fact, d.claimedUnlock().fact,
		order.Cancelled{},
		order.ExternalCall{Step: order.CallFailed},
		order.ExternalCall{Step: order.CallFallenBack, By: taker},
	}
}

func TestFactsSurviveTheStore(t *testing.T) { checkFactsSurvive(t, openStore(t)) }

func checkFactsSurvive(t *testing.T, store *store.DB) {
	t.Helper()
	l := newTestChain(1)
	var facts []told
	for _, fact := range everyFact() {
		facts = append(facts, told{order.ID{1}, fact})
	}
	l.mine(facts)
	want := l.blocks[1].events
	catchUp(t, newFollower(store, 1, l, quietly(follow.Options{})))
	got, err := ledger.EventsOf(t.Context(), store, order.ID{1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Errorf("events (-told +stored):\n%s", diff)
	}
}

// TestStoredFormStays fails when a change of a fact's Go type changes what is stored: files that exist
// would no longer be read.
func TestStoredFormStays(t *testing.T) {
	var got strings.Builder
	for _, fact := range everyFact() {
		kind, text, err := ledger.EncodeFact(fact)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(kind + " " + text + "\n")
	}
	const path = "testdata/facts.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("stored form (-want +got):\n%s", diff)
	}
}
