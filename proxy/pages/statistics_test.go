package pages

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/quote"
)

// statisticsOf returns two days with orders between two pairs of chains, one order without a known value.
func statisticsOf() Statistics {
	of := func(give chain.ID, day uint64, micros int64, valued, unpriced uint64) order.DailyStatistics {
		return order.DailyStatistics{Day: day, Give: give, Take: 137, Statistics: order.Statistics{
			Created: 4, Fulfilled: 3, Given: order.USD{Micros: micros, Orders: valued}, Unpriced: unpriced,
		}}
	}
	return Statistics{
		Days: 3, Choices: []int{3, 30}, FirstDay: time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC), Now: Noon,
		HasDaily: true, Daily: []order.DailyStatistics{of(1, 20776, 50_500_000, 4, 0), of(1, 20777, 101_000_000, 3, 1), of(10, 20777, 0, 0, 4)},
		Times:     []order.DeliveryTimes{{Give: 1, Take: 137, Orders: 6, P50: 12, P95: 60, Fills: []order.Fills{{Margin: 0, Created: 1}, {Margin: 1, Created: 6, Fulfilled: 5, P50: 12}, {Margin: 6, Created: 1, Fulfilled: 1, P50: 9}}}},
		HasVenues: true, Venues: []quote.VenueDay{{Venue: "odos", Quoted: 8, Won: 2, Contested: 2, Gain: 6200}, {Venue: "velora", Quoted: 3}},
	}
}

func TestColumnsAreAsHighAsTheVolume(t *testing.T) {
	pages := NewViews(Explored())
	page := Render(t, func(to io.Writer) error { return pages.Statistics(to, statisticsOf()) })
	var heights []string
	for _, m := range regexp.MustCompile(`<rect class="value" x="[0-9.]+%" y="[0-9.]+%" width="[0-9.]+%" height="([0-9.]+)%"`).FindAllStringSubmatch(page, -1) {
		heights = append(heights, m[1])
	}
	if got := strings.Join(heights, " "); got != "50.00 100.00 0" {
		t.Errorf("columns of %s percent, want half of the largest, the largest and nothing", got)
	}
}

// TestFillsAreShownByMargin has an open-ended margin at the bottom, one in between and one at the top.
func TestFillsAreShownByMargin(t *testing.T) {
	page := Render(t, func(to io.Writer) error { return NewViews(Explored()).Statistics(to, statisticsOf()) })
	var rows []string
	for _, m := range regexp.MustCompile(`number">([^<]*%[^<]*)</td><td class="number">(\d+ of \d+)</td><td class="number">([^<]*)<`).FindAllStringSubmatch(page, -1) {
		rows = append(rows, strings.Join(m[1:], ", "))
	}
	if got := strings.Join(rows, "; "); got != "below 0 %, 0 of 1, –; 0 to 0.1 %, 5 of 6, 12 seconds; 10 % and more, 1 of 1, 9 seconds" {
		t.Errorf("the page has %q", got)
	}
}

// TestStatisticsHaveEveryPair has more pairs of chains than the page shows initially.
func TestStatisticsHaveEveryPair(t *testing.T) {
	var rows []order.DailyStatistics
	for i := range 400 {
		rows = append(rows, order.DailyStatistics{Day: 20776, Give: chain.ID(i + 1), Take: 137, Statistics: order.Statistics{
			Created: 1, Given: order.USD{Micros: int64(i) * 1_000_000, Orders: 1},
		}})
	}
	pages := NewViews(Explored())
	page := Render(t, func(to io.Writer) error {
		return pages.Statistics(to, Statistics{Days: 90, FirstDay: Noon.Truncate(24 * time.Hour), Now: Noon, HasDaily: true, Daily: rows})
	})
	if got := strings.Count(page, " → "); got != 400 || !strings.Contains(page, "375 more routes") {
		t.Errorf("the page has %d pairs, want all, 375 of them when asked for: %.2000s", got, page)
	}
}

func TestGainsAreInWords(t *testing.T) {
	for percent, want := range map[float64]string{
		0.31: "0.31 % more than the runner-up", 0.004: "same as the runner-up", 0: "same as the runner-up", -0.2: "0.20 % less than the runner-up, for cheaper gas",
	} {
		if got := gainText(percent); got != want {
			t.Errorf("%g: %q, want %q", percent, got, want)
		}
	}
}

func TestHistoryBeginsWhereTheOldestDoes(t *testing.T) {
	chainFrom := func(block, at uint64) order.ChainBasis {
		c := readChain(1, order.Lag{Head: 9, Indexed: 9, IndexedTime: at + 9})
		c.From = order.BlockTime{Number: block, Time: at}
		return c
	}
	for name, row := range map[string]struct {
		chains []order.ChainBasis
		want   int64
	}{
		"no chain":               {nil, 0},
		"nothing read":           {[]order.ChainBasis{readChain(1, order.Lag{})}, 0},
		"two beginnings":         {[]order.ChainBasis{chainFrom(7, 700), chainFrom(5, 500), readChain(2, order.Lag{})}, 500},
		"one without":            {[]order.ChainBasis{chainFrom(7, 700), chainFrom(0, 0)}, 0},
		"one that was not begun": {[]order.ChainBasis{readChain(2, order.Lag{}), chainFrom(7, 700)}, 700},
	} {
		got := begunAt(order.Basis{Chains: row.chains})
		if got.IsZero() != (row.want == 0) || row.want != 0 && got.Unix() != row.want {
			t.Errorf("%s: %v, want %d", name, got, row.want)
		}
	}
}

func readChain(id chain.ID, lag order.Lag) order.ChainBasis {
	return order.ChainBasis{Chain: id, Followed: true, Lag: lag}
}
