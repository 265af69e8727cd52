package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"crossgate/chain"
	"crossgate/internal/must"
)

// untouched is the world that all read-only tests share.
var untouched *World

func TestMain(m *testing.M) {
	w, err := Start(context.Background(), Options{Recorded: true})
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

// grown returns the world shared by tests that send transactions to it, and inject faults until they end. What one test
// adds does not matter to the next. It lives as long as the process.
func grown(t *testing.T) *World {
	t.Helper()
	w, err := startGrown()
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	return w
}

var startGrown = sync.OnceValues(func() (*World, error) { return Start(context.Background(), Options{Recorded: true}) })

// open starts a world that ends with the test. It has the untouched world's history unless it has a clock of its own.
func open(t *testing.T, o Options) *World {
	t.Helper()
	o.Recorded = o.Now == nil
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

// request makes an HTTP request with an optional JSON body, and returns status and body.
func request(t *testing.T, method, url string, body any) (int, []byte) {
	t.Helper()
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(must.Get(json.Marshal(body))(t))
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), method, url, sent))(t)
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

// TestTwoStartsGiveTheSameWorld starts at different times, once with untouched's history. Each ends at the present.
func TestTwoStartsGiveTheSameWorld(t *testing.T) {
	type fixed struct {
		ID                common.Hash
		CreationTx, Title string
	}
	tell := func(now time.Time, clock func() time.Time) (orders []fixed, keys []string) {
		w := open(t, Options{Now: clock})
		found := must.Get(w.Orders(t.Context()))(t)
		for _, o := range found {
			orders = append(orders, fixed{o.ID, o.CreationTx.String(), o.Title})
		}
		for _, a := range w.Accounts() {
			keys = append(keys, a.PrivateKey())
		}
		for _, c := range w.Chains() {
			head := must.Get(c.node.client.HeaderByNumber(t.Context(), nil))(t)
			if at := time.Unix(int64(head.Time), 0); at.After(now) || at.Before(now.Add(-time.Hour)) {
				t.Errorf("chain %s: head at %s, want within the hour before %s", c.Facts.ID, at, now)
			}
		}
		return orders, keys
	}
	then := time.Date(2027, 6, 5, 4, 3, 2, 0, time.UTC)
	playedOrders, playedKeys := tell(then, func() time.Time { return then })
	recordedOrders, recordedKeys := tell(time.Now(), nil)
	if diff := cmp.Diff(playedOrders, recordedOrders); diff != "" {
		t.Errorf("orders of the history as it was played and as it was recorded:\n%s", diff)
	}
	if diff := cmp.Diff(playedKeys, recordedKeys); diff != "" {
		t.Errorf("keys of the world that was played and of the recorded one:\n%s", diff)
	}
}

type shownOrder struct {
	ChainID, TakeChainID  chain.ID
	CreationTxHash, State string
	OrderID               common.Hash
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	w := must.Get(Start(t.Context(), Options{BlockTime: time.Hour}))(t)
	request(t, http.MethodGet, w.URL()+"/sandbox/world", nil)
	if err := w.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
	// go-ethereum's in-memory peer database drains its pool on a timer of its own.
	draining := goleak.IgnoreTopFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain")
	must.Do(t, goleak.Find(before, draining))
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w, err := Start(ctx, Options{}); err == nil {
		_ = w.Close()
		t.Error("Start with a cancelled context succeeded")
	}
}
