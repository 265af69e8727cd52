package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"crossgate/internal/golden"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
)

func TestSearchLeadsWhereATextBelongs(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) {
		o.Tokens = listing{w.tokenList}
		ordersOf(o).list = func(f list.Filter, _, _ uint64) (query.List, error) {
			if f.Search != nil && f.Search.Address.String() != taker {
				return query.List{}, nil
			}
			return listOf(w.orders[createdTx]...), nil
		}
	})
	for text, want := range map[string]string{
		"":                                "/",
		"+":                               "/",
		createdTx:                         "/order/" + createdTx,
		"+" + createdTx + "%0A":           "/order/" + createdTx,
		"8453":                            "/swap?chainId=8453",
		"polygon":                         "/swap?chainId=137",
		"0.1+ETH+to+USDC":                 "/swap?amount=0.1&tokenIn=ETH&tokenOut=USDC",
		"max+USD+Coin+to+ETH+on+polygon":  "/swap?amount=max&chainId=137&tokenIn=USD+Coin&tokenOut=ETH",
		"swap+5USDC+into+ETH+on+Narnia":   "/swap?amount=5&chainId=Narnia&tokenIn=USDC&tokenOut=ETH", // which the form refuses
		"2+ETH+on+base+to+USDC":           "/swap?amount=2&chainId=8453&tokenIn=ETH&tokenOut=USDC",
		"2+ETH+on+base+to+POL+on+polygon": "/swap?amount=2&chainId=8453&dstChainId=137&tokenIn=ETH&tokenOut=POL",
		"2+ETH+from+Base+for+POL+on+base": "/swap?amount=2&chainId=8453&dstChainId=8453&tokenIn=ETH&tokenOut=POL",
		nobody:                            "/locked/" + nobody,
		"0x" + strings.Repeat("Ab", 20):   "/locked/0x" + strings.Repeat("Ab", 20), // a wrong checksum, reported there
	} {
		response := get(s, "/search?query="+text)
		if got := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("a search for %q = %d to %q, want 303 to %q", text, response.StatusCode, got, want)
		}
	}
	for text, want := range map[string]string{
		"usdc":                    `href="/swap?chainId=8453&amp;tokenOut=` + usdcText + `">USDC on Base</a>, <a href="/token/8453/` + usdcText + `">`,
		usdcText:                  `href="/swap?chainId=8453&amp;tokenOut=` + usdcText + `">USDC on Base</a>`,
		taker:                     `href="/order/` + order.ID{7}.String() + `"`,
		"a+word+that+is+no+token": "No match",
		strings.Repeat("x", 200):  "No match",
	} {
		golden.Contains(t, text, pageAt(t, s, "/search?query="+text, http.StatusOK), want)
	}
}

func TestHomeShowsTheNewestOrders(t *testing.T) {
	w := newWorld(t)
	w.basis = []order.ChainBasis{
		followed(1, order.Lag{Head: 900, Indexed: 900, Level: time.Now().Add(time.Hour)}), // no lag, however long it takes
		followed(137, order.Lag{Head: 700, Indexed: 700, Level: time.Now().Add(-2 * time.Minute)}),
	}
	w.basis[0].Proven, w.basis[1].Quarantined.Count = 880, 2
	w.basis[1].From = order.BlockTime{Number: 70, Time: 1_784_948_000}
	s := w.server(t)
	page := pageAt(t, s, "/", http.StatusOK)
	text := golden.PageText(page)
	golden.Contains(t, "the start page", text, "Ethereum the first order now none", "Polygon 25 July 2026, 02:53 UTC 2 minutes ago 2")
	golden.Contains(t, "the start page", page,
		`href="/order/`+order.ID{7}.String()+`"`, `<span class="dot moving" title="Created">waiting</span>`, `href="/search?query=`+order.ID{7}.String()+`"`,
	)
	if young, old := strings.Index(page, order.ID{7}.String()), strings.Index(page, order.ID{8}.String()); young > old {
		t.Error("the older order comes first")
	}
	without := w.server(t, func(o *parts) {
		ordersOf(o).list = func(list.Filter, uint64, uint64) (query.List, error) { return query.List{}, query.ErrUnavailable }
	})
	golden.Contains(t, "the page without orders", pageAt(t, without, "/", http.StatusOK), "Orders cannot be listed")
}
