package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"crossgate/chain"
	"crossgate/order"
)

// untouched is one world for all the tests that only look at it.
var untouched *World

func TestMain(m *testing.M) {
	w, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	untouched = w
	status := m.Run()
	if err := w.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// grown is one world for the tests that send transactions to it, and make it fail until they end: what one of them adds
// does not matter to the next. It lives as long as the process.
func grown(t *testing.T) *World {
	t.Helper()
	w, err := startGrown()
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	return w
}

var startGrown = sync.OnceValues(func() (*World, error) { return Start(context.Background(), Options{}) })

// open starts a world that ends with the test.
func open(t *testing.T, o Options) *World {
	t.Helper()
	w, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return w
}

// request makes an HTTP request with a JSON body, if there is one, and returns status and body.
func request(t *testing.T, method, url string, body any) (int, []byte) {
	t.Helper()
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		sent = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, sent)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answered, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer answered.Body.Close()
	text, err := io.ReadAll(answered.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return answered.StatusCode, text
}

func TestHistoryShowsEveryStateAChainCanShow(t *testing.T) {
	w := untouched
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[order.State]int{}
	for _, o := range orders {
		state, err := w.State(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		seen[state]++
		if o.Title == "" {
			t.Errorf("order %s has no title", o.ID)
		}
	}
	for _, state := range []order.State{
		order.StateCreated, order.StateFulfilled, order.StateSentUnlock, order.StateClaimedUnlock,
		order.StateSentOrderCancel, order.StateClaimedOrderCancel,
	} {
		if seen[state] < 2 {
			t.Errorf("%d orders in state %s, want several", seen[state], state)
		}
	}
	if seen[order.None] > 0 {
		t.Errorf("%d orders in no state", seen[order.None])
	}
}

func TestTwoStartsGiveTheSameWorld(t *testing.T) {
	type fixed struct {
		ID                common.Hash
		CreationTx, Title string
	}
	tell := func(now time.Time) (orders []fixed, keys []string) {
		w := open(t, Options{Now: func() time.Time { return now }})
		found, err := w.Orders(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range found {
			orders = append(orders, fixed{o.ID, o.CreationTx.String(), o.Title})
		}
		for _, a := range w.Accounts() {
			keys = append(keys, a.PrivateKey())
		}
		return orders, keys
	}
	firstOrders, firstKeys := tell(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	secondOrders, secondKeys := tell(time.Date(2027, 6, 5, 4, 3, 2, 0, time.UTC))
	if diff := cmp.Diff(firstOrders, secondOrders); diff != "" {
		t.Errorf("orders of the first start and of the second:\n%s", diff)
	}
	if diff := cmp.Diff(firstKeys, secondKeys); diff != "" {
		t.Errorf("keys of the first start and of the second:\n%s", diff)
	}
}

func TestHistoryEndsAtThePresent(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	w := open(t, Options{Now: func() time.Time { return now }})
	for _, c := range w.Chains() {
		first, err := c.node.client.HeaderByNumber(t.Context(), common.Big1)
		if err != nil {
			t.Fatal(err)
		}
		head, err := c.node.client.HeaderByNumber(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if at := time.Unix(int64(first.Time), 0); at.Before(now.Add(-historyLength)) || at.After(now.Add(-time.Hour)) {
			t.Errorf("chain %s: first block at %s, want within the first hour of history before %s", c.Facts.ID, at, now)
		}
		if at := time.Unix(int64(head.Time), 0); at.After(now) || at.Before(now.Add(-time.Hour)) {
			t.Errorf("chain %s: head at %s, want within the hour before %s", c.Facts.ID, at, now)
		}
	}
}

func TestWorldIsShownAsDocumented(t *testing.T) {
	w := untouched
	status, body := request(t, http.MethodGet, w.URL()+"/sandbox/world", nil)
	if status != http.StatusOK {
		t.Fatalf("GET /sandbox/world = %d %s", status, body)
	}
	var shown map[string][]map[string]any
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(body, &rest); err != nil {
		t.Fatal(err)
	}
	delete(rest, "prices")
	delete(rest, "faults")
	lists, err := json.Marshal(rest)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(lists, &shown); err != nil {
		t.Fatal(err)
	}
	for list, keys := range map[string][]string{
		"chains":   {"id", "evmChainId", "rpc", "dlnSource", "dlnDestination", "multicall3"},
		"orders":   {"chainId", "takeChainId", "creationTxHash", "orderId", "state"},
		"takers":   {"address"},
		"tokens":   {"chainId", "address", "symbol", "decimals"},
		"pools":    {"chainId", "address", "token0", "token1", "feeBps"},
		"accounts": {"address", "privateKey"},
		"venues":   {"name", "url"},
	} {
		if len(shown[list]) == 0 {
			t.Errorf("%s is empty", list)
		}
		for _, element := range shown[list] {
			for _, key := range keys {
				if _, ok := element[key]; !ok {
					t.Errorf("%s: element %v has no %s", list, element, key)
				}
			}
		}
	}
	if ids := shown["chains"][3]; ids["id"] != 100000014.0 || ids["evmChainId"] != 146.0 {
		t.Errorf("fourth chain has ids %v and %v, want Sonic's 100000014 and 146", ids["id"], ids["evmChainId"])
	}
	if len(shown["venues"]) < 3 {
		t.Errorf("venues = %v, want several", shown["venues"])
	}
}

// TestPoolsOfEveryChainAreShown wants every pool to be of two tokens that are shown for its chain, and Solana's to lie
// where the ledger has them.
func TestPoolsOfEveryChainAreShown(t *testing.T) {
	v := shown(t, untouched)
	tokens, pools := map[chain.ID][]string{}, map[chain.ID]int{}
	for _, each := range v.Tokens {
		tokens[each.ChainID] = append(tokens[each.ChainID], each.Address)
	}
	for _, p := range v.Pools {
		pools[p.ChainID]++
		known := tokens[p.ChainID]
		if !slices.Contains(known, p.Token0) || !slices.Contains(known, p.Token1) || p.Token0 == p.Token1 {
			t.Errorf("pool %+v is not of two tokens that are shown for its chain", p)
		}
		if p.ChainID == chain.Solana && !isPool(t, p) {
			t.Errorf("Solana has no account of a pool at %s", p.Address)
		}
	}
	for _, each := range v.Chains {
		if pools[each.ID] == 0 {
			t.Errorf("chain %d is shown without pools", each.ID)
		}
	}
}

// isPool asks Solana's RPC whether a pool is there.
func isPool(t *testing.T, p shownPool) bool {
	t.Helper()
	_, answer := request(t, http.MethodPost, untouched.solana.RPC, map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "getAccountInfo", "params": []any{p.Address, map[string]string{"encoding": "base64"}},
	})
	var told struct {
		Result struct{ Value *struct{ Owner string } }
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		t.Fatal(err)
	}
	return told.Result.Value != nil && told.Result.Value.Owner == "SwaPpA9LAaLfeLi3a68M4DjnLqgtticKg6CnyNwgAC8"
}

// shownWorld is what the tests read of GET /sandbox/world.
type shownWorld struct {
	Chains []struct{ ID chain.ID }
	Orders []shownOrder
	Tokens []struct {
		ChainID chain.ID
		Address string
	}
	Pools []shownPool
}

type shownOrder struct {
	ChainID, TakeChainID  chain.ID
	CreationTxHash, State string
	OrderID               common.Hash
}

type shownPool struct {
	ChainID                 chain.ID
	Address, Token0, Token1 string
}

func shown(t *testing.T, w *World) (seen shownWorld) {
	t.Helper()
	_, text := request(t, http.MethodGet, w.URL()+"/sandbox/world", nil)
	if err := json.Unmarshal(text, &seen); err != nil {
		t.Fatal(err)
	}
	return seen
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	w, err := Start(t.Context(), Options{BlockTime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	request(t, http.MethodGet, w.URL()+"/sandbox/world", nil)
	if err := w.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
	// The node's peer database, which go-ethereum opens in memory, drains its pool on a timer of its own.
	draining := goleak.IgnoreTopFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain")
	if err := goleak.Find(before, draining); err != nil {
		t.Error(err)
	}
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w, err := Start(ctx, Options{}); err == nil {
		_ = w.Close()
		t.Error("Start with a cancelled context succeeded")
	}
}
