package gateway

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
)

const listTaker = "0x00000000000000000000000000000000000000aa"

// lister is an origin that lists orders; a new one comes before each page but the first.
type lister struct {
	orders int
	total  int // that it says to have; 0: as many as there are
	status int // 0: OK
	asked  []uint64
}

func listedID(number int) order.ID { return order.ID{30: byte(number >> 8), 31: byte(number)} }

func (l *lister) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	var q struct {
		UnlockAuthorities string
		Skip, Take        uint64
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/api/Orders/filteredList" || q.UnlockAuthorities != listTaker {
		http.Error(out, "no such list", http.StatusNotFound)
		return
	}
	if l.status != 0 {
		out.WriteHeader(l.status)
		return
	}
	if len(l.asked) > 0 {
		l.orders++
	}
	l.asked = append(l.asked, q.Skip)
	var items []string
	for number := l.orders - int(q.Skip); number > 0 && len(items) < int(q.Take); number-- { // the newest first
		items = append(items, fmt.Sprintf(`{"orderId": {"stringValue": %q}, "state": "Fulfilled"}`, listedID(number)))
	}
	total := l.orders
	if l.total > 0 {
		total = l.total
	}
	fmt.Fprintf(out, `{"orders": [%s], "totalCount": %d}`, strings.Join(items, ","), total)
}

func TestOrdersOfAnOriginAreListedPageByPage(t *testing.T) {
	taker, family, err := chain.ParseAnyAddress(listTaker)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		origin lister
		host   string
		asked  []uint64
		wrong  string
	}{
		{"none", lister{}, "", []uint64{0}, ""},
		{"one page", lister{orders: 100}, "orders", []uint64{0}, ""},
		{"several, while the list grows", lister{orders: 250}, "", []uint64{0, 100, 200}, ""},
		{"fewer than it says", lister{orders: 20, total: 500}, "", []uint64{0, 20}, "nothing new on the page"},
		{"refused", lister{status: http.StatusForbidden}, "", nil, "status 403"},
		{"of another name", lister{}, "swaps", nil, `"swaps" is not configured`},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(&test.origin)
			defer server.Close()
			c, err := config.Parse([]byte(`{chains: [{id: 1, endpoints: [{url: "http://127.0.0.1:9"}]}], passthrough: {hosts: [{name: orders, endpoints: [{url: "` + server.URL + `"}]}]}}`))
			if err != nil {
				t.Fatal(err)
			}
			first := test.origin.orders
			ids, err := ListOrders(t.Context(), c, slog.New(slog.DiscardHandler), test.host, taker, family)
			if !slices.Equal(test.origin.asked, test.asked) {
				t.Errorf("asked for pages after %v, want after %v", test.origin.asked, test.asked)
			}
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("%v, want %q in it", err, test.wrong)
				}
				return
			}
			if err != nil || len(ids) != first {
				t.Fatalf("%d orders, %v, want %d", len(ids), err, first)
			}
			for number := first; number > 0; number-- {
				if !slices.Contains(ids, listedID(number)) {
					t.Errorf("order %d is not among them", number)
				}
			}
		})
	}
}

// FuzzReadListedPage has whatever is read written as an origin would, and read again.
func FuzzReadListedPage(f *testing.F) {
	f.Add([]byte(`{"orders": [{"orderId": {"stringValue": "` + listedID(1).String() + `"}}], "totalCount": 1}`))
	f.Add([]byte(`{"orders": null, "totalCount": 0}`))
	f.Add([]byte(`{"orders": [{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := readListedPage(body)
		if err != nil {
			return
		}
		items := make([]string, len(page.ids))
		for i, id := range page.ids {
			items[i] = fmt.Sprintf(`{"orderId": {"stringValue": %q}}`, id)
		}
		again, err := readListedPage(fmt.Appendf(nil, `{"orders": [%s], "totalCount": %d}`, strings.Join(items, ","), page.total))
		if err != nil || again.total != page.total || !slices.Equal(again.ids, page.ids) {
			t.Errorf("%q → %v → %v, %v", body, page, again, err)
		}
	})
}
