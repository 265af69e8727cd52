package quote_test

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
)

// TestCompareWaitsAsLongAsItPays runs on a fake clock. Close waits for venues that do not notice that they are late.
func TestCompareWaitsAsLongAsItPays(t *testing.T) {
	for _, row := range []struct {
		name   string
		venues []quote.Venue
		want   []string // best first; nil: no answer
		takes  time.Duration
	}{
		{"no longer than all take", []quote.Venue{
			&fakeVenue{name: "a", perInput: 1, takes: 300 * time.Millisecond},
			&fakeVenue{name: "b", perInput: 2, takes: 800 * time.Millisecond},
		}, []string{"b", "a"}, 800 * time.Millisecond},
		{"no longer than all take, failures included", []quote.Venue{
			&fakeVenue{name: "a", perInput: 1, takes: 300 * time.Millisecond},
			&fakeVenue{name: "b", quoteError: errDown},
		}, []string{"a"}, 300 * time.Millisecond},
		{"the shorter for one that hangs, the more have quoted", []quote.Venue{
			&fakeVenue{name: "a", perInput: 4},
			&fakeVenue{name: "b", perInput: 3, takes: 400 * time.Millisecond},
			&fakeVenue{name: "c", perInput: 2, takes: 800 * time.Millisecond},
			&fakeVenue{name: "d", perInput: 5, takes: time.Hour},
		}, []string{"a", "b", "c"}, 1000 * time.Millisecond},
		{"not for a fifth when four have quoted", []quote.Venue{
			&fakeVenue{name: "a", perInput: 4},
			&fakeVenue{name: "b", perInput: 3},
			&fakeVenue{name: "c", perInput: 2},
			&fakeVenue{name: "d", perInput: 1},
			&fakeVenue{name: "e", perInput: 5, takes: time.Second},
		}, []string{"a", "b", "c", "d"}, 700 * time.Millisecond},
		{"longest for a second one", []quote.Venue{
			&fakeVenue{name: "a", perInput: 1},
			&fakeVenue{name: "b", perInput: 2, takes: time.Hour},
		}, []string{"a"}, 1600 * time.Millisecond},
		{"and for a second one that is ignoresContext", []quote.Venue{
			&fakeVenue{name: "a", perInput: 1},
			&fakeVenue{name: "b", perInput: 2, takes: time.Minute, ignoresContext: true},
		}, []string{"a"}, 1600 * time.Millisecond},
		{"for a fallback only when two others have not quoted", []quote.Venue{
			&fakeVenue{name: "a", perInput: 1},
			&fakeVenue{name: "b", perInput: 2, takes: time.Hour},
			&fakeVenue{name: "c", perInput: 3, takes: 200 * time.Millisecond, fallback: true},
		}, []string{"c", "a"}, 1300 * time.Millisecond},
		{"for a fallback at once when all others have failed", []quote.Venue{
			&fakeVenue{name: "a", quoteError: errDown},
			&fakeVenue{name: "b", perInput: 3, takes: 200 * time.Millisecond, fallback: true},
		}, []string{"b"}, 200 * time.Millisecond},
		{"for no fallback when two others have quoted", []quote.Venue{
			&fakeVenue{name: "a", perInput: 1},
			&fakeVenue{name: "b", perInput: 2, takes: 600 * time.Millisecond},
			&fakeVenue{name: "c", perInput: 3, fallback: true},
		}, []string{"b", "a"}, 600 * time.Millisecond},
		{"longer for the first quote", []quote.Venue{
			&fakeVenue{name: "a", quoteError: quote.ErrNoRoute},
			&fakeVenue{name: "b", perInput: 2, takes: 4 * time.Second},
			&fakeVenue{name: "c", perInput: 3, takes: 4500 * time.Millisecond},
		}, []string{"b"}, 4 * time.Second},
		{"but not for ever", []quote.Venue{
			&fakeVenue{name: "a", perInput: 1, takes: 6 * time.Second, ignoresContext: true},
		}, nil, 5 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				e := estimator(row.venues...)
				defer e.Close() // every venue must have ended before the bubble does
				got, err := e.Estimate(t.Context(), usdcToDai())
				if (err != nil) != (row.want == nil) {
					t.Errorf("error = %v", err)
				}
				if row.want == nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error = %v, want a deadline exceeded", err)
				}
				expect(t, "compared", names(got.Compared), row.want)
				for _, one := range got.Asked {
					if one.Verdict == quote.Silent && !errors.Is(one.Err, context.DeadlineExceeded) {
						t.Errorf("%s is silent for %v, want a deadline exceeded", one.Venue, one.Err)
					}
				}
				if took := time.Since(began); took != row.takes {
					t.Errorf("took %s, want %s", took, row.takes)
				}
			})
		})
	}
}

func TestCompareWaitsNoLongerThanTheClientWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := usdcToDai()
		r.Wait = time.Second
		got := estimate(t, estimator(&fakeVenue{name: "a", perInput: 1}, &fakeVenue{name: "b", perInput: 2, takes: time.Hour}), r)
		expect(t, "compared", names(got.Compared), []string{"a"})
		if took := time.Since(began); took != 640*time.Millisecond {
			t.Errorf("took %s, want 640ms, where the quorum of a window of a second is one", took)
		}
	})
}

// TestComparisonsAreSharedForABlock lets wallets ask one after the other and concurrently.
func TestComparisonsAreSharedForABlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		only := &fakeVenue{name: "a", perInput: 1, takes: 100 * time.Millisecond}
		e := asking(quote.Chain{Payee: func(context.Context, chain.Address, chain.Address) (quote.Payee, error) {
			return quote.Payee{}, nil
		}}, only)
		ask := func(r quote.Request) {
			if _, err := e.Estimate(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
		var asking sync.WaitGroup
		for _, who := range []chain.Address{recipient, sender, usdc} {
			r := usdcToDai()
			r.Recipient = who
			asking.Go(func() { ask(r) })
		}
		asking.Wait()
		ask(usdcToDai())
		if n := only.quotes.Load(); n != 1 {
			t.Errorf("%d quotes for four wallets, want 1", n)
		}
		other := usdcToDai()
		other.AmountIn = chain.NewAmount(1000)
		ask(other)
		if n := only.quotes.Load(); n != 2 {
			t.Errorf("%d quotes after another amount, want 2", n)
		}
		given := usdcToDai() // rejected by venues that pay only the sender
		given.Sender = sender
		ask(given)
		if n := only.quotes.Load(); n != 3 {
			t.Errorf("%d quotes after another recipient than the sender, want 3", n)
		}
		shared := usdcToDai() // the gateway pays a share of the input itself, so the venue swaps less
		shared.Recipient, shared.Affiliate = chain.Address{}, quote.NewAffiliate(1000, sender)
		if e, err := e.Estimate(t.Context(), shared); err != nil || e.Out.Amount != chain.NewAmount(90_000_000) {
			t.Errorf("with a share of 10 %% that the gateway pays: %s, %v, want 90000000", e.Out.Amount, err)
		}
		<-time.After(5 * time.Second)
		ask(usdcToDai())
		if n := only.quotes.Load(); n != 5 {
			t.Errorf("%d quotes after a while, want 5", n)
		}
		paying := &fakeVenue{name: "b", perInput: 1, affiliate: decimal.NewFromInt(10)}
		e = estimator(paying)
		for range 2 {
			for _, share := range []quote.Affiliate{quote.NewAffiliate(100, sender), quote.NewAffiliate(200, sender), quote.NewAffiliate(200, recipient)} {
				r := usdcToDai()
				r.Affiliate = share
				ask(r)
			}
		}
		if n := paying.quotes.Load(); n != 3 {
			t.Errorf("%d quotes for three affiliates whom the venue pays, want 3", n)
		}
	})
}

func TestSharedPricesThatNoLongerHoldAreAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		brief := &fakeVenue{name: "a", perInput: 1, life: 100 * time.Millisecond}
		listed := &fakeVenue{name: "listed", quoteError: quote.ErrNoRoute}
		for name, e := range map[string]*quote.Estimator{
			"directly": estimator(brief), "in reserve": crossroads(quote.PreferRouter, &crossing{lists: []*fakeVenue{listed}}, listed, brief),
		} {
			before := brief.quotes.Load()
			for range 2 {
				must.Get(e.Estimate(t.Context(), usdcToDai()))(t)
				<-time.After(200 * time.Millisecond) // longer than the venue's quote is valid
			}
			if n := brief.quotes.Load() - before; n != 2 {
				t.Errorf("%s: %d quotes, want 2", name, n)
			}
		}
	})
}

func TestCompareEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := estimator(&fakeVenue{name: "a", perInput: 1}, &fakeVenue{name: "b", takes: time.Hour}).Estimate(ctx, usdcToDai())
		if !errors.Is(err, context.Canceled) || errors.Is(err, quote.ErrNoTransaction) {
			t.Errorf("Estimate = %v, want that the caller left", err)
		}
	})
}

func TestCompareSurvivesItsVenues(t *testing.T) {
	got := must.Get(estimator(
		&fakeVenue{name: "panics", quotePanic: true},
		&fakeVenue{name: "panics later", perInput: 9, buildPanic: true},
		&fakeVenue{name: "gives nothing", perInput: 0},
		&fakeVenue{name: "does not build", perInput: 8, buildError: errDown},
		&fakeVenue{name: "good", perInput: 7},
	).Estimate(t.Context(), usdcToDai()))(t)
	expect(t, "compared", names(got.Compared), []string{"good"})
	expect(t, "price drop of the best", got.Compared[0].PriceDrop, 0)
	why := refused(got)
	if len(why) != 4 || !errors.Is(why["does not build"], errDown) || !errors.Is(why["gives nothing"], quote.ErrNoRoute) {
		t.Errorf("refused = %v, want the reason of each of the four", why)
	}
	for _, venue := range []string{"panics", "panics later"} {
		if why[venue] == nil || !strings.Contains(why[venue].Error(), "panic") {
			t.Errorf("refused %s = %v, want that it panicked", venue, why[venue])
		}
	}
}

func TestCompareRanksByWhatIsLeftAfterGas(t *testing.T) {
	// At 10 gwei and 3000 USD per coin, 100,000 gas cost 3 USD: more than the 2 % between these two.
	hungry := &fakeVenue{name: "hungry", perInput: 1_000_000_000_000, gas: 250_000}
	frugal := &fakeVenue{name: "frugal", perInput: 980_000_000_000, gas: 150_000}
	silent := &fakeVenue{name: "silent", perInput: 1_000_000_000_000} // counts as 350,000
	o := quote.Options{
		Registry: chain.Documented(), Venues: []quote.Venue{silent, hungry, frugal},
		Chains: ethereum(quote.Chain{Fees: meter{price: quote.GasPrice{Expected: chain.NewAmount(10_000_000_000)}}}),
	}
	for _, row := range []struct {
		priced bool
		want   []string
	}{
		{true, []string{"frugal", "hungry", "silent"}},
		{false, []string{"hungry", "silent", "frugal"}}, // with equal outcomes the one with less gas comes first
	} {
		o.Tokens = directory(row.priced)
		got := estimate(t, quote.New(o), usdcToDai())
		var ranked []string
		for _, a := range got.Asked {
			ranked = append(ranked, a.Venue)
		}
		expect(t, "ranked", ranked, row.want)
		// Whoever wins, amounts are compared, relative to the highest.
		if last := got.Compared[2]; last.Name != "frugal" || last.PriceDrop != 2 || got.Compared[0].PriceDrop != 0 {
			t.Errorf("compared = %+v, want frugal last, 2 %% below the others", got.Compared)
		}
	}
}

// TestReservedCalldataDoesNotCompress: rollups charge for a transaction's compressed bytes, so that a reserve for data that
// compresses would be too small.
func TestReservedCalldataDoesNotCompress(t *testing.T) {
	for _, length := range []int{283, 800, 4096} {
		var compressed bytes.Buffer
		w := must.Get(flate.NewWriter(&compressed, flate.BestCompression))(t)
		must.Get(w.Write(quote.Filled(length).Data))(t)
		must.Do(t, w.Close())
		if compressed.Len() < length {
			t.Errorf("%d bytes compress to %d", length, compressed.Len())
		}
	}
}

// TestTheDataFeeOfPricesIsReadBesideTheVenues: prices use a typical transaction's data fee, whoever wins.
func TestTheDataFeeOfPricesIsReadBesideTheVenues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late = 300 * time.Millisecond
		only := &fakeVenue{name: "only", perInput: 1_000_000_000_000, gas: 100_000, takes: late}
		e := quote.New(quote.Options{
			Registry: chain.Documented(), Venues: []quote.Venue{only}, Tokens: directory(true),
			Chains: ethereum(quote.Chain{Fees: meter{price: quote.GasPrice{Expected: chain.NewAmount(10)}, dataFee: chain.NewAmount(7), late: late}}),
		})
		r := usdcToDai()
		r.Recipient = chain.Address{}
		began := time.Now()
		got := estimate(t, e, r)
		if want := chain.NewAmount(120_000*10 + 7); got.Fee.Total != want || time.Since(began) != late {
			t.Errorf("fee = %s after %s, want %s after %s", got.Fee.Total, time.Since(began), want, late)
		}
	})
}

func TestPriceDropIsThePercentBelowTheBest(t *testing.T) {
	for _, row := range []struct {
		out  uint64
		want float64
	}{
		{10_000, 0}, {9_999, 0.01}, {9_971, 0.29}, {5_000, 50}, {1, 99.99},
	} {
		got := estimate(t, estimator(&fakeVenue{name: "best", perInput: 10_000}, &fakeVenue{name: "other", perInput: row.out}), usdcToDai())
		if drop := got.Compared[1].PriceDrop; drop != row.want {
			t.Errorf("price drop of %d to 10000 = %v, want %v", row.out, drop, row.want)
		}
	}
}
