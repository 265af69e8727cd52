package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/quota"
)

// TestClientsAreAnsweredBeforeBalancersGiveUp delays a chain by four seconds: after one and a half, clients learn which
// chain has not answered, and they find the order on their next request.
func TestClientsAreAnsweredBeforeBalancersGiveUp(t *testing.T) {
	for name, path := range map[string]string{
		"order": ordersPath + createdTx, "order ids": "/api/Transaction/" + createdTx + "/orderIds",
		"order ids of the swap API": "/v1.0/dln/tx/" + createdTx + "/order-ids", "by id": "/api/Orders/" + idText(7),
		"page": "/order/" + createdTx, "stream": ordersPath + createdTx,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.basis = []order.ChainBasis{followed(1, order.Lag{Head: 9, Indexed: 9})}
			s := w.server(t, func(o *parts) {
				o.Feed = newKept(t).Feed
				a := ordersOf(o)
				a.late = &query.UnheardError{UnreachableError: query.UnreachableError{Chains: []chain.ID{137}, Err: context.DeadlineExceeded}}
				find, byID := a.find, a.byID
				a.find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
					time.Sleep(4 * time.Second)
					return find(ctx, tx)
				}
				a.byID = func(ctx context.Context, id order.ID) (*order.Order, error) {
					time.Sleep(4 * time.Second)
					return byID(ctx, id)
				}
			})
			began, accept := time.Now(), ""
			if name == "stream" {
				accept = "Accept: " + proxy.StreamType
			}
			response := get(s, path, accept)
			header := response.Header
			if took := time.Since(began); response.StatusCode != http.StatusServiceUnavailable || took != proxy.Patience || header.Get("Retry-After") == "" {
				t.Errorf("%s: HTTP %d after %s, %v", name, response.StatusCode, took, header)
			}
			if header.Get("X-Chains-Unheard") != "137" {
				t.Errorf("%s: which chain has not answered is not told: %v", name, header)
			}
			if strings.HasPrefix(path, "/api/") && name != "stream" && header.Get(proxy.IndexBasis) == "" {
				t.Errorf("%s: what was read is not told: %v", name, header)
			}
			time.Sleep(3 * time.Second)
			began = time.Now()
			if again := get(s, path); again.StatusCode != http.StatusOK || time.Since(began) > 0 {
				t.Errorf("%s: HTTP %d after %s when the load is over", name, again.StatusCode, time.Since(began))
			}
		})
	}
}

// TestLateAnswersNameWhatIsSlow delays answers by four seconds: if the index does not answer and no chain is asked, the
// client reads that the index is unavailable, and nothing about chains.
func TestLateAnswersNameWhatIsSlow(t *testing.T) {
	for name, test := range map[string]struct {
		path, id string
		late     error
	}{
		"index":          {ordersPath + createdTx, "INDEX_UNAVAILABLE", fmt.Errorf("%w: locked", query.ErrUnavailable)},
		"index, by id":   {"/v1.0/dln/order/" + idText(7) + "/status", "INDEX_UNAVAILABLE", query.ErrUnavailable},
		"not known":      {"/api/Orders/" + idText(7), "CHAIN_UNREACHABLE", nil},
		"list":           {listPath, "INDEX_UNAVAILABLE", nil},
		"all-time total": {"/api/Statistics/getAllTime", "INDEX_UNAVAILABLE", nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t).server(t, func(o *parts) {
				a := ordersOf(o)
				a.late = test.late
				a.find = func(context.Context, chain.TxHash) ([]*order.Order, error) {
					time.Sleep(4 * time.Second)
					return nil, nil
				}
				a.byID = func(context.Context, order.ID) (*order.Order, error) {
					time.Sleep(4 * time.Second)
					return nil, order.ErrNotFound
				}
				a.list = func(list.Filter, uint64, uint64) (query.List, error) {
					time.Sleep(4 * time.Second)
					return query.List{}, nil
				}
				a.allTime = 4 * time.Second
			})
			send := func() *http.Response { return get(s, test.path) }
			if test.path == listPath {
				send = func() *http.Response { return post(s, test.path, "{}").Result() }
			}
			response := send()
			e := wantError(t, response, http.StatusServiceUnavailable, test.id)
			if response.Header.Get("Retry-After") == "" || strings.Contains(e.Message, "locked") || strings.Contains(e.Message, "chain") {
				t.Errorf("%s: %q, %v", name, e.Message, response.Header)
			}
			time.Sleep(4 * time.Second) // the load continues
		})
	}
}

// TestSearchesAreChargedToTheirClients floods with unknown hashes from one address, which is soon over its quota;
// others are not.
func TestSearchesAreChargedToTheirClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const units = 100
		var searches int
		s := newWorld(t).server(t, func(o *parts) {
			o.Quotas = quota.Options{Address: quota.Quota{Units: units, Window: time.Minute}}
			find := ordersOf(o).find
			ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
				if tx.String() == createdTx {
					return find(ctx, tx) // indexed
				}
				if err := proxy.ChargeSearch(ctx); err != nil {
					return nil, err
				}
				searches++
				return nil, order.ErrNotFound
			}
		})
		unknown := func(i int) string {
			raw := [32]byte{1, byte(i >> 8), byte(i)}
			return "/api/Transaction/" + chain.NewTxHash(raw[:]).String() + "/orderIds"
		}
		statuses := map[int]int{}
		for i := range 2 * units {
			response := ask(s, unknown(i), "192.0.2.1:1")
			statuses[response.StatusCode]++
			if response.StatusCode == http.StatusTooManyRequests {
				if e := wantError(t, response, 429, "QUOTA_EXCEEDED"); response.Header.Get("Retry-After") == "" || e.Message == "" {
					t.Errorf("%v", response.Header)
				}
			}
		}
		if most := units / (proxy.CheapCost + proxy.SearchCost); searches != most || statuses[200] != most || len(statuses) != 2 {
			t.Errorf("%d searches, answers %v, want %d and 429 for the rest", searches, statuses, most)
		}
		wantStatus(t, "another client", ask(s, unknown(2*units), "192.0.2.2:1"), http.StatusOK)
		for range units {
			wantStatus(t, "a client who asks for what is indexed", ask(s, ordersPath+createdTx, "192.0.2.3:1"), http.StatusOK)
		}
	})
}

// TestAnothersQuotaIsNotMet has a client over its quota and another one search for the same.
func TestAnothersQuotaIsNotMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t).server(t, func(o *parts) {
			o.Quotas = quota.Options{Address: quota.Quota{Units: 10, Window: time.Minute}}
			find := ordersOf(o).find
			ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
				time.Sleep(200 * time.Millisecond)
				if err := proxy.ChargeSearch(ctx); err != nil {
					return nil, err
				}
				return find(ctx, tx)
			}
		})
		for range 7 { // of ten units; three are too few for a search
			ask(s, "/v1.0/supported-chains-info", "192.0.2.1:1")
		}
		got := make(chan int, 2)
		for _, address := range []string{"192.0.2.1:1", "192.0.2.2:1"} {
			go func() { got <- ask(s, ordersPath+createdTx, address).StatusCode }()
			synctest.Wait()
		}
		if first, other := <-got, <-got; first != http.StatusTooManyRequests || other != http.StatusOK {
			t.Errorf("over the quota: HTTP %d; the other client: HTTP %d", first, other)
		}
	})
}

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
