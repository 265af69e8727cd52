package quote

import (
	"errors"
	"log/slog"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/token"
)

func amount(text string) chain.Amount {
	a, err := chain.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

// TestOutputIsPricedBeforeFees goes by the recorded answer of the hosted service (USDC to ETH, 2026-09): the value of
// tokenOut is that of the gross amount, of which the protocol fee is 8 basis points and the slippage 0.3 %.
func TestOutputIsPricedBeforeFees(t *testing.T) {
	p := newPayout(amount("2000723290779000"), charges{protocolBps: 8}, decimal.RequireFromString("0.3"))
	if p.net() != amount("1999122712146377") || p.whole() != amount("2000723290779000") || p.minimum != amount("1993120542274040") {
		t.Fatalf("payout = %s of %s, at least %s", p.net(), p.whole(), p.minimum)
	}
	price, _ := new(big.Rat).SetString("2494.923739") // 4.991652 USD for the gross amount
	if got := *USD(price, p.whole(), 18); got != 4.991652 {
		t.Errorf("tokenOut is worth %v, want 4.991652", got)
	}
	if got := *USD(price, p.fee(), 18); got != 0.003993 {
		t.Errorf("protocol fee is worth %v, want 0.003993", got)
	}
	if got := USD(nil, p.fee(), 18); got != nil {
		t.Errorf("without a price it is worth %v, want nothing that is known", *got)
	}
}

// TestWhatWasNotSeenIsNotNothing: a simulation shows what arrives, and the gross amount if the public router's event is
// among the node's logs; a missing amount is not zero.
func TestWhatWasNotSeenIsNotNothing(t *testing.T) {
	quoted := newPayout(amount("10000"), charges{protocolBps: 8}, decimal.RequireFromString("0.3"))
	for name, test := range map[string]struct {
		result Result
		want   string
	}{
		"told":     {Result{Measured: true, Received: amount("9500"), Gross: amount("9507")}, "9507"},
		"not told": {Result{Measured: true, Received: amount("9500")}, "10000"},
		"not seen": {Result{Received: amount("9500")}, "10000"},
	} {
		if got := quoted.seen(&test.result); got.gross != amount(test.want) || got.minimum != quoted.minimum || got.protocolFee.IsZero() {
			t.Errorf("%s: %s before fees of %s, minimum %s, want %s", name, got.gross, got.protocolFee, got.minimum, test.want)
		}
	}
}

func TestParsePercent(t *testing.T) {
	for text, want := range map[string]string{
		"2.5": "2.5", "0.30000000000000004": "0.3", "0.1234567890121": "0.123456789012", "0." + strings.Repeat("1", 22): "0.111111111111",
		strings.Repeat("1", 25): "", "1e9": "", "-1": "", "1.2.3": "", "": "",
	} {
		if got, ok := ParsePercent(text); ok != (want != "") || ok && got.String() != want {
			t.Errorf("ParsePercent(%q) = %s, %t, want %q", text, got, ok, want)
		}
	}
}

func TestSharesAreRoundedDown(t *testing.T) {
	const most = "115792089237316195423570985008687907853269984665640564039457584007913129639935"
	for _, row := range [][3]string{
		{"2042835514", "0.01", "204283"}, // recorded figures: one basis point
		{"257704618563974816", "1", "2577046185639748"},
		{"1", "99.99", "0"},
		{most, "100", most},
		{most, "101", most},
		{"10000", "0", "0"},
		{"10000", "-1", "0"},
		{"10000", "1e1", "1000"},
		{"10000", "99.99999999999999999", "9999"}, // digits beyond a word
		{"100000000000000000000000", "0.100000000000000000000000000000001", "100000000000000000000"},
	} {
		if got := Share(amount(row[0]), decimal.RequireFromString(row[1])); got != amount(row[2]) {
			t.Errorf("%s %% of %s = %s, want %s", row[1], row[0], got, row[2])
		}
	}
}

func TestRecordsTellWhatBecameOfVenues(t *testing.T) {
	e := &Estimator{venues: []profiledVenue{{profile: Profile{Name: "a"}}, {profile: Profile{Name: "b"}}, {profile: Profile{Name: "c"}}}, Options: Options{History: &History{}}}
	first, second := time.Unix(1, 0), time.Unix(2, 0)
	refused := errors.New("HTTP 500")
	e.History.note(t.Context(), slog.New(slog.DiscardHandler), first, []Asked{
		{Venue: "b", Verdict: Won, Took: 2 * time.Millisecond},
		{Venue: "a", Verdict: Refused, Took: time.Millisecond, Err: refused},
		{Venue: "c", Verdict: LeftOut, Err: errors.New("does not serve the chain")},
	})
	e.History.note(t.Context(), slog.New(slog.DiscardHandler), second, []Asked{{Venue: "a", Verdict: Outbid, Took: 3 * time.Millisecond}, {Venue: "b", Verdict: Silent}})
	want := []Record{
		{Name: "a", Outbid: 1, Refused: 1, Took: 3 * time.Millisecond, Reason: "HTTP 500", At: first},
		{Name: "b", Won: 1, Silent: 1, Took: 2 * time.Millisecond},
		{Name: "c", LeftOut: 1},
	}
	if diff := cmp.Diff(want, e.Records()); diff != "" {
		t.Errorf("Records() (-want +got):\n%s", diff)
	}
	queries := []venueQuery{{profiledVenue: e.venues[2]}, {profiledVenue: e.venues[1]}, {profiledVenue: e.venues[0]}, {profiledVenue: e.venues[1]}}
	if diff := cmp.Diff([]int{2, 1, 3, 0}, e.History.slowestFirst(queries)); diff != "" {
		t.Errorf("the sequence of asking (-want +got):\n%s", diff)
	}
}

// TestALeadIsTwoBasisPoints: a quote that promises less more than a simulated payout after costs is not worth building.
func TestALeadIsTwoBasisPoints(t *testing.T) {
	paid := score{gain: chain.NewAmount(2_000_000), cost: chain.NewAmount(1_000_000)}
	for gain, leads := range map[uint64]bool{2_000_200: false, 2_000_201: true} {
		promised := candidate{score: score{gain: chain.NewAmount(gain), cost: paid.cost}}
		if promised.leads(paid) != leads {
			t.Errorf("a gain of %d leads by %+v: %t, want %t", gain, paid, !leads, leads)
		}
	}
}

func TestExampleIsATenThousandthOfACoin(t *testing.T) {
	for decimals, want := range map[uint8]uint64{18: 1e14, 6: 100, 2: 1} {
		if got := Example(chain.Chain{Coin: chain.Coin{Decimals: decimals}}, token.Key{}).In.Amount; got != chain.NewAmount(want) {
			t.Errorf("with %d decimals the example takes %s, want %d", decimals, got, want)
		}
	}
}
