package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/upstream"
)

// idText returns an order's ID in lower case.
func idText(first byte) string { return order.ID{first}.String() }

func TestOrderIsFoundByItsID(t *testing.T) {
	s := newWorld(t).server(t)
	want := string(body(t, get(s, ordersPath+claimedTx)))
	id := idText(8)
	for _, target := range []string{
		"/api/Orders/" + id,
		"/api/orders/0x" + strings.ToUpper(id[2:]) + "/?t=1784948713",
	} {
		response := get(s, target)
		if got := string(body(t, response)); response.StatusCode != http.StatusOK || got != want {
			t.Errorf("GET %s: HTTP %d, another record than by its transaction: %.80s", target, response.StatusCode, got)
		}
		if got := response.Header.Get("Cache-Control"); got != keptLong {
			t.Errorf("Cache-Control of a settled order = %q", got)
		}
	}
}

func TestUnknownOrderTellsHowFarTheIndexIs(t *testing.T) {
	for want, lag := range map[string]map[chain.ID]order.Lag{
		"the index has read all chains to their newest blocks; orders from before": {1: {Head: 9, Indexed: 9, IndexedTime: 1_784_948_713}},
		"read all chains up to 2026-07-25T03:05:13Z at least;":                     {1: {Head: 9, Indexed: 8, IndexedTime: 1_784_948_713}, 10: {Head: 9, Indexed: 9}},
		"read all chains but 10, 8453 up to 2026-07-25T03:05:13Z at least;":        {1: {Head: 9, Indexed: 8, IndexedTime: 1_784_948_713}, 10: {}, 8453: {Head: 7}},
		"read all chains but 137 to their newest blocks;":                          {1: {Head: 9, Indexed: 9}, 137: {}},
	} {
		w := newWorld(t)
		for _, id := range slices.Sorted(maps.Keys(lag)) {
			w.basis = append(w.basis, followed(id, lag[id]))
		}
		response := get(w.server(t), "/api/Orders/"+unknownIs)
		golden.Contains(t, fmt.Sprint(lag), wantError(t, response, http.StatusNotFound, "UNKNOWN_ORDER").Message, want)
		if got := response.Header.Get("Cache-Control"); got != "public, max-age=1" {
			t.Errorf("Cache-Control = %q, want a second", got)
		}
	}
}

// TestOrderByIDWithoutTheIndex: only the index knows an ID, unless its transaction was requested. An unreadable index
// is not this server's mistake, and its outage is logged elsewhere.
func TestOrderByIDWithoutTheIndex(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) {
		ordersOf(o).byID = func(context.Context, order.ID) (*order.Order, error) {
			return nil, fmt.Errorf("%w: no answer", query.ErrUnavailable)
		}
	})
	for _, path := range []string{"/api/Orders/" + idText(8), "/v1.0/dln/order/" + idText(8) + "/status"} {
		response := get(s, path)
		wantError(t, response, http.StatusServiceUnavailable, "INDEX_UNAVAILABLE")
		if response.Header.Get("Retry-After") == "" {
			t.Errorf("GET %s: no Retry-After", path)
		}
	}
	if strings.Contains(w.log.String(), `"level":"ERROR"`) {
		t.Errorf("the log has an error for each request:\n%s", w.log.String())
	}
	wantStatus(t, "by its transaction", get(s, ordersPath+claimedTx), http.StatusOK)
	wantStatus(t, "by its id once its transaction was found", get(s, "/api/Orders/"+idText(8)), http.StatusOK)
}

// TestNotFoundIsNotToldWhileAChainIsUnheard covers every path, and requires the answer to identify the chain.
func TestNotFoundIsNotToldWhileAChainIsUnheard(t *testing.T) {
	unheard := &query.UnheardError{UnreachableError: query.UnreachableError{
		Chains: []chain.ID{137, 7565164}, Err: &upstream.Error{Class: upstream.Timeout, Endpoint: secret},
	}}
	w, asked := newWorld(t), 0
	s := w.server(t, func(o *parts) {
		ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) { asked++; return nil, unheard }
	})
	paths := []string{
		ordersPath + unknownIs, "/api/Transaction/" + unknownIs + "/orderIds", "/api/Transaction/" + unknownIs + "/liteModels",
		"/v1.0/dln/tx/" + unknownIs + "/order-ids",
	}
	for range 2 {
		for _, path := range paths {
			response := get(s, path)
			e := wantError(t, response, http.StatusServiceUnavailable, "CHAIN_UNREACHABLE")
			if !strings.Contains(e.Message, "137, 7565164") || strings.Contains(e.Message, secret) {
				t.Errorf("%s: %q", path, e.Message)
			}
			header := response.Header
			if header.Get("X-Chains-Unheard") != "137, 7565164" || header.Get("Cache-Control") != "no-store" || header.Get("Retry-After") == "" {
				t.Errorf("%s: %v", path, header)
			}
		}
	}
	if asked != 2*len(paths) {
		t.Errorf("asked %d times, want %d", asked, 2*len(paths))
	}
}

// TestOrderThatIsRememberedIsNotCalledUnknown proves that an order, once found, exists whatever chains answer.
func TestOrderThatIsRememberedIsNotCalledUnknown(t *testing.T) {
	w, isDown := newWorld(t), false
	w.unindexed = map[order.ID]bool{{11}: true}
	s := w.server(t, func(o *parts) {
		orders := ordersOf(o)
		find := orders.find
		orders.find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
			if isDown {
				return nil, &query.UnheardError{UnreachableError: query.UnreachableError{Chains: []chain.ID{1}, Err: errors.New("down")}}
			}
			return find(ctx, tx)
		}
	})
	wantStatus(t, "order ids", get(s, "/api/Transaction/"+severalTx+"/orderIds"), http.StatusOK)
	isDown = true
	order := "/v1.0/dln/order/" + idText(11)
	for _, path := range []string{
		"/api/Orders/" + idText(11), order + "/status", order + "/cancel-tx", order + "/extcall-cancel-tx",
		"/v1.0/dln/order/unlock-tx?orderIds=" + idText(11) + "&unlockBeneficiary=" + taker,
	} {
		wantError(t, get(s, path), http.StatusServiceUnavailable, "CHAIN_UNREACHABLE")
	}
}

func TestOrderIDsAreAlwaysAList(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	for tx, want := range map[string]struct {
		ids  []string
		kept string
	}{
		severalTx:                    {[]string{idText(10), idText(11), idText(12)}, keptAWhile},
		claimedTx:                    {[]string{idText(8)}, keptLong},
		plainTx:                      {[]string{}, "public, max-age=1"},
		unknownIs:                    {[]string{}, "public, max-age=1"},
		strings.ToUpper(plainTx[2:]): {[]string{}, "public, max-age=1"},
	} {
		values, texts := get(s, "/api/Transaction/"+tx+"/orderIds"), get(s, "/V1.0/DLN/tx/"+tx+"/order-ids/")
		var asValues struct {
			OrderIDs []struct{ StringValue string }
		}
		var asTexts struct{ OrderIDs []string }
		raw := body(t, values)
		must.Do(t, errors.Join(json.Unmarshal(raw, &asValues), json.Unmarshal(body(t, texts), &asTexts)))
		if asValues.OrderIDs == nil || asTexts.OrderIDs == nil {
			t.Errorf("%s: no list: %s", tx, raw)
		}
		for i, id := range want.ids {
			if asValues.OrderIDs[i].StringValue != id || asTexts.OrderIDs[i] != id {
				t.Errorf("%s: %+v and %+v, want %v", tx, asValues, asTexts, want.ids)
			}
		}
		if len(asValues.OrderIDs) != len(want.ids) || len(asTexts.OrderIDs) != len(want.ids) {
			t.Errorf("%s: %d and %d ids, want %d", tx, len(asValues.OrderIDs), len(asTexts.OrderIDs), len(want.ids))
		}
		for _, response := range []*http.Response{values, texts} {
			if got := response.Header.Get("Cache-Control"); got != want.kept {
				t.Errorf("%s: Cache-Control = %q, want %q", tx, got, want.kept)
			}
		}
	}
}
