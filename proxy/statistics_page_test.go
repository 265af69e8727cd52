package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/order/stats"
	"crossgate/proxy"
)

// withoutStatistics is an index that has not read anything.
type withoutStatistics struct{ *answering }

func (withoutStatistics) Daily(context.Context, uint64, uint64) (days, before []order.DailyStatistics, basis order.Basis, err error) {
	return nil, nil, order.Basis{}, query.ErrEmpty
}

func TestStatisticsPageShowsAnswers(t *testing.T) {
	s := newWorld(t).server(t)
	for target, wants := range map[string][]string{
		"/statistics": {
			"$1.50</strong> in 2 orders", "Ethereum", "12 seconds, 95 % in 1 minute 30 seconds", `href="/statistics?days=30" aria-current="page"`,
			"odos", "50.00 %", "0.25 %",
		},
		"/statistics?days=90": {`href="/statistics?days=90" aria-current="page"`},
	} {
		page := pageAt(t, s, target, http.StatusOK)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("GET %s lacks %q: %s", target, want, page)
			}
		}
	}
	for _, days := range []string{"0", "31", "x", "-7"} {
		if page := pageAt(t, s, "/statistics?days="+days, http.StatusBadRequest); !strings.Contains(page, "Days must be one of 7, 30, 90") {
			t.Errorf("days=%s: %s", days, page)
		}
	}
}

func TestStatisticsPageOfAnEmptyIndexSaysWhy(t *testing.T) {
	s := newWorld(t).server(t, func(o *parts) { o.Orders = withoutStatistics{ordersOf(o)} })
	page := pageAt(t, s, "/statistics", http.StatusOK)
	if want := proxy.ProblemOf(query.ErrEmpty).PublicText(); !strings.Contains(page, want) || strings.Contains(page, "$") {
		t.Errorf("the page lacks %q, or tells a value: %s", want, page)
	}
	if !strings.Contains(page, "odos") {
		t.Error("venues are not told, which need no index")
	}
}

// TestOrderPageTellsWorthThenAndWhereItWasRead has an order of which one value is known.
func TestOrderPageTellsWorthThenAndWhereItWasRead(t *testing.T) {
	w, given := newWorld(t), int64(18_000_000)
	w.values = map[order.ID]stats.Values{{8}: {Given: &given}}
	w.basis = []order.ChainBasis{followed(8453, order.Lag{Head: 9, Indexed: 9})}
	w.orders[claimedTx][0].Created.At.BlockHash = chain.Hash{1}
	w.tellers = map[string][]string{"8453 " + claimedTx + " " + (chain.Hash{1}).String(): {"third", "fourth"}}
	s := w.server(t)
	page := plainText(pageAt(t, s, "/order/"+claimedTx, http.StatusOK))
	for _, want := range []string{
		"$18.00 when created, $17.99 now", "no price then", "Where this was read", "read once; the second reading",
		"(reported by 2 endpoints: third, fourth)", "(by which endpoints was not recorded)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	page = plainText(pageAt(t, s, "/order/"+createdTx, http.StatusOK)) // not counted, and not delivered
	if !strings.Contains(page, "USD Coin, value then not known, $17.99 now") || !strings.Contains(page, "POL Polygon, no price now") || strings.Contains(page, "Both fees") {
		t.Errorf("an order that was not counted has a value: %s", page)
	}
}
