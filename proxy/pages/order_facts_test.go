package pages

import (
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/proxy/web"
)

func TestOrderPageSaysWhatThingsAreWorthAndHowLongTheyTook(t *testing.T) {
	pages := NewViews(Explored())
	page := Render(t, func(to io.Writer) error {
		return pages.Order(to, Order{
			Record: recordOf("claimed"), JSON: "{}", Now: Noon, Give: big.NewRat(9999, 10_000),
			Then: &stats.Values{Given: new(int64(18_000_000)), Fee: new(int64(610_000))},
			Read: []order.ChainBasis{{Chain: 137, Followed: true, Lag: order.Lag{Indexed: 1234}, Proven: 1200, Final: true}, {Chain: 8453}},
		})
	})
	plain := Text(page)
	for _, want := range []string{
		"delivered in 6 seconds, paid after another 2 hours 19 minutes",
		"6 seconds after Created",
		"USD Coin, $18.00 when created, $17.99 now", "POL Polygon, no price then, no price now", "Both fees $0.61 when created",
		"0.0072 USDC, 0.04 % of what the maker paid",
		"0.001 ETH, whatever the amount",
		"1 USDC for 1,111,957.72", // of 20007232.90 POL for 17.9928 USDC
		"Polygon 1,234 1,200 no, it is final", "Base asked for this page yes, it is recent or not over",
		"what is locked for the taker",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page lacks %q: %s", want, plain)
		}
	}
	if strings.Contains(plain, "$0.00") {
		t.Errorf("a token without a price has a value: %s", plain)
	}
	if ids, copies := strings.Count(page, `class="mono"`), strings.Count(page, `class="copy"`); copies < 10 || copies < ids-1 { // the heading repeats the id
		t.Errorf("of %d ids and addresses %d can be copied", ids, copies)
	}
}

func TestDurationsHaveTheirTwoLargestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 seconds", 999 * time.Millisecond: "0 seconds", time.Second: "1 second", 65 * time.Second: "1 minute 5 seconds",
		time.Hour: "1 hour", time.Hour + time.Second: "1 hour", 49*time.Hour + time.Minute: "2 days 1 hour",
	} {
		if got := web.Took(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestRatesAndSharesAreLeftOutWhereThereIsNothing(t *testing.T) {
	none, some := new(big.Rat), big.NewRat(5, 1)
	if got := Rate(none, some, "USDC", "USDT") + Rate(some, none, "USDT", "USDC") + shareOf(chain.Amount{}, chain.Amount{}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	if got, want := Rate(some, some, "USDT", "USDT"), "1 USDT for 1 USDT, 1 USDT for 1 USDT"; got != want {
		t.Errorf("rate %q, want %q", got, want)
	}
}
