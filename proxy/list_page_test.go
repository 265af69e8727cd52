package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
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
	if diff := cmp.Diff(want, w.lastList.Filter, cmp.Comparer(func(a, b chain.Address) bool { return a == b })); diff != "" {
		t.Errorf("filter differs (-want +got):\n%s", diff)
	}
	if got := w.lastList; got.Skip != 25 || got.Take != 25 || got.Mode != orders.CrossChain {
		t.Errorf("part %+v", got)
	}
	for _, want := range []string{
		`<option value="8453" selected>`, `<option value="Created" selected>`, `value="` + nobody + `"`, `value="2026-11-21"`, `href="/order/` + order.ID{7}.String(), "curl -d &#39;{",
	} {
		if !strings.Contains(strings.ReplaceAll(page, "curl -d '{", "curl -d &#39;{"), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestListPageListsSwapsWithinAChain(t *testing.T) {
	w := newWorld(t)
	page := pageAt(t, w.server(t), "/orders?mode=SameChain&from=8453", http.StatusOK)
	if !strings.Contains(page, `href="/swap/`+order.ID{0x5a, 1}.String()) || w.lastList.Mode != orders.SameChain || strings.Contains(page, `name="state"`) {
		t.Errorf("mode %s: %s", w.lastList.Mode, page)
	}
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
		if page := pageAt(t, s, "/orders?"+query, http.StatusBadRequest); !strings.Contains(page, want) {
			t.Errorf("%s: the page lacks %s", query, want)
		}
	}
	if w.asked.Load() != 0 {
		t.Error("the index was asked about a filter with mistakes")
	}
	down := w.server(t, func(o *parts) {
		ordersOf(o).list = func(list.Filter, uint64, uint64) (query.List, error) { return query.List{}, query.ErrUnavailable }
	})
	if page := pageAt(t, down, "/orders", http.StatusServiceUnavailable); !strings.Contains(page, "INDEX_UNAVAILABLE") {
		t.Errorf("without the index: %s", page)
	}
}
