package pages

import (
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/proxy/web"
)

func TestIDsCanBeCopied(t *testing.T) {
	pages := NewViews(Explored())
	page := Render(t, func(to io.Writer) error {
		return pages.Order(to, Order{Record: recordOf("claimed"), JSON: "{}", Now: Noon})
	})
	if ids, copies := strings.Count(page, `class="mono"`), strings.Count(page, `class="copy"`); copies < 10 || copies < ids-2 { // the heading repeats the id, beside the name of the state
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
	if got := shareOf(chain.NewAmount(239064), chain.NewAmount(597422890)); got != "0.04" {
		t.Errorf("a share of 0.0399998 %% is %s", got)
	}
	if got, want := Rate(some, some, "USDT", "USDT"), "1 USDT for 1 USDT, 1 USDT for 1 USDT"; got != want {
		t.Errorf("rate %q, want %q", got, want)
	}
}
