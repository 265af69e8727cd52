package proxy_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/order/stats"
	"crossgate/proxy"
	"crossgate/proxy/quota"
	"crossgate/proxy/web"
)

// pageAt fetches a page and checks what holds for every page.
func pageAt(t *testing.T, s *site, target string, status int) string {
	t.Helper()
	response := get(s, target)
	page := string(body(t, response))
	if response.StatusCode != status {
		t.Fatalf("GET %s = %d, want %d: %.600s", target, response.StatusCode, status, page)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("GET %s: %s = %q, want %q", target, name, got, want)
		}
	}
	if policy := response.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("GET %s: policy %q", target, policy)
	}
	checkDocument(t, target, page)
	return page
}

var (
	inlined   = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(>|\s+type="module">)`)
	assetUsed = regexp.MustCompile(`(?:src|href)="/assets/([^"]*)"`)
	labelled  = regexp.MustCompile(`<label for="([^"]*)"`)
)

// checkDocument requires a complete page without inline code, which the policy would block, and with every asset and
// field that it refers to.
func checkDocument(t *testing.T, target, page string) {
	t.Helper()
	if found := inlined.FindString(page); found != "" {
		t.Errorf("GET %s has %q in it", target, found)
	}
	if strings.Count(page, "<h1") != 1 || !strings.Contains(page, "</html>") {
		t.Errorf("GET %s has %d first headings, want one, or is cut off", target, strings.Count(page, "<h1"))
	}
	for _, asset := range assetUsed.FindAllStringSubmatch(page, -1) {
		if _, err := web.Assets().Open(asset[1]); err != nil {
			t.Errorf("GET %s refers to %s: %v", target, asset[1], err)
		}
	}
	for _, label := range labelled.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+label[1]+`"`) {
			t.Errorf("GET %s has a label for nothing: %s", target, label[1])
		}
	}
}

// TestLogosComeThroughTheGateway requests a token's logo three times: it is fetched once, and inert.
func TestLogosComeThroughTheGateway(t *testing.T) {
	var asked []string
	s := newWorld(t).server(t, func(o *parts) {
		o.Logo = func(_ context.Context, url string) (string, []byte, error) {
			asked = append(asked, url)
			if strings.Contains(url, wethText) {
				return "", nil, errors.New("no such host")
			}
			return "image/svg+xml", []byte("<svg/>"), nil
		}
	})
	for range 3 {
		response := get(s, "/logo/8453/"+usdcText)
		picture, header := body(t, response), response.Header
		if response.StatusCode != http.StatusOK || string(picture) != "<svg/>" || header.Get("Content-Type") != "image/svg+xml" ||
			!strings.Contains(header.Get("Content-Security-Policy"), "sandbox") || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("logo = %d %s %v", response.StatusCode, picture, header)
		}
		wantStatus(t, "no logo", get(s, "/logo/8453/"+wethText), http.StatusNoContent)
	}
	if len(asked) != 2 || !strings.Contains(asked[0], usdcText) {
		t.Errorf("fetched %v, want each once", asked)
	}
	for _, path := range []string{"/logo/8453/0x12", "/logo/4/" + usdcText, "/logo/x/" + usdcText} {
		wantStatus(t, path, get(s, path), http.StatusNotFound)
	}
}

func TestPagesShowWhatIsAsked(t *testing.T) {
	w := newWorld(t)
	w.basis = []order.ChainBasis{followed(8453, order.Lag{})}
	s := w.server(t, func(o *parts) { o.Tokens = listing{w.tokenList} })
	query := strings.TrimPrefix(goodSwap, swapPath+"?")
	for target, want := range map[string]string{
		"/":                                "not indexed yet",
		"/order":                           `name="hash"`,
		"/order/" + createdTx:              `data-events="/api/Orders/creationTxHash/` + createdTx + `"`,
		"/order/" + claimedTx:              "Delivered and paid",
		"/order/" + severalTx:              `href="/order/` + severalTx + `?index=2"`,
		"/order/" + severalTx + "?index=1": `<a href="/order/` + severalTx + `?index=1" aria-current="page">`,
		"/order/" + order.ID{7}.String():   `data-events="/api/Orders/` + order.ID{7}.String() + `"`,
		"/locked":                          `name="taker"`,
		"/locked/" + taker:                 "17.9928",
		"/locked/" + nobody:                "Nothing is locked",
		"/swap/8453/tx/" + swappedTx:       `everything</th><td data-label="Chain">Base</td>`,
		"/swap":                            `name="tokenOut"`,
		"/swap?chainId=8453":               `<option value="USDC">USDC USD Coin</option>`,
		"/swap?" + query:                   `value="5"`, // of 5000000 units
		"/swap?" + strings.Replace(query, "tokenInAmount=5000000", "amount=0.5", 1):                "tokenInAmount=500000&amp;",
		"/swap?chainId=8453&amount=2&tokenIn=" + usdcText + "&tokenOut=" + wethText + "&slippage=": "/v1.0/chain/estimation?chainId=8453",
	} {
		golden.Contains(t, target, pageAt(t, s, target, http.StatusOK), want)
	}
	if page := pageAt(t, s, "/order/"+claimedTx, http.StatusOK); strings.Contains(page, "data-events") {
		t.Error("the page of an order that is final waits for more")
	}
}

func TestPagesTellWhatIsWrong(t *testing.T) {
	s := newWorld(t).server(t)
	for target, want := range map[string]struct {
		status int
		id     string
	}{
		"/order/0x12":                                            {400, "MALFORMED_TRANSACTION_HASH"},
		"/order/" + unknownIs:                                    {404, "TRANSACTION_NOT_FOUND"},
		"/order/" + plainTx:                                      {404, "TRANSACTION_WITHOUT_ORDER"},
		"/order/" + createdTx + "?index=9":                       {404, "ORDER_INDEX_OUT_OF_RANGE"},
		"/locked/vitalik.eth":                                    {400, "MALFORMED_ADDRESS"},
		"/swap?chainId=8453&tokenIn=0x&amount=1":                 {400, `id="tokenIn-fault">The token must be an address: 0x followed by 40 hex digits.`},
		"/swap?chainId=8453&tokenIn=" + usdcText + "&amount=1e3": {400, `id="amount-fault">The amount must be a number`},
		"/swap?chainId=8453&tokenIn=" + usdcText + "&amount=1":   {400, `id="tokenOut-fault">Choose a token.`},
	} {
		golden.Contains(t, target, pageAt(t, s, target, want.status), want.id)
	}
}

// TestBrowsersGetPagesOfEveryError covers requests that no handler answers: browsers get pages, on the API's paths too
// if they say that they open a document. Programs get the API's errors, whatever they accept.
func TestBrowsersGetPagesOfEveryError(t *testing.T) {
	const accept, opens = "Accept: text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Dest: document"
	w := newWorld(t)
	s := w.server(t)
	limited := w.server(t, func(o *parts) {
		o.Quotas = quota.Options{Address: quota.Quota{Units: 1, Window: time.Hour}}
	})
	get(limited, "/order") // which uses up the quota
	for _, test := range []struct {
		server         *site
		method, target string
		status         int
		id             string
	}{
		{s, http.MethodGet, "/ordre/1", 404, "PATH_NOT_FOUND"},
		{s, http.MethodPost, "/ordre/1", 404, "PATH_NOT_FOUND"},
		{s, http.MethodGet, "/assets/none.css", 404, "PATH_NOT_FOUND"},
		{s, http.MethodPost, "/v1.0/supported-chains", 405, "METHOD_NOT_ALLOWED"},
		{s, http.MethodPost, "/order", 405, "METHOD_NOT_ALLOWED"},
		{s, http.MethodGet, "/order?x=" + strings.Repeat("a", proxy.LongestURL), 414, "URI_TOO_LONG"},
		{limited, http.MethodGet, "/order", 429, "QUOTA_EXCEEDED"},
		{limited, http.MethodGet, ordersPath + createdTx, 429, "QUOTA_EXCEEDED"},
	} {
		response := do(test.server, test.method, test.target, accept, opens)
		page := string(body(t, response))
		if response.StatusCode != test.status || response.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s %.60s: %s, %s", test.method, test.target, response.Status, response.Header.Get("Content-Type"))
		}
		if !strings.Contains(page, test.id) || !strings.Contains(page, `action="/search"`) {
			t.Errorf("%s %.60s: the page lacks %s or the search", test.method, test.target, test.id)
		}
		if proxy.IsRetryable(test.status) != strings.Contains(page, "Try again") || proxy.IsRetryable(test.status) != (response.Header.Get("Retry-After") != "") {
			t.Errorf("%s %.60s: whether to try again is not told", test.method, test.target)
		}
		if test.status == http.StatusMethodNotAllowed && response.Header.Get("Allow") == "" {
			t.Errorf("%s %s lacks Allow", test.method, test.target)
		}
		if test.status == http.StatusNotFound && (response.Header.Get("Vary") != "Accept, Sec-Fetch-Dest" || !strings.Contains(page, response.Header.Get("X-Request-Id"))) {
			t.Errorf("%s %s: Vary = %q, or the page lacks the request's id", test.method, test.target, response.Header.Get("Vary"))
		}
		wantError(t, do(test.server, test.method, test.target, "Accept: */*"), test.status, test.id)
	}
	wantError(t, do(s, http.MethodPost, "/v1.0/supported-chains", accept), http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED") // a library that accepts HTML
}

func TestFormsLeadToTheirPages(t *testing.T) {
	s := newWorld(t).server(t)
	for target, want := range map[string]string{
		"/order?hash=0xab": "/order/0xab", "/locked?taker=a%2Fb": "/locked/a%2Fb", "/order?hash=https://evil.example": "/order/https:%2F%2Fevil.example",
	} {
		response := get(s, target)
		if response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != want {
			t.Errorf("GET %s = %d to %s, want 303 to %s", target, response.StatusCode, response.Header.Get("Location"), want)
		}
	}
}

func TestAssetsAreServedAndNothingElse(t *testing.T) {
	s := newWorld(t).server(t)
	for target, want := range map[string]string{
		"/assets/style.css": "text/css; charset=utf-8", "/assets/order.js": "text/javascript; charset=utf-8", "/assets/icon.svg": "image/svg+xml",
	} {
		response := get(s, target)
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != want {
			t.Errorf("GET %s = %d, %s", target, response.StatusCode, response.Header.Get("Content-Type"))
		}
		wantStatus(t, target, get(s, target, "If-None-Match: "+response.Header.Get("Etag")), http.StatusNotModified)
	}
	for _, target := range []string{"/assets/", "/assets/none.css", "/assets/../templates/order.html"} {
		wantStatus(t, target, get(s, target), http.StatusNotFound)
	}
}

func TestOriginIsWhatTheVisitorSees(t *testing.T) {
	s := newWorld(t).server(t)
	page := body(t, get(s, "/order/"+createdTx, "X-Forwarded-Proto: https"))
	golden.Contains(t, "the page", string(page), "curl 'https://example.com/api/Orders/creationTxHash/"+createdTx)
}

// TestNothingIsLockedIsSaidOfAllHistoryOnly shows the page of a taker unknown to the index.
func TestNothingIsLockedIsSaidOfAllHistoryOnly(t *testing.T) {
	const paid, notKnown = "every delivery has been paid", "Nothing is locked in the blocks read so far"
	level := order.Lag{Head: 90, Indexed: 90, IndexedTime: uint64(time.Now().Unix()), Level: time.Now().Add(time.Hour)}
	late := order.Lag{Head: 90, Indexed: 70, IndexedTime: uint64(time.Now().Add(-2 * time.Hour).Unix())}
	for name, test := range map[string]struct {
		change func(*order.ChainBasis)
		wants  []string
	}{
		"all was read":     {func(*order.ChainBasis) {}, []string{paid}},
		"nothing was read": {func(c *order.ChainBasis) { c.Lag = order.Lag{} }, []string{notKnown, "Polygon: nothing was read yet"}},
		"begun later": {
			func(c *order.ChainBasis) { c.From = order.BlockTime{Number: 7_000_000, Time: 1_784_948_000} },
			[]string{
				notKnown, "Polygon: read from block 7,000,000 on", `All chains are indexed since <time datetime="2026-07-25T02:53:20Z">2026-07-25 02:53:20 UTC`,
			},
		},
		"behind": {func(c *order.ChainBasis) { c.Lag = late }, []string{notKnown, "Polygon: read as of 2 hours ago"}},
		"a block is left out": {
			func(c *order.ChainBasis) { c.Quarantined = order.QuarantinedBlocks{Count: 2, First: 8} },
			[]string{notKnown, "Polygon: 2 blocks cannot be read"},
		},
	} {
		w := newWorld(t)
		w.basis = []order.ChainBasis{followed(1, level), followed(137, level)}
		test.change(&w.basis[1])
		page := pageAt(t, w.server(t), "/locked/"+nobody, http.StatusOK)
		golden.Contains(t, name, page, test.wants...)
		if strings.Contains(page, paid) != (test.wants[0] == paid) {
			t.Errorf("%s: the page says that everything has been paid", name)
		}
	}
}

func TestPageOfWhatIsNotThereYetSaysWhatWasSearched(t *testing.T) {
	w := newWorld(t)
	w.basis = []order.ChainBasis{followed(1, order.Lag{Head: 90, Indexed: 1090}), followed(8453, order.Lag{}), followed(chain.Solana, order.Lag{Head: 7, Indexed: 7})}
	s := w.server(t)
	page := pageAt(t, s, "/order/"+unknownIs, http.StatusNotFound)
	golden.Contains(t, "the page", page,
		`src="/assets/awaited.js"`, `<meta http-equiv="refresh"`, "an order id and a swap id",
		`<th scope="row">Ethereum</th><td>not found</td><td class="number">1,090</td>`, `<th scope="row">Base</th><td>not found</td><td class="number">none yet</td>`,
		`<th scope="row">Solana</th><td><span class="quiet">different hash format</span></td><td class="number">7</td>`,
	)
	deaf := w.server(t, func(o *parts) {
		ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) {
			return nil, &query.UnheardError{UnreachableError: query.UnreachableError{Chains: []chain.ID{8453}}}
		}
	})
	golden.Contains(t, "the page while a chain does not answer", pageAt(t, deaf, "/order/"+unknownIs, http.StatusServiceUnavailable), `<th scope="row">Base</th><td><span class="dot bad">no answer</span>`)
	golden.Contains(t, "the page of an indexed order", pageAt(t, deaf, "/order/"+order.ID{7}.String(), http.StatusOK), "Waiting for a taker")
}

// operate sends a request to the admin listener next to s.
func operate(t *testing.T, s *site, path string) *http.Response {
	t.Helper()
	answer := httptest.NewRecorder()
	operatorsOf(s, "").ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil))
	return answer.Result()
}

// TestOperatorsHaveAPage requires the page with its assets, and headers that isolate it from other pages.
func TestOperatorsHaveAPage(t *testing.T) {
	s := newWorld(t).server(t)
	get(s, ordersPath+claimedTx) // something to count
	response := operate(t, s, "/")
	page := string(body(t, response))
	if response.StatusCode != http.StatusOK || !strings.Contains(page, "Healthy") || !strings.Contains(page, ">odos</th><td data-label=\"State\"><span class=\"dot good\">quotes</span></td><td class=\"number\" data-label=\"Won\">7<") {
		t.Errorf("GET / = %d %s", response.StatusCode, page)
	}
	checkDocument(t, "/", page)
	if got := response.Header.Get("Content-Security-Policy"); got != web.Policy {
		t.Errorf("Content-Security-Policy = %q", got)
	}
	golden.Contains(t, "the page", page, "<dt>Loads</dt><dd class=\"number\">1<")
	loaded := regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(loaded) < 3 {
		t.Errorf("the page loads %v, want its icon, style and script", loaded)
	}
	for _, each := range append(loaded, []string{"", "/assets/parts.js"}) {
		wantStatus(t, each[1], operate(t, s, each[1]), http.StatusOK)
	}
	for _, path := range []string{"/order", "/assets/", "/assets/nothing", "/nothing"} {
		wantStatus(t, path, operate(t, s, path), http.StatusNotFound)
	}
	s.Drain(true)
	golden.Contains(t, "the page of a server that stops", string(body(t, operate(t, s, "/"))), "not ready: server is shutting down")
}

// TestPublicSideHasNoOperators proves that the public listener serves nothing of the admin listener.
func TestPublicSideHasNoOperators(t *testing.T) {
	s := newWorld(t).server(t)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		wantStatus(t, path, get(s, path), http.StatusNotFound)
	}
}

// withoutStatistics is an index that has not read anything.
type withoutStatistics struct{ *answering }

func (withoutStatistics) Daily(context.Context, uint64, uint64) (days, before []order.DailyStatistics, basis order.Basis, err error) {
	return nil, nil, order.Basis{}, query.ErrEmpty
}

func TestStatisticsPageShowsAnswers(t *testing.T) {
	s := newWorld(t).server(t)
	for target, wants := range map[string][]string{
		"/statistics": {
			"$1.50</strong> in 2 orders", "Ethereum", "12 seconds, 95&nbsp;% in 1 minute 30 seconds", `href="/statistics?days=30" aria-current="page"`,
			"odos", "50.00 %", "0.25 %",
		},
		"/statistics?days=90": {`href="/statistics?days=90" aria-current="page"`},
	} {
		page := pageAt(t, s, target, http.StatusOK)
		golden.Contains(t, target, page, wants...)
	}
	for _, days := range []string{"0", "31", "x", "-7"} {
		golden.Contains(t, "days="+days, pageAt(t, s, "/statistics?days="+days, http.StatusBadRequest), "Days must be one of 7, 30, 90")
	}
}

func TestStatisticsPageOfAnEmptyIndexSaysWhy(t *testing.T) {
	s := newWorld(t).server(t, func(o *parts) { o.Orders = withoutStatistics{ordersOf(o)} })
	page := pageAt(t, s, "/statistics", http.StatusOK)
	if want := proxy.ProblemOf(query.ErrEmpty).PublicText(); !strings.Contains(page, want) || strings.Contains(page, "$") {
		t.Errorf("the page lacks %q, or tells a value: %s", want, page)
	}
	golden.Contains(t, "the page", page, "odos") // venues need no index
}

// TestOrderPageTellsWorthThenAndWhereItWasRead shows an order with one known value.
func TestOrderPageTellsWorthThenAndWhereItWasRead(t *testing.T) {
	w, given := newWorld(t), int64(18_000_000)
	w.values = map[order.ID]stats.Values{{8}: {Given: &given}}
	w.basis = []order.ChainBasis{followed(8453, order.Lag{Head: 9, Indexed: 9})}
	w.orders[claimedTx][0].Created.At.BlockHash = chain.Hash{1}
	w.tellers = map[string][]string{"8453 " + claimedTx + " " + (chain.Hash{1}).String(): {"third", "fourth"}}
	s := w.server(t)
	page := golden.PageText(pageAt(t, s, "/order/"+claimedTx, http.StatusOK))
	golden.Contains(t, "the page", page,
		"$18.00 when created, $17.99 now", "no price at the time", "Sources", "read once; to be confirmed",
		"(reported by 2 endpoints: third, fourth)", "(endpoints not recorded)",
	)
	page = golden.PageText(pageAt(t, s, "/order/"+createdTx, http.StatusOK)) // not counted, and not delivered
	if !strings.Contains(page, "USD Coin, value at the time unknown, $17.99 now") || !strings.Contains(page, "POL Polygon, no price now") || strings.Contains(page, "Total fees") {
		t.Errorf("an order that was not counted has a value: %s", page)
	}
}
