package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/cache"
	"crossgate/cache/shared"
	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/proxy/quota"
)

// startSharing runs a server on w with a shared cache until the test ends. Calls to the cache may be slow on a busy
// machine.
func startSharing(t *testing.T, w *world, url string, change ...func(*parts)) *site {
	t.Helper()
	shared := must.Get(shared.New(shared.Options{URL: url, Timeout: 40 * time.Second, Silence: time.Minute, LockLife: 20 * time.Second}))(t)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { shared.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	must.Await(t, "a connection", func() bool {
		_, ok := shared.Status()
		return ok
	})
	s := w.server(t, append(change, func(o *parts) { o.Shared = shared })...)
	s.Wait(time.Hour)
	return s
}

// stored waits until the answer at a path is cached, locally and for other replicas.
func stored(t *testing.T, s *site, path string) {
	t.Helper()
	must.Await(t, path+" to be kept", func() bool { return hits(t, s, path) })
}

func hits(t *testing.T, s *site, path string) bool {
	t.Helper()
	response := get(s, path)
	body(t, response)
	return strings.HasPrefix(response.Header.Get("Cache-Status"), "crossgate; hit")
}

// TestAThousandRequestsToTwoReplicasLoadOnce requests an order that is not cached.
func TestAThousandRequestsToTwoReplicasLoadOnce(t *testing.T) {
	url := redistest.Serve(t).URL()
	w := newWorld(t)
	const requests = 1_000
	var arrived atomic.Int64
	slow := func(o *parts) {
		now := ordersOf(o).find
		ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
			for arrived.Load() < requests {
				<-time.After(time.Millisecond)
			}
			return now(ctx, tx)
		}
		o.OrderLimit = time.Hour
	}
	replicas := []*site{startSharing(t, w, url, slow), startSharing(t, w, url, slow)}
	var asking sync.WaitGroup
	var wrong atomic.Int64
	for i := range requests {
		asking.Go(func() {
			arrived.Add(1)
			response := get(replicas[i%2], ordersPath+claimedTx)
			if response.StatusCode != http.StatusOK || !bytes.Contains(body(t, response), []byte(`"orderId"`)) {
				wrong.Add(1)
			}
		})
	}
	asking.Wait()
	if w.asked.Load() != 1 || wrong.Load() > 0 {
		t.Errorf("%d loads for %d requests to two replicas, %d answers are wrong; want one load", w.asked.Load(), requests, wrong.Load())
	}
}

// TestReplicasAnswerAlike requests all that may be shared from one replica, then from the other, which loads nothing.
func TestReplicasAnswerAlike(t *testing.T) {
	url := redistest.Serve(t).URL()
	w := newWorld(t)
	base := followed(8453, order.Lag{Head: 9, Indexed: 9, IndexedTime: uint64(time.Now().Unix()), Level: time.Now().Add(time.Hour)}) // no lag, however long it takes
	base.From, base.Proven, base.Quarantined = order.BlockTime{Number: 2, Time: 1_784_948_000}, 8, order.QuarantinedBlocks{Count: 1, First: 5}
	w.basis = []order.ChainBasis{base}
	a, b := startSharing(t, w, url), startSharing(t, w, url)
	compared := []string{"Content-Type", "Content-Length", "Etag", "Cache-Control", "Link", proxy.IndexBasis}
	for _, path := range []string{
		ordersPath + claimedTx, "/api/Orders/" + idText(8), "/v1.0/dln/order/" + idText(8) + "/status",
		"/api/Transaction/" + claimedTx + "/orderIds", "/v1.0/dln/tx/" + claimedTx + "/order-ids",
	} {
		response := get(a, path)
		first := body(t, response)
		stored(t, a, path)
		before := w.asked.Load()
		again := get(b, path)
		if second := body(t, again); !bytes.Equal(first, second) || w.asked.Load() != before {
			t.Errorf("GET %s of the other replica after %d more loads: %s, want %s", path, w.asked.Load()-before, second, first)
		}
		for _, name := range compared {
			if got, want := again.Header.Get(name), response.Header.Get(name); got != want {
				t.Errorf("GET %s of the other replica: %s: %q, want %q", path, name, got, want)
			}
		}
		if got := again.Header.Get("Cache-Status"); !strings.HasPrefix(got, "crossgate; hit; ttl=") {
			t.Errorf("GET %s of the other replica: Cache-Status: %q, want a hit", path, got)
		}
	}
	for _, s := range []*site{a, b} { // pages have values, and are not shared
		if page := body(t, get(s, "/order/"+claimedTx)); !bytes.Contains(page, []byte(idText(8))) {
			t.Errorf("the page of the order lacks its id: %s", page)
		}
	}
}

// TestReplicasShareQuotas distributes a client's requests over two replicas.
func TestReplicasShareQuotas(t *testing.T) {
	server := redistest.Serve(t)
	limited := func(o *parts) { o.Quotas.Address = quota.Quota{Units: 20, Window: time.Hour} }
	w := newWorld(t)
	replicas := []*site{startSharing(t, w, server.URL(), limited), startSharing(t, w, server.URL(), limited)}
	statuses := map[int]int{}
	for i := range 30 {
		statuses[ask(replicas[i%2], ordersPath+createdTx, "192.0.2.1:1000").StatusCode]++
	}
	if statuses[http.StatusOK] != 20 || statuses[http.StatusTooManyRequests] != 10 {
		t.Errorf("statuses of 30 requests: %v, want 20 answers and 10 refusals", statuses)
	}
	if got := ask(replicas[0], ordersPath+createdTx, "192.0.2.2:1000").Header.Get("RateLimit"); !strings.HasPrefix(got, `"address";r=19;`) {
		t.Errorf("another client has %s, want 19 units left", got)
	}
	must.Do(t, server.Kill())
	wantStatus(t, "without the shared account", ask(replicas[1], ordersPath+createdTx, "192.0.2.1:1000"), http.StatusTooManyRequests)
	for i := range 25 {
		want := map[bool]int{true: http.StatusOK, false: http.StatusTooManyRequests}[i < 20]
		wantStatus(t, fmt.Sprint(i), ask(replicas[1], ordersPath+createdTx, "192.0.2.3:1000"), want)
	}
}

// TestOrdersAreFoundByIDWhereTheirTransactionCameFromElsewhere requests a transaction that the index does not have from
// one replica, and its order from the other.
func TestOrdersAreFoundByIDWhereTheirTransactionCameFromElsewhere(t *testing.T) {
	url := redistest.Serve(t).URL()
	w := newWorld(t)
	w.unindexed = map[order.ID]bool{{10}: true}
	a, b := startSharing(t, w, url), startSharing(t, w, url)
	path := "/api/Transaction/" + severalTx + "/orderIds"
	wantStatus(t, path, get(a, path), http.StatusOK)
	must.Await(t, "the answer to be there for the other", func() bool { return hits(t, b, path) })
	wantStatus(t, "the order", get(b, "/api/Orders/"+idText(10)), http.StatusOK)
}

// TestOperatorsPurgeWhatIsPassedThroughAtAllReplicas has each replica store a path of the origin.
func TestOperatorsPurgeWhatIsPassedThroughAtAllReplicas(t *testing.T) {
	url := redistest.Serve(t).URL()
	w := newWorld(t)
	origin := passedTo(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Cache-Control", "max-age=600") })
	a, b := startSharing(t, w, url, origin), startSharing(t, w, url, origin)
	for _, path := range []string{"/purged", "/left"} {
		stored(t, a, path)
		stored(t, b, path)
	}
	must.Do(t, a.PurgeHosts(cache.Hard, []string{"orders"}, []string{"/purged"}))
	if err := a.PurgeHosts(cache.Hard, []string{"orders", "other"}, nil); err == nil {
		t.Error("a host that is not configured is purged")
	}
	if hosts := a.Served().Hosts; len(hosts) == 0 || hosts[0].Of != "orders" || hosts[0].Outcome != "hit" || hosts[0].Times == 0 {
		t.Errorf("counted %+v", hosts)
	}
	if hits(t, a, "/purged") {
		t.Error("what was purged here is still served")
	}
	must.Await(t, "the other replica to hear of the purge", func() bool { return !hits(t, b, "/purged") })
	if !hits(t, b, "/left") {
		t.Error("what was not purged is gone")
	}
}
