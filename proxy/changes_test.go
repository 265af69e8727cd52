package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/proxy"
)

// isKept reports whether the next answer comes from the cache. In a bubble no time passes meanwhile.
func isKept(t *testing.T, s *site, path string) bool {
	t.Helper()
	response := get(s, path)
	body(t, response)
	synctest.Wait() // until what was loaded is cached
	return strings.Contains(response.Header.Get("Cache-Status"), "hit")
}

// aboutOrder returns the paths of answers about the first order of severalTx.
func aboutOrder() []string {
	return []string{
		ordersPath + severalTx, "/api/Orders/" + idText(10), "/v1.0/dln/order/" + idText(10) + "/status",
		"/api/Transaction/" + severalTx + "/orderIds", "/v1.0/dln/tx/" + severalTx + "/order-ids",
	}
}

func parsed(t *testing.T, tx string) chain.TxHash {
	t.Helper()
	return must.Get(chain.ParseTxHash(tx))(t)
}

func TestChangedOrdersAreAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.server(t)
		locked, other := "/api/Satistics/"+taker+"/lockedAssets", ordersPath+createdTx
		paths := append(aboutOrder(), locked, ordersPath+unknownIs, other)
		for change, ended := range map[string]struct {
			changes []order.Change
			paths   []string
		}{
			"the order":           {[]order.Change{{Order: order.ID{10}, Creation: parsed(t, severalTx)}}, aboutOrder()},
			"without a creation":  {[]order.Change{{Order: order.ID{10}}}, aboutOrder()},
			"one that was not":    {[]order.Change{{Order: order.ID{1}, Creation: parsed(t, unknownIs)}}, []string{ordersPath + unknownIs}},
			"delivered by taker":  {[]order.Change{{Order: order.ID{2}, Taker: address(t, taker)}}, []string{locked}},
			"whatever":            {nil, paths},
			"more than are named": {make([]order.Change, 501), paths},
			"nothing":             {[]order.Change{}, nil},
		} {
			for _, path := range paths {
				isKept(t, s, path)
			}
			s.OrdersChanged(ended.changes)
			for _, path := range paths {
				if got, want := isKept(t, s, path), !contains(ended.paths, path); got != want {
					t.Errorf("after a change of %s: GET %s is kept %v, want %v", change, path, got, want)
				}
			}
		}
	})
}

func contains(paths []string, path string) bool {
	return strings.Contains(" "+strings.Join(paths, " ")+" ", " "+path+" ")
}

func TestReorgsEndWhatIsNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.server(t)
		locked, moving, settled := "/api/Satistics/"+taker+"/lockedAssets", ordersPath+createdTx, ordersPath+claimedTx
		for _, test := range []struct {
			chain chain.ID
			kept  map[string]bool
		}{
			{8453, map[string]bool{locked: false, moving: false, settled: true}},
			{137, map[string]bool{locked: false, moving: false, settled: true}},
			{1, map[string]bool{locked: false, moving: true, settled: true}},
		} {
			for path := range test.kept {
				isKept(t, s, path)
			}
			s.BranchChanged(test.chain)
			for path, want := range test.kept {
				if got := isKept(t, s, path); got != want {
					t.Errorf("after a reorg of chain %d: GET %s is kept %v, want %v", test.chain, path, got, want)
				}
			}
		}
	})
}

// TestNewHeadsEndAnswersThatTheIndexHasNotRead has chain 8453 report an order, or what is locked, ahead of the index.
func TestNewHeadsEndAnswersThatTheIndexHasNotRead(t *testing.T) {
	for name, unread := range map[string]bool{"not read": true, "read": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.basis = []order.ChainBasis{followed(137, order.Lag{}), followed(8453, order.Lag{})}
				s := w.server(t, func(o *parts) { ordersOf(o).unread = unread })
				for _, path := range append(aboutOrder(), "/api/Satistics/"+taker+"/lockedAssets") {
					isKept(t, s, path)
					w.head(137)
					if !isKept(t, s, path) {
						t.Errorf("GET %s is ended by a head of another chain", path)
					}
					w.head(8453)
					if got, want := isKept(t, s, path), !unread; got != want {
						t.Errorf("GET %s is kept after a new head: %v, want %v", path, got, want)
					}
					<-time.After(proxy.MovingLife.Fresh) // from here on it would be served stale
					w.head(8453)
					if got, want := isKept(t, s, path), !unread; got != want {
						t.Errorf("GET %s is kept past its freshness after a new head: %v, want %v", path, got, want)
					}
				}
			})
		})
	}
}

// TestAnswersUnderWayAtANewHeadAreNotShared blocks the load of something that the index has not read until a new head
// comes: earlier requests get the answer, later ones an answer that was loaded after the head.
func TestAnswersUnderWayAtANewHeadAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, loads := make(chan struct{}), 0
		w := newWorld(t)
		w.basis = []order.ChainBasis{followed(8453, order.Lag{})}
		s := w.server(t, func(o *parts) {
			ordersOf(o).unread = true
			now := ordersOf(o).find
			ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
				loads++
				if loads > 1 {
					<-time.After(time.Second)     // until both requests after the head wait for it
					return nil, order.ErrNotFound // its block was dropped
				}
				<-held
				return now(ctx, tx)
			}
		})
		ask := func() chan int {
			status := make(chan int, 1)
			go func() {
				response := get(s, ordersPath+createdTx)
				body(t, response)
				status <- response.StatusCode
			}()
			synctest.Wait()
			return status
		}
		before := ask()
		w.head(8453)
		after, together := ask(), ask()
		close(held)
		if got := <-before; got != http.StatusOK {
			t.Errorf("who asked before the head got %d, want 200", got)
		}
		for _, status := range []chan int{after, together} {
			if got := <-status; got != http.StatusNotFound {
				t.Errorf("who asked after the head got %d, want 404", got)
			}
		}
		if loads != 2 {
			t.Errorf("%d loads, want one for those before the head and one for those after it", loads)
		}
	})
}
