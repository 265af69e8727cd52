package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/orders"
)

const (
	listPath   = "/api/Orders/filteredList"
	unlockPath = "/api/Orders/getForUnlockAuthorities"
	solanaText = "Hxro1uJ4pQ5hkhrYQpA2bhvVV1nFQv8H8PNGU1bbtiTK"
)

// post sends a body and returns the response.
func post(s *site, path, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json-patch+json")
	answer := httptest.NewRecorder()
	s.Handler().ServeHTTP(answer, request)
	return answer
}

// part is orders.Part without field names.
type part struct {
	Filter     list.Filter
	Skip, Take uint64
	Mode       orders.ListMode
}

// TestListsReadEveryMember sends bodies as clients do, and some with members that are only documented.
func TestListsReadEveryMember(t *testing.T) {
	who, other := address(t, taker), address(t, nobody)
	code := uint32(31805)
	solana := must.Get(chain.ParseAddress(solanaText, chain.SVM))(t)
	hash := must.Get(chain.ParseTxHash(createdTx))(t)
	search := func(text string) string { return `{"filter":"` + text + `"}` }
	for body, want := range map[string]part{
		`{}`: {Take: 20, Mode: orders.CrossChain},
		`{"giveChainIds":[],"takeChainIds":null,"orderStates":null,"filter":"","maker":"","referralCode":"","skip":0,"take":100}`: {Take: 100, Mode: orders.CrossChain},
		`{"skip":7,"take":1000,"maker":"` + taker + `","filterMode":"CrossChain","unknown":{}}`:                                   {list.Filter{Maker: who}, 7, 100, orders.CrossChain},
		`{"giveChainIds":[1,137,250],"takeChainIds":["56"],"orderStates":["Created","claimedunlock"],"externalCallStates":["NoExtCall"],"take":1}`: {list.Filter{
			GiveChains: []chain.ID{1, 137, 250}, TakeChains: []chain.ID{56},
			States: []order.State{order.StateCreated, order.StateClaimedUnlock}, Calls: []order.ExternalCallState{order.NoExtCall},
		}, 0, 1, orders.CrossChain},
		`{"blockTimestampFrom":1758806388,"blockTimestampTo":1758806399,"referralCode":31805,"orderTradeType":"Market"}`: {list.Filter{
			Since: 1758806388, Until: 1758806399, ReferralCode: &code, TradeType: "Market",
		}, 0, 20, orders.CrossChain},
		`{"orderTradeType":" mARKET","filterMode":" crosschain "}`: {list.Filter{TradeType: "Market"}, 0, 20, orders.CrossChain},
		`{"orderTradeType":"","orderStates":[" \u0063reated"],"externalCallStates":" failed"}`: {list.Filter{
			States: []order.State{order.StateCreated}, Calls: []order.ExternalCallState{order.Failed},
		}, 0, 20, orders.CrossChain},
		`{"Creator":"` + taker + `","FULFILLER":"` + nobody + `","referralCode":"31805"}`: {list.Filter{Creator: who, Fulfiller: other, ReferralCode: &code}, 0, 20, orders.CrossChain},
		`{"orderAuthorityInSourceChain":"` + taker + `","orderAuthorityInDestinationChain":"` + solanaText + `","unlockAuthorities":"` + taker + ` ` + nobody + `"}`: {list.Filter{
			GiveAuthority: who, OrderAuthority: solana, UnlockAuthorities: []chain.Address{who, other},
		}, 0, 20, orders.CrossChain},
		`{"giveChainIds":[137,1,137,"1"],"orderStates":["Created","created"],"unlockAuthorities":"` + taker + ` ` + taker + `"}`: {list.Filter{
			GiveChains: []chain.ID{137, 1}, States: []order.State{order.StateCreated}, UnlockAuthorities: []chain.Address{who},
		}, 0, 20, orders.CrossChain},
		`{"orderStates":["None"]}`:                                {list.Filter{States: []order.State{order.None}}, 0, 20, orders.CrossChain},
		`{"filterMode":"sameChain","maker":"` + taker + `"}`:      {list.Filter{Maker: who}, 0, 20, orders.SameChain},
		`{"filterMode":"MIXED","maker":"` + taker + `","skip":3}`: {list.Filter{Maker: who}, 3, 20, "Mixed"},
		search(taker):                             {list.Filter{Search: &list.Search{Address: who}}, 0, 20, orders.CrossChain},
		search(createdTx):                         {list.Filter{Search: &list.Search{Tx: hash, Order: order.ID(hash.Bytes())}}, 0, 20, orders.CrossChain},
		search(createdTx[2:]):                     {list.Filter{Search: &list.Search{Tx: hash, Order: order.ID(hash.Bytes())}}, 0, 20, orders.CrossChain},
		search(strings.ToUpper(createdTx)):        {list.Filter{Search: &list.Search{Tx: hash, Order: order.ID(hash.Bytes())}}, 0, 20, orders.CrossChain},
		search("0X" + strings.ToUpper(taker[2:])): {list.Filter{Search: &list.Search{Address: who}}, 0, 20, orders.CrossChain},
		search("anything"):                        {list.Filter{Search: &list.Search{}}, 0, 20, orders.CrossChain},
		`{"take":1,"TAKE":2,"Take":3}`:            {Take: 3, Mode: orders.CrossChain},
		`{"take":3,"TAKE":null}`:                  {Take: 20, Mode: orders.CrossChain},
	} {
		w := newWorld(t)
		if answer := post(w.server(t), listPath, body); answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", body, answer.Code, answer.Body)
			continue
		}
		if got := w.lastList; !reflect.DeepEqual(got, orders.Part(want)) {
			t.Errorf("%s\n is %+v,\nwant %+v", body, got, want)
		}
	}
}

// TestPartsOfAnUnindexedTransaction pages through orders of which two have no known creation.
func TestPartsOfAnUnindexedTransaction(t *testing.T) {
	w := newWorld(t)
	for _, i := range []int{0, 2} {
		uncreated := *w.orders[severalTx][i]
		uncreated.Created = nil
		w.orders[severalTx] = slices.Insert(w.orders[severalTx], i, &uncreated)
	}
	s := w.server(t, func(p *parts) {
		ordersOf(p).list = func(list.Filter, uint64, uint64) (query.List, error) { return query.List{}, nil }
	})
	for part, want := range map[string]string{
		`"take":1`:                            idText(10),
		`"skip":1,"take":1,"sort":"Oldest"`:   idText(11),
		`"skip":1,"take":20,"sort":"Largest"`: idText(11) + " " + idText(12),
		`"skip":3`:                            "",
	} {
		var got struct {
			Orders     []struct{ OrderID struct{ StringValue string } }
			TotalCount int
		}
		must.Do(t, json.Unmarshal(post(s, listPath, `{"filter":"`+severalTx+`",`+part+`}`).Body.Bytes(), &got))
		ids := []string{}
		for _, o := range got.Orders {
			ids = append(ids, o.OrderID.StringValue)
		}
		if strings.Join(ids, " ") != want || got.TotalCount != 3 {
			t.Errorf("%s: %v of %d, want %s of 3", part, ids, got.TotalCount, want)
		}
	}
}

// TestListsAreAskedByPost covers paths in any case, cached answers to equal questions, and other methods.
func TestListsAreAskedByPost(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	for _, path := range []string{listPath, "/API/orders/FILTEREDLIST/", "/api/Orders/filteredlist"} {
		if answer := post(s, path, `{"take":5, "maker":"`+taker+`"}`); answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	if asked := w.asked.Load(); asked != 1 {
		t.Errorf("one question three times was asked of the index %d times, want once", asked)
	}
	answer := post(s, ordersPath+createdTx, `{}`)
	if allow := answer.Header().Get("Allow"); answer.Code != http.StatusMethodNotAllowed || strings.Contains(allow, "POST") {
		t.Errorf("POST of a path without a body: %d, Allow %q", answer.Code, allow)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut} {
		answer := do(s, method, "/api/Orders/FilteredList/")
		if allow := answer.Header.Get("Allow"); answer.StatusCode != http.StatusMethodNotAllowed || allow != "POST, OPTIONS" {
			t.Errorf("%s of a list: %d, Allow %q, want 405 and POST", method, answer.StatusCode, allow)
		}
	}
	if answer := post(s, listPath, `{"filter":"`+strings.Repeat("x", proxy.BodyBytes)+`"}`); answer.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body that is too long: %d", answer.Code)
	}
}

// TestOrdersInEveryForm requests one order on each path that returns a form of it.
func TestOrdersInEveryForm(t *testing.T) {
	s := newWorld(t).server(t)
	id := order.ID{7}.String()
	for path, want := range map[string]string{
		"/v1.0/dln/order/" + id:                          `{"orderId":"` + id + `","status":"Created","orderStruct":{"makerOrderNonce":`,
		"/v1.0/dln/order/" + id + "/status":              `{"orderId":"` + id + `","status":"Created"}`,
		"/api/Orders/" + id + "/state":                   `"Created"`,
		"/api/orders/" + id + "/LITEMODEL":               `{"orderId":{"bytesValue":`,
		"/v1.0/dln/order/0x12":                           `{"errorCode":2,"errorId":"INVALID_QUERY_PARAMETERS","message":"an order id must be 0x`,
		"/v1.0/dln/order/" + unknownIs:                   `{"errorCode":15,`,
		"/api/Transaction/" + createdTx + "/liteModels":  `[{"orderId":{"bytesValue":`,
		"/api/Transaction/" + plainTx + "/liteModels":    `[]`,
		"/api/Transaction/" + unknownIs + "/litemodels/": `[]`,
		"/api/Transaction/0x12/liteModels":               `{"errorCode":400,"errorId":"MALFORMED_TRANSACTION_HASH",`,
		"/api/Orders/" + unknownIs + "/state":            `{"errorCode":404,`,
	} {
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if !strings.HasPrefix(answer.Body.String(), want) {
			t.Errorf("%s: %s, want %s…", path, answer.Body, want)
		}
	}
}

// TestBatchesAnswerEach requests orders by ID and by creation, invalid ones, one that cannot be read, and too many.
func TestBatchesAnswerEach(t *testing.T) {
	s := newWorld(t).server(t, func(o *parts) {
		a := ordersOf(o)
		byID := a.byID
		a.byID = func(ctx context.Context, id order.ID) (*order.Order, error) {
			if id == (order.ID{10}) {
				return nil, query.ErrUnavailable
			}
			return byID(ctx, id)
		}
	})
	ask := func(body string) *http.Response {
		return serve(s, httptest.NewRequest(http.MethodPost, "/api/Orders/batch", strings.NewReader(body)))
	}
	ids := []string{createdTx, idText(7), unknownIs, "0x12", claimedTx, plainTx, createdTx, idText(10)}
	response := ask(`{"ids":["` + strings.Join(ids, `","`) + `"]}`)
	var got struct {
		Items []struct {
			ID, State string
			Order     struct{ State string }
			Problem   struct{ ErrorID string }
		}
	}
	must.Do(t, json.NewDecoder(response.Body).Decode(&got))
	var states, problems []string
	for i, item := range got.Items {
		if item.ID != ids[i] || item.State != item.Order.State {
			t.Errorf("item %d: %+v, want that of %s", i, item, ids[i])
		}
		states, problems = append(states, item.State), append(problems, item.Problem.ErrorID)
	}
	if want := "Created Created   ClaimedUnlock  Created "; strings.Join(states, " ") != want {
		t.Errorf("states %q, want %q", states, want)
	}
	if want := "  TRANSACTION_NOT_FOUND MALFORMED_TRANSACTION_HASH  TRANSACTION_WITHOUT_ORDER  INDEX_UNAVAILABLE"; strings.Join(problems, " ") != want {
		t.Errorf("problems %q, want %q", problems, want)
	}
	for _, body := range []string{`{}`, `{"ids":[]}`, `[]`, `{"ids":["` + strings.Repeat(`0x12","`, 100) + `0x12"]}`} {
		wantError(t, ask(body), http.StatusBadRequest, "INVALID_BODY")
	}
}
