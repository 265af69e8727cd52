package quote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/token"
)

// TestAVenueThatFailsForADayIsFailing asks a venue at the given hours, and checks since when it counts as failing, and
// the log.
func TestAVenueThatFailsForADayIsFailing(t *testing.T) {
	refused := Asked{Verdict: Refused, Err: errors.New("HTTP 410")}
	silent := Asked{Verdict: Silent, Err: fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)}
	left := Asked{Verdict: Silent, Err: fmt.Errorf("no answer in time: %w", context.Canceled)}
	noRoute := Asked{Verdict: Refused, Err: fmt.Errorf("v: %w", ErrNoRoute)}
	unbuilt := Asked{Verdict: Refused, AmountOut: chain.NewAmount(1), Err: ErrRefused}
	const begins, ends = "returned only failures for a day", "answers again"
	for name, test := range map[string]struct {
		asked []Asked // one each time
		hours []int   // when
		since int     // hour; -1: not failing
		logs  []string
	}{
		"never asked":                  {nil, nil, -1, nil},
		"left out":                     {[]Asked{{Verdict: LeftOut}, {Verdict: LeftOut}}, []int{0, 48}, -1, nil},
		"failed once, long ago":        {[]Asked{refused, {Verdict: LeftOut}}, []int{0, 48}, -1, nil},
		"fails for less than a day":    {[]Asked{refused, silent}, []int{0, 23}, -1, nil},
		"fails for a day":              {[]Asked{refused, silent}, []int{1, 25}, 1, []string{begins}},
		"told once":                    {[]Asked{refused, refused, refused, silent}, []int{0, 24, 48, 72}, 0, []string{begins}},
		"quotes in between":            {[]Asked{refused, {Verdict: Outbid}, refused}, []int{0, 12, 24}, -1, nil},
		"refuses the pair in between":  {[]Asked{refused, noRoute, refused}, []int{0, 12, 24}, -1, nil},
		"quotes what does not pass":    {[]Asked{refused, unbuilt, refused}, []int{0, 12, 24}, -1, nil},
		"its callers leave":            {[]Asked{left, left}, []int{0, 24}, -1, nil},
		"a caller leaves in between":   {[]Asked{refused, left, refused}, []int{0, 12, 24}, 0, []string{begins}},
		"is back":                      {[]Asked{refused, refused, {Verdict: Won}}, []int{0, 24, 25}, -1, []string{begins, ends}},
		"is back without being missed": {[]Asked{refused, {Verdict: Won}}, []int{0, 1}, -1, nil},
		"fails again":                  {[]Asked{refused, refused, {Verdict: Won}, silent, silent}, []int{0, 24, 25, 26, 50}, 26, []string{begins, ends, begins}},
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			log := slog.New(slog.NewTextHandler(&logged, nil))
			e := &Estimator{venues: []profiledVenue{{profile: Profile{Name: "v"}}}, Options: Options{History: &History{}}}
			begun := time.Unix(1_800_000_000, 0)
			for i, asked := range test.asked {
				asked.Venue = "v"
				e.History.note(t.Context(), log, begun.Add(time.Duration(test.hours[i])*time.Hour), []Asked{asked})
			}
			var want time.Time
			if test.since >= 0 {
				want = begun.Add(time.Duration(test.since) * time.Hour)
			}
			if got := e.Records()[0].FailingSince; !got.Equal(want) {
				t.Errorf("failing since %s, want %s", got, want)
			}
			lines := strings.Split(strings.TrimSuffix(logged.String(), "\n"), "\n")
			if logged.Len() == 0 {
				lines = nil
			}
			if len(lines) != len(test.logs) {
				t.Fatalf("logged %q, want %q", lines, test.logs)
			}
			for i, line := range lines {
				if !strings.Contains(line, test.logs[i]) || !strings.Contains(line, "venue=v") {
					t.Errorf("logged %q, want %q of the venue", line, test.logs[i])
				}
			}
		})
	}
}

func TestRecommendedSlippageGoesByThePair(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	gnosis, _ := chain.Documented().Chain(100000002)
	contract := chain.NewAddress([]byte("a token's contract.."))
	named := func(symbol string) Side { return Side{Address: contract, Token: token.Token{Symbol: symbol}} }
	coin := Side{Address: chain.NativeCoin(chain.EVM), Token: token.Token{Symbol: "ETH"}}
	for _, row := range []struct {
		chain   chain.Chain
		in, out Side
		want    string
	}{
		{ethereum, named("USDC"), named("USDT"), "0.1"},
		{ethereum, coin, Side{Address: ethereum.WrappedCoin, Token: token.Token{Symbol: "WETH"}}, "0.1"},
		{gnosis, Side{Address: chain.NativeCoin(chain.EVM), Token: token.Token{Symbol: "xDAI"}}, named("USDC"), "0.1"},
		{ethereum, named("USDC"), coin, "0.3"},
		{ethereum, named("WBTC"), named("USDC.e"), "0.3"},
		{ethereum, named("PEPE"), named("USDC"), "1"},
		{ethereum, coin, named(""), "1"},
	} {
		got := recommendedSlippage(Swap{Chain: row.chain, In: row.in, Out: row.out})
		if got.String() != row.want {
			t.Errorf("slippage of %s to %s on %s = %s, want %s", row.in.Token.Symbol, row.out.Token.Symbol, row.chain.Name, got, row.want)
		}
	}
}

func TestWinsCountWhoWonAndByHowMuch(t *testing.T) {
	paid := func(venue string, verdict Verdict, net uint64, err error) Asked {
		return Asked{Venue: venue, Verdict: verdict, Net: chain.NewAmount(net), Err: err}
	}
	var w History
	now := time.Unix(3*86_400+5, 0)
	for _, all := range [][]Asked{
		// A venue by both ways, one that cannot be used, one that is slightly worse, one that failed.
		{paid("a", Won, 1_010_000, nil), paid("a", Outbid, 1_009_000, nil), paid("b", Outbid, 2_000_000, errors.New("compared only")), paid("c", Outbid, 1_000_000, nil), paid("c", Outbid, 999_000, nil), paid("d", Refused, 0, nil)},
		// The lower gas decides.
		{paid("c", Won, 990_000, nil), paid("a", Outbid, 1_000_000, nil)},
		// No competitor.
		{paid("c", Won, 5, nil), paid("a", Silent, 0, nil)},
		// The other quote is negligible.
		{paid("b", Won, 1_000_000, nil), paid("a", Outbid, 1, nil)},
		// A better one that could not be used, and one of zero.
		{paid("c", Won, 5, nil), paid("b", Outbid, 9, errors.New("compared only")), paid("a", Outbid, 0, nil)},
		// No winner, and an empty comparison.
		{paid("a", Outbid, 5, nil)},
		{},
	} {
		w.note(t.Context(), slog.New(slog.DiscardHandler), now, all)
	}
	want := []VenueDay{
		{Day: 3, Venue: "a", Quoted: 4, Won: 1, Contested: 1, Gain: 10_000},
		{Day: 3, Venue: "b", Quoted: 3, Won: 1, Contested: 1, Gain: 1_000_000},
		{Day: 3, Venue: "c", Quoted: 4, Won: 3, Contested: 1, Gain: -10_000},
	}
	got := w.Take()
	slices.SortFunc(got, func(a, b VenueDay) int { return cmp.Compare(a.Venue, b.Venue) })
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("wins (-want +got):\n%s", d)
	}
	w.Add(got...)
	w.Add(got...)
	if again := w.Take(); len(again) != 3 || len(w.Take()) != 0 {
		t.Errorf("what could not be kept comes to %+v", again)
	}
}
