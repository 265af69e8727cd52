package price

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/recorded"
	"crossgate/token"
)

// fixtureTime is the current time in testdata/current.json.
var fixtureTime = time.Unix(1790000000, 0)

// serve returns a llama whose service is handler, and a function that returns the coins of each call so far.
func serve(t *testing.T, handler http.HandlerFunc) (llama, func() [][]string) {
	t.Helper()
	var (
		mu    sync.Mutex
		calls [][]string
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		coins, found := strings.CutPrefix(r.URL.Path, "/base/prices/current/")
		if !found || r.Method != http.MethodGet {
			t.Errorf("asked %s %s", r.Method, r.URL.Path)
		}
		mu.Lock()
		calls = append(calls, strings.Split(coins, ","))
		mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	l := llama{pool: pooltest.At(t, server.URL+"/base"), registry: chain.Documented(), now: func() time.Time { return fixtureTime }}
	return l, func() [][]string {
		mu.Lock()
		defer mu.Unlock()
		return calls
	}
}

func key(t *testing.T, id chain.ID, text string) token.Key {
	t.Helper()
	return token.Key{Chain: id, Address: must.Get(chain.ParseAddress(text, chain.Documented().Family(id)))(t)}
}

func native(id chain.ID) token.Key {
	return token.Key{Chain: id, Address: chain.NativeCoin(chain.Documented().Family(id))}
}

func TestDefiLlamaAsksOnceForEveryKey(t *testing.T) {
	fixture := must.Get(os.ReadFile("testdata/current.json"))(t)
	l, calls := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(fixture) })
	wrapped := key(t, 1, "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	usdc := key(t, 8453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	prices := must.Get(l.prices(t.Context(), time.Time{}, []token.Key{
		native(1), wrapped, usdc, native(100000014), native(100000025),
		native(137),        // its price is too old
		native(chain.Tron), // without confidence
		{Chain: 4, Address: usdc.Address},
		{Chain: 1},
		{Chain: 1, Address: chain.NewAddress(make([]byte, 255))}, // an order's arbitrary terms
		{Chain: 1, Address: chain.NativeCoin(chain.SVM)},
	}))(t)
	want := map[token.Key]string{
		native(1): "3000.25", wrapped: "3000.25", usdc: "0.99987", native(100000014): "0.5", native(100000025): "0.0000001234",
	}
	golden.Same(t, "prices", want, texts(prices))
	asked := [][]string{{
		"base:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
		"coingecko:sophon",
		"ethereum:0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
		"polygon:0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270",
		"sonic:0x039e2fb66102314ce7b64ce5ce3e5183bc94ad38",
		"tron:TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR",
	}}
	golden.Same(t, "calls", asked, calls())
}

// texts formats prices as the shortest decimals.
func texts(prices map[token.Key]*big.Rat) map[token.Key]string {
	texts := make(map[token.Key]string, len(prices))
	for key, usd := range prices {
		texts[key] = strings.TrimRight(usd.FloatString(12), "0")
	}
	return texts
}

func TestDefiLlamaSplitsAndKeepsWhatItGot(t *testing.T) {
	var keys []token.Key
	for i := range 170 {
		keys = append(keys, key(t, 1, fmt.Sprintf("0x%040x", i+1)))
	}
	l, calls := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, fmt.Sprintf("0x%040x", 1)) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		last := r.URL.Path[strings.LastIndexByte(r.URL.Path, ',')+1:]
		_, _ = fmt.Fprintf(w, `{"coins":{%q:{"price":2,"timestamp":1790000000}}}`, last)
	})
	prices, err := l.prices(t.Context(), time.Time{}, keys)
	if err == nil {
		t.Error("prices = no error, want that of the refused call")
	}
	if len(prices) != 2 {
		t.Errorf("prices = %v, want those of the two calls that went well", prices)
	}
	var sizes []int
	for _, coins := range calls() {
		sizes = append(sizes, len(coins))
	}
	slices.Sort(sizes)
	if !slices.Equal(sizes, []int{10, 80, 80}) {
		t.Errorf("coins per call = %v, want 10, 80, 80", sizes)
	}
}

func TestReadPricesTakesPricesAlone(t *testing.T) {
	for body, isAnswer := range map[string]bool{
		"": false, "null": false, "{}": false, "[]": false, "<html></html>": false, `{"coins":null}`: false, `{"coins":[]}`: false,
		`{"coins":{"a":{"price":"1"}}}`: false, `{"coins":{"a":{"price":1e999}}}`: false,
		`{"coins":{"a":{"price":0,"timestamp":1790000000}}}`:  true,
		`{"coins":{"a":{"price":-1,"timestamp":1790000000}}}`: true,
		`{"coins":{"a":{"timestamp":1790000000}}}`:            true,
		`{"coins":{"a":{"price":1}}}`:                         true,
		`{"coins":{"a":{"price":1,"timestamp":1789999399}}}`:  true,

		`{"coins":{"a":{"price":1,"timestamp":1790000000,"confidence":0.79}}}`: true,
	} {
		if prices, err := readPrices([]byte(body), fixtureTime, maxPriceAge); len(prices) != 0 || isAnswer != (err == nil) {
			t.Errorf("readPrices(%s) = %v, %v, want nothing, an answer: %t", body, prices, err, isAnswer)
		}
	}
}

func TestEveryDocumentedChainHasAName(t *testing.T) {
	l := llama{registry: chain.Documented()}
	for _, c := range chain.Documented().All() {
		if coin := l.coin(native(c.ID)); coin == "" {
			t.Errorf("the coin of %s has no name at the service", c.Name)
		}
	}
}

func FuzzReadPrices(f *testing.F) {
	f.Add([]byte(`{"coins":{"a":{"price":1e-300,"timestamp":1790000000,"confidence":1}}}`))
	f.Add([]byte(`{"coins":{"a":{"price":1e308,"timestamp":1790000000}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		prices, _ := readPrices(body, fixtureTime, maxPriceAge)
		for coin, usd := range prices {
			if usd.Sign() <= 0 {
				t.Errorf("price of %q = %s", coin, usd)
			}
		}
	})
}

func TestReadPricesOfTheService(t *testing.T) {
	for _, each := range []struct {
		name string
		now  int64
		want map[string]string
	}{
		{"defillama-prices-current-two-tokens.json", 1667555300, map[string]string{
			"ethereum:0x419d0d8bdd9af5e606ae2232ed285aff190e711b": "0.00756368",
			"ethereum:0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2": "1582.85",
		}},
		{"defillama-prices-current-coingecko-id.json", 1791178960, map[string]string{"coingecko:ethereum": "2701.406622981317"}},
	} {
		var file struct {
			Response struct{ Body json.RawMessage }
		}
		recorded.JSON(t, "recorded/chains/"+each.name, &file)
		prices := must.Get(readPrices(file.Response.Body, time.Unix(each.now, 0), maxPriceAge))(t)
		got := map[string]string{}
		for coin, usd := range prices {
			got[coin] = strings.TrimRight(usd.FloatString(15), "0")
		}
		golden.Same(t, each.name, each.want, got)
	}
}

func TestDefiLlamaPastIsOfTheTimeAskedFor(t *testing.T) {
	at := fixtureTime.Add(-1000 * time.Hour)
	pool := pooltest.Of(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := fmt.Sprintf("/prices/historical/%d/", at.Unix()); !strings.HasPrefix(r.URL.Path, want) || r.URL.Query().Get("searchWidth") != "1h" {
			t.Errorf("asked %s, want %s", r.URL, want)
		}
		_, _ = fmt.Fprintf(w, `{"coins":{"tron:TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR":{"price":0.1,"timestamp":%d},`+
			`"base:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913":{"price":1,"timestamp":%d}}}`, at.Add(time.Hour).Unix(), at.Add(-61*time.Minute).Unix())
	}))
	past := DefiLlamaPast(pool, chain.Documented())
	prices, err := past(t.Context(), at, []token.Key{native(chain.Tron), key(t, 8453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")})
	if diff := cmp.Diff(map[token.Key]string{native(chain.Tron): "0.1"}, texts(prices)); err != nil || diff != "" {
		t.Errorf("prices, %v (-want +got):\n%s", err, diff)
	}
}
