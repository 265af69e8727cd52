package proxy_test

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/proxy/orders"
)

func TestListPageHasTheFiltersOfTheAPI(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	page := pageAt(t, s, "/orders?from=8453&to=137&state=Created&maker="+taker+"&taker="+nobody+"&since=2026-11-20&until=2026-11-21&skip=25", http.StatusOK)
	want := list.Filter{
		GiveChains: []chain.ID{8453}, TakeChains: []chain.ID{137}, States: []order.State{order.StateCreated},
		Maker: address(t, taker), Fulfiller: address(t, nobody), Since: 1_795_132_800, Until: 1_795_305_599,
	}
	golden.Same(t, "filter", want, w.lastList.Filter, sameFilter)
	if got := w.lastList; got.Skip != 25 || got.Take != 25 || got.Mode != orders.CrossChain {
		t.Errorf("part %+v", got)
	}
	golden.Contains(t, "the page", page,
		`<option value="8453" selected>`, `<option value="Created" selected>`, `value="`+nobody+`"`, `value="2026-11-21"`, `href="/order/`+order.ID{7}.String(), "-d &#39;{",
	)
}

var sameFilter = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }), cmp.Comparer(func(a, b chain.Amount) bool { return a == b }),
	cmp.Comparer(func(a, b chain.TxHash) bool { return a == b }),
}

func TestListPageListsSwapsWithinAChain(t *testing.T) {
	w := newWorld(t)
	page := pageAt(t, w.server(t), "/orders?mode=SameChain&from=8453", http.StatusOK)
	if !strings.Contains(page, `href="/swap/`+order.ID{0x5a, 1}.String()) || w.lastList.Mode != orders.SameChain {
		t.Errorf("mode %s: %s", w.lastList.Mode, page)
	}
	for _, ofOrders := range []string{`name="to"`, `name="state"`, `name="taker"`, `name="usdFrom"`, `name="usdTo"`, `value="Largest"`} {
		if strings.Contains(page, ofOrders) {
			t.Errorf("the form has %s, which no swap can match", ofOrders)
		}
	}
	pageAt(t, w.server(t), "/orders?mode=SameChain&from=8453&to=1&state=Created&taker=0x12&usdFrom=2&takeToken=usdc&takeFrom=1.5", http.StatusOK)
	want := list.Filter{GiveChains: []chain.ID{8453}, TakeToken: address(t, usdcText), Taken: list.Amounts{From: new(chain.NewAmount(1_500_000))}}
	golden.Same(t, "filter", want, w.lastList.Filter, sameFilter)
}

func TestListPageSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	for query, want := range map[string]string{
		"maker=0x12":                      `id="maker-fault">The maker must be an address`,
		"state=Lost":                      `id="state-fault">The state must be a list of`,
		"from=x":                          `id="from-fault">The chain must be`,
		"since=yesterday":                 `id="since-fault">The first day must be a day such as 2026-11-23.`,
		"mode=Sideways":                   "filterMode must be one of the following values",
		"skip=-1":                         "skip must be a whole number",
		"until=1969-12-31&taker=" + taker: `id="until-fault">The last day must be a day`,
	} {
		golden.Contains(t, query, pageAt(t, s, "/orders?"+query, http.StatusBadRequest), want)
	}
	if w.asked.Load() != 0 {
		t.Error("the index was asked about a filter with mistakes")
	}
	down := w.server(t, func(o *parts) {
		ordersOf(o).list = func(list.Filter, uint64, uint64) (query.List, error) { return query.List{}, query.ErrUnavailable }
	})
	golden.Contains(t, "the page without the index", pageAt(t, down, "/orders", http.StatusServiceUnavailable), "INDEX_UNAVAILABLE")
}

// TestListPageReadsAmountsInWholeTokens proves that the form's token, given by address, symbol or name, determines how
// many smallest units a whole one has.
func TestListPageReadsAmountsInWholeTokens(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	var page string
	for _, named := range []string{usdcText, "usdc", "+USD+Coin"} {
		page = pageAt(t, s, "/orders?from=8453&giveToken="+named+"&giveFrom=1.5&giveTo=20&to=8453&takeToken="+wethText+"&takeFrom=0.25&takeTo=2&usdFrom=0.25&usdTo=1000&receiver="+taker+"&sort=Largest&filter="+nobody, http.StatusOK)
		want := list.Filter{
			GiveChains: []chain.ID{8453}, GiveToken: address(t, usdcText), Receiver: address(t, taker), Sort: list.Largest,
			Given:      list.Amounts{From: new(chain.NewAmount(1_500_000)), To: new(chain.NewAmount(20_000_000))},
			TakeChains: []chain.ID{8453}, TakeToken: address(t, wethText),
			Taken: list.Amounts{From: new(chain.NewAmount(25e16)), To: new(chain.NewAmount(2e18))},
			USD:   list.Amounts{From: new(chain.NewAmount(250_000)), To: new(chain.NewAmount(1e9))}, Search: &list.Search{Address: address(t, nobody)},
		}
		golden.Same(t, named, want, w.lastList.Filter, sameFilter)
	}
	if !strings.Contains(page, `<option selected value="Largest">`) || !strings.Contains(page, `value="1.5"`) {
		t.Errorf("the form is not as it was filled in: %s", page)
	}
	for query, want := range map[string]string{
		"giveFrom=1":                          `id="giveFrom-fault">The amount needs a chain and one of its tokens.`,
		"giveToken=usdc":                      `id="giveToken-fault">The token must be an address, or with its chain the symbol or name`,
		"to=8453&takeToken=usd&takeTo=1":      `id="takeToken-fault">The token must be an address, or with its chain the symbol or name`,
		"from=8453&takeToken=&takeTo=1":       `id="takeTo-fault">The amount needs a chain`,
		"takeToken=" + usdcText + "&takeTo=1": `id="takeTo-fault">The amount needs a chain`,
		"usdFrom=much":                        `id="usdFrom-fault">The value must be an amount of USD`,
		"sort=Loudest":                        `id="sort-fault">The sort order must be one of`,
		"giveToken=0x12":                      `id="giveToken-fault">The token must be an address`,
		"from=8453&giveFrom=0.0000001&giveToken=" + usdcText: `id="giveFrom-fault">The amount has 7 decimals, and the token only 6.`,
	} {
		golden.Contains(t, query, pageAt(t, s, "/orders?"+query, http.StatusBadRequest), want)
	}
}

// TestExportStreamsTheWholeListOnce exports a list of three parts, to which a row is added meanwhile.
func TestExportStreamsTheWholeListOnce(t *testing.T) {
	w := newWorld(t)
	all := make([]*order.Order, 1200)
	for i := range all {
		all[i] = created(t, order.ID{1, byte(i >> 8), byte(i)}, createdTx, 1_795_000_000)
	}
	var fails error
	var reads atomic.Int64
	s := w.server(t, func(o *parts) {
		ordersOf(o).list = func(_ list.Filter, skip, take uint64) (query.List, error) {
			reads.Add(1)
			if skip > 0 {
				skip-- // one was added before the others
			}
			if skip > 600 && fails != nil {
				return query.List{}, fails
			}
			l := listOf(all[skip:min(skip+take, uint64(len(all)))]...)
			l.Total = uint64(len(all) + 1)
			return l, nil
		}
	})
	response := get(s, "/orders.csv?from=8453")
	rows, err := csv.NewReader(response.Body).ReadAll()
	if err != nil || len(rows) != 1201 || response.Header.Get("Content-Type") != "text/csv; charset=utf-8" || w.lastList.Filter.GiveChains[0] != 8453 {
		t.Fatalf("%d rows, %v, %v, of %+v", len(rows), err, response.Header, w.lastList.Filter)
	}
	want := []string{
		all[0].ID.String(), "order", "Created", "2026-11-18T11:06:40Z", "8453", usdcText, "USDC", "17.992800", "17992800",
	}
	if got := rows[1][:9]; !slices.Equal(got, want) {
		t.Errorf("row %v, want %v", got, want)
	}
	var objects []map[string]string
	response = get(s, "/orders.json")
	if err := json.NewDecoder(response.Body).Decode(&objects); err != nil || len(objects) != 1200 || objects[1199]["id"] != all[1199].ID.String() {
		t.Errorf("%d objects, %v", len(objects), err)
	}
	before := reads.Load()
	head := do(s, http.MethodHead, "/orders.csv")
	if head.StatusCode != http.StatusOK || head.Header.Get("Content-Type") != "text/csv; charset=utf-8" || reads.Load() != before {
		t.Errorf("HEAD: %d, %v, with %d readings of the list", head.StatusCode, head.Header, reads.Load()-before)
	}
	fails = query.ErrUnavailable
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	broken, err := http.Get(server.URL + "/orders.csv")
	if err != nil || broken.StatusCode != http.StatusOK {
		t.Fatal(broken, err)
	}
	defer broken.Body.Close()
	if text, err := io.ReadAll(broken.Body); err == nil {
		t.Errorf("an export that failed ends like a whole one, after %d bytes", len(text))
	}
}

// TestPagesOfATokenAndAnAddressListItsOrders checks which lists are shown, and where they link.
func TestPagesOfATokenAndAnAddressListItsOrders(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	for path, want := range map[string][]string{
		"/address/" + taker:       {"As maker", "As receiver", "As taker", `href="/orders?receiver=` + taker, `href="/locked/` + taker, `href="/order/` + order.ID{7}.String(), `href="/orders?maker=` + taker + `&amp;mode=SameChain"`},
		"/token/8453/" + usdcText: {"USDC on Base", "Given", "Received", `href="/orders?from=8453&amp;giveToken=` + usdcText, `href="/orders?takeToken=` + usdcText + `&amp;to=8453"`},
	} {
		page := pageAt(t, s, path, http.StatusOK)
		golden.Contains(t, path, page, want...)
	}
	for path, status := range map[string]int{
		"/address/0x12": 400, "/token/8453/0x12": 404, "/token/99/" + usdcText: 404, "/token/8453/So11111111111111111111111111111111111111112": 404,
		"/token/8453/0x" + strings.Repeat("Ab", 20): 404, // a wrong checksum
	} {
		wantStatus(t, path, get(s, path), status)
	}
}
