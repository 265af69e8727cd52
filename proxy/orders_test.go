package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/token"
	"crossgate/upstream"
)

func TestOrderIsFoundUnderEverySpellingOfItsPath(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	for _, target := range []string{
		ordersPath + createdTx,
		"/api/orders/creationtxhash/" + createdTx,
		"/API/ORDERS/CREATIONTXHASH/" + createdTx,
		ordersPath + createdTx + "/",
		"/" + ordersPath + createdTx,
		"///api//orders/creationTxHash//" + createdTx + "//",
		ordersPath + strings.ToUpper(createdTx[2:]),
		ordersPath + "0x" + strings.ToUpper(createdTx[2:]),
		ordersPath + createdTx + "?accesstoken=s3cret&t=1784948713&t=2",
	} {
		response := get(s, target)
		var got struct {
			OrderID struct{ StringValue string }
			State   string
			Give    struct{ Symbol string } `json:"giveOfferWithMetadata"`
		}
		if err := json.Unmarshal(body(t, response), &got); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: HTTP %d, %v", target, response.StatusCode, err)
		}
		if got.State != "Created" || !strings.HasPrefix(got.OrderID.StringValue, "0x07") || got.Give.Symbol != "USDC" {
			t.Errorf("GET %s = %+v", target, got)
		}
	}
	if asked := w.asked.Load(); asked != 1 {
		t.Errorf("the orders were asked for %d times, want once", asked)
	}
}

func TestOrderHeaders(t *testing.T) {
	s := newWorld(t).server(t)
	first := get(s, ordersPath+createdTx)
	full := body(t, first)
	for name, want := range map[string]string{
		"Content-Type":                "application/json; charset=utf-8",
		"Cache-Control":               keptAWhile,
		"Vary":                        "Accept, Accept-Encoding",
		"Access-Control-Allow-Origin": "*",
		"X-Content-Type-Options":      "nosniff",
		"Cache-Status":                "crossgate; fwd=miss; stored",
		"Age":                         "0",
	} {
		if got := first.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	etag := first.Header.Get("ETag")
	for _, condition := range []string{etag, "W/" + etag, `"other", ` + etag, "*"} {
		again := get(s, ordersPath+createdTx, "If-None-Match: "+condition)
		if rest := body(t, again); again.StatusCode != http.StatusNotModified || len(rest) != 0 || again.Header.Get("ETag") != etag {
			t.Errorf("If-None-Match %s: HTTP %d with %d bytes, want 304 and none", condition, again.StatusCode, len(rest))
		}
	}
	wantStatus(t, "another tag", get(s, ordersPath+createdTx, `If-None-Match: "other"`), http.StatusOK)
	if settled := get(s, ordersPath+claimedTx).Header.Get("Cache-Control"); settled != keptLong {
		t.Errorf("Cache-Control of a settled order = %q", settled)
	}
	head := do(s, http.MethodHead, ordersPath+createdTx)
	if head.StatusCode != http.StatusOK || head.ContentLength != int64(len(full)) {
		t.Errorf("HEAD: HTTP %d of %d bytes, want the GET's 200 and %d", head.StatusCode, head.ContentLength, len(full))
	}
}

func TestOrdersOfOneTransactionAreASeries(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	etags := map[string]string{}
	for _, test := range []struct{ query, id, link string }{
		{"", "0x0a", `<?index=1>; rel="next", <?index=2>; rel="last"`},
		{"?index=0&t=1", "0x0a", `<?index=1>; rel="next", <?index=2>; rel="last"`},
		{"?Index=1", "0x0b", `<?index=0>; rel="first", <?index=0>; rel="prev", <?index=2>; rel="next", <?index=2>; rel="last"`},
		{"?accesstoken=x&index=02", "0x0c", `<?index=0>; rel="first", <?index=1>; rel="prev"`},
	} {
		response := get(s, ordersPath+severalTx+test.query)
		var got struct{ OrderID struct{ StringValue string } }
		if err := json.Unmarshal(body(t, response), &got); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: HTTP %d, %v", test.query, response.StatusCode, err)
		}
		if id := got.OrderID.StringValue[:4]; id != test.id {
			t.Errorf("GET %s is order %s, want %s", test.query, id, test.id)
		}
		if link := response.Header.Get("Link"); link != test.link {
			t.Errorf("GET %s: Link = %s, want %s", test.query, link, test.link)
		}
		etags[response.Header.Get("ETag")] = test.id
	}
	if len(etags) != 3 {
		t.Errorf("three orders have the tags %v", etags)
	}
	beyond := get(s, ordersPath+severalTx+"?index=3")
	golden.Contains(t, "beyond the last order", wantError(t, beyond, http.StatusNotFound, "ORDER_INDEX_OUT_OF_RANGE").Message, "below 3")
	if asked := w.asked.Load(); asked != 1 {
		t.Errorf("the orders were asked for %d times, want once for all of them", asked)
	}
	if link := get(s, ordersPath+createdTx).Header.Get("Link"); link != "" {
		t.Errorf("an order without neighbours has the Link %s", link)
	}
}

func TestSettledOrdersAreKept(t *testing.T) {
	const kept, moving = keptLong, keptAWhile
	for name, test := range map[string]struct {
		tx      string
		settled func(*order.Order) bool
		want    string
	}{
		"final, on final blocks":     {claimedTx, func(*order.Order) bool { return true }, kept},
		"final, may be taken back":   {claimedTx, func(*order.Order) bool { return false }, moving},
		"not final, cannot be taken": {createdTx, func(*order.Order) bool { return true }, moving},
	} {
		s := newWorld(t).server(t, func(o *parts) { ordersOf(o).isFinal = test.settled })
		if got := get(s, ordersPath+test.tx).Header.Get("Cache-Control"); got != test.want {
			t.Errorf("%s: Cache-Control = %q, want %q", name, got, test.want)
		}
	}
}

// unreachable is a directory that cannot read any chain.
type unreachable struct{ *token.Directory }

func (unreachable) Lookup(context.Context, chain.ID, ...chain.Address) ([]token.Token, error) {
	return nil, &upstream.Error{Class: upstream.Unreachable, Endpoint: "base-rpc"}
}

func TestOrderWithoutItsTokensIsNoAnswer(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) { o.Tokens = unreachable{w.tokenList} })
	e := wantError(t, get(s, ordersPath+createdTx), http.StatusBadGateway, "UPSTREAM_FAILED")
	if e.ErrorCode != http.StatusBadGateway {
		t.Errorf("errorCode = %d, want the HTTP status, as the tracking API has it", e.ErrorCode)
	}
}

// oneVoiced is a directory whose token names come from a single endpoint.
type oneVoiced struct{ *token.Directory }

func (d oneVoiced) Lookup(ctx context.Context, id chain.ID, addresses ...chain.Address) ([]token.Token, error) {
	tokens, err := d.Directory.Lookup(ctx, id, addresses...)
	for i := range tokens {
		tokens[i].IsSingle = id == 8453
	}
	return tokens, err
}

// TestTokensOfOneEndpointAreNotCalledProven requests everything that contains token names.
func TestTokensOfOneEndpointAreNotCalledProven(t *testing.T) {
	for _, isSingle := range []bool{false, true} {
		w := newWorld(t)
		of := followed(8453, order.Lag{Head: 9, Indexed: 9, IndexedTime: 1, Level: time.Now()})
		of.Proven = of.Indexed
		w.basis = []order.ChainBasis{of}
		s := w.server(t, func(o *parts) {
			if isSingle {
				o.Tokens = oneVoiced{w.tokenList}
			}
		})
		for _, r := range []*http.Request{
			httptest.NewRequest(http.MethodGet, ordersPath+claimedTx, nil),
			httptest.NewRequest(http.MethodGet, "/api/Satistics/"+taker+"/lockedAssets", nil),
			httptest.NewRequest(http.MethodPost, listPath, strings.NewReader(`{"filterMode":"Mixed"}`)),
		} {
			response := serve(s, r)
			basis := response.Header.Get("Index-Basis")
			if response.StatusCode != http.StatusOK || strings.Contains(basis, "one-endpoint") != isSingle || strings.Contains(basis, "proven=9") == isSingle ||
				isSingle && response.Header.Get("Cache-Control") == keptLong {
				t.Errorf("%s of one endpoint: %t: HTTP %d, %s, %s", r.URL.Path, isSingle, response.StatusCode, basis, response.Header.Get("Cache-Control"))
			}
		}
	}
}

// TestOneUnreadTokenDoesNotFailMany requests lists and what is locked while one chain, or all, cannot be read.
func TestOneUnreadTokenDoesNotFailMany(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) { o.Tokens = unreachable{w.tokenList} })
	for _, test := range []struct{ method, path, body, unheard string }{
		{http.MethodPost, listPath, `{}`, "137, 8453"},
		{http.MethodPost, listPath, `{"filterMode":"SameChain"}`, "8453"},
		{http.MethodPost, listPath, `{"filterMode":"Mixed"}`, "137, 8453"},
		{http.MethodGet, "/api/Satistics/" + taker + "/lockedAssets", "", "8453"},
	} {
		response := serve(s, httptest.NewRequest(test.method, test.path, strings.NewReader(test.body)))
		raw := string(body(t, response))
		if response.StatusCode != http.StatusOK || !strings.Contains(raw, `"decimals":null,"name":"","symbol":""`) || strings.Contains(raw, `mount":17992800`) {
			t.Errorf("%s %s: HTTP %d %s, want 200 without metadata", test.path, test.body, response.StatusCode, raw)
		}
		if got := response.Header.Get(proxy.ChainsUnheard); got != test.unheard || response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: chains unheard %q, Cache-Control %q", test.path, test.body, got, response.Header.Get("Cache-Control"))
		}
	}
}

func TestLockedAssets(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	for _, path := range []string{"/api/Satistics/", "/api/Statistics/", "/api/satistics/"} {
		response := get(s, path+taker+"/lockedAssets")
		raw := string(body(t, response))
		if response.StatusCode != http.StatusOK || !strings.Contains(raw, `"amount":17.991001,"tokenAmount":17.9928,`) {
			t.Errorf("GET %s: HTTP %d %s", path, response.StatusCode, raw)
		}
	}
	for _, who := range []string{nobody, "TDApGsYobnq34xJeEHKbDoAbXXbKiqBMSw", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"} {
		response := get(s, "/api/Satistics/"+who+"/lockedAssets")
		if raw := string(body(t, response)); response.StatusCode != http.StatusOK || raw != "[]" {
			t.Errorf("nothing locked for %s: HTTP %d %s, want 200 []", who, response.StatusCode, raw)
		}
	}
}

// TestAnswersFromTheIndexTellHowFreshTheyAre requests every path that the index answers, and one that it does not.
func TestAnswersFromTheIndexTellHowFreshTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.basis = []order.ChainBasis{
			followed(1, order.Lag{}),
			followed(137, order.Lag{Head: 9, Indexed: 8, IndexedTime: 946_600_000, Level: time.Now().Add(-time.Hour)}),
			followed(8453, order.Lag{Head: 9, Indexed: 9, IndexedTime: 946_600_000, Level: time.Now()}),
		}
		s := w.server(t)
		const both = "137;block=8;time=946600000;lag=3600;from=0;behind, 8453;block=9;time=946600000;lag=0;from=0"
		const every = "1;block=0;behind, " + both
		for path, want := range map[string]string{
			"/api/Satistics/" + taker + "/lockedAssets":    every,
			"/api/Orders/creationTxHash/" + severalTx:      both,
			"/api/Orders/creationTxHash/" + unknownIs:      every,
			"/api/Orders/" + idText(11):                    both,
			"/api/Orders/" + idText(99):                    every,
			"/v1.0/dln/order/" + idText(11) + "/status":    both,
			"/v1.0/dln/order/" + idText(99) + "/status":    every,
			"/api/Transaction/" + severalTx + "/orderIds":  both,
			"/api/Transaction/" + unknownIs + "/orderIds":  every,
			"/v1.0/dln/tx/" + severalTx + "/order-ids":     both,
			"/v1.0/chain/transaction?chainId=" + "nothing": "",
		} {
			for range 2 { // loaded, then cached
				response := get(s, path)
				if got := response.Header.Get(proxy.IndexBasis); got != want {
					t.Errorf("GET %s: HTTP %d, basis %q, want %q", path, response.StatusCode, got, want)
				}
			}
		}
	})
}
