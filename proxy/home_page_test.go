package proxy_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/quota"
)

// TestStartPageIsFollowedForOneRequest follows the start page until a new order is on it and its ages have been
// refreshed, with a quota for one list.
func TestStartPageIsFollowedForOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, began := newWorld(t), uint64(time.Now().Unix())
		var isThere atomic.Bool
		client, stop := running(t, w, func(o *parts) {
			o.Quotas.Address = quota.Quota{Units: proxy.ListCost, Window: 24 * time.Hour}
			ordersOf(o).list = func(list.Filter, uint64, uint64) (query.List, error) {
				orders := slices.Clone(w.orders[createdTx])
				if isThere.Load() {
					orders = append(orders, created(t, order.ID{9}, createdTx, began))
				}
				return listOf(orders...), nil
			}
		})
		response, lines := streamOf(t, client, "/")
		if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Fatalf("Content-Type = %q", got)
		}
		if first := followedPage(t, lines); !strings.Contains(first, order.ID{7}.String()) || strings.Contains(first, order.ID{9}.String()) {
			t.Errorf("the first page: %s", first)
		}
		isThere.Store(true)
		since := time.Now()
		if second := followedPage(t, lines); !strings.Contains(second, order.ID{9}.String()) || time.Since(since) >= 10*time.Second {
			t.Errorf("after %s: %s", time.Since(since), second)
		}
		since = time.Now()
		followedPage(t, lines)
		if got := time.Since(since); got != 10*time.Second {
			t.Errorf("ages are refreshed after %s, want %s", got, 10*time.Second)
		}
		again, _ := streamOf(t, client, "/")
		wantError(t, again, http.StatusTooManyRequests, "QUOTA_EXCEEDED") // the first was all that there was
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// followedPage is the next page that a stream sends.
func followedPage(t *testing.T, lines *bufio.Scanner) (page string) {
	t.Helper()
	name, _, data, _ := event(t, lines)
	if err := json.Unmarshal([]byte(data), &page); name != "page" || err != nil {
		t.Fatalf("event %q: %v", name, err)
	}
	return page
}
