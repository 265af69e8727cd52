package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/proxy"
)

func TestPageOfWhatIsNotThereYetSaysWhatWasSearched(t *testing.T) {
	w := newWorld(t)
	w.basis = []index.ChainBasis{followed(1, index.Lag{Head: 90, Indexed: 1090}), followed(8453, index.Lag{}), followed(chain.Solana, index.Lag{Head: 7, Indexed: 7})}
	s := w.server(t)
	page := pageAt(t, s, "/order/"+unknownIs, http.StatusNotFound)
	for _, want := range []string{
		`data-events="/order/` + unknownIs + `/awaited"`, `<meta http-equiv="refresh"`, "the id of an order or a swap",
		`<th scope="row">Ethereum</th><td>not known</td><td class="number">1,090</td>`, `<th scope="row">Base</th><td>not known</td><td class="number">none yet</td>`,
		`<th scope="row">Solana</th><td><span class="quiet">has other hashes</span></td><td class="number">7</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
	deaf := w.server(t, func(o *parts) {
		ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) {
			return nil, &index.UnheardError{UnreachableError: index.UnreachableError{Chains: []chain.ID{8453}}}
		}
	})
	if page := pageAt(t, deaf, "/order/"+unknownIs, http.StatusServiceUnavailable); !strings.Contains(page, `<th scope="row">Base</th><td><span class="dot bad">no answer</span>`) {
		t.Errorf("the page does not say who did not answer: %s", page)
	}
	if page := pageAt(t, deaf, "/order/"+order.ID{7}.String(), http.StatusOK); !strings.Contains(page, "waiting for a taker") {
		t.Error("an indexed order is not found by its id while a chain does not answer")
	}
}

// TestAwaitedOrderIsAnnouncedAsItIsIndexed has an order of which the chains know nothing at first: no time passes from
// when the index learns of it until the page does.
func TestAwaitedOrderIsAnnouncedAsItIsIndexed(t *testing.T) {
	for name, path := range map[string]string{"by its transaction": unknownIs, "by its id": order.ID{9}.String()} {
		synctest.Test(t, func(t *testing.T) {
			var isThere atomic.Bool
			w := newWorld(t)
			server, client, stop := runningServer(t, w, func(o *parts) {
				o9 := created(t, order.ID{9}, unknownIs, uint64(time.Now().Unix()))
				a := ordersOf(o)
				a.find = func(_ context.Context, tx chain.TxHash) ([]*order.Order, error) {
					if isThere.Load() && tx.String() == unknownIs {
						return []*order.Order{o9}, nil
					}
					return nil, order.ErrNotFound
				}
				a.byID = func(_ context.Context, id order.ID) (*order.Order, error) {
					if isThere.Load() && id == o9.ID {
						return o9, nil
					}
					return nil, order.ErrNotFound
				}
			})
			response, lines := follow(t, client, "/order/"+path+"/awaited")
			if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != proxy.StreamType {
				t.Fatalf("%s: %s, Content-Type %q", name, response.Status, got)
			}
			time.Sleep(10*time.Second + 100*time.Millisecond) // between two looks
			isThere.Store(true)
			hash, err := chain.ParseTxHash(unknownIs)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			server.OrdersChanged([]index.Change{{Order: order.ID{9}, Creation: hash}})
			if got, _, _, _ := event(t, lines); got != "found" || time.Since(began) > 0 {
				t.Errorf("%s: event %q after %v, want found at once", name, got, time.Since(began))
			}
			if got, _, _, _ := event(t, lines); got != "" {
				t.Errorf("%s: %s after it was found, want the end", name, got)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNewsOfOthersSearchForNothing has the index learn much, all of it of other orders than the one that is waited for.
func TestNewsOfOthersSearchForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var searches atomic.Int64
		server, client, stop := runningServer(t, newWorld(t), func(o *parts) {
			ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) {
				searches.Add(1)
				return nil, order.ErrNotFound
			}
		})
		_, lines := follow(t, client, "/order/"+unknownIs+"/awaited")
		for i := range 1000 { // in two looks
			server.OrdersChanged([]index.Change{{Order: order.ID{1, byte(i)}}})
			time.Sleep(2 * time.Millisecond)
		}
		if got := searches.Load(); got > 3 {
			t.Errorf("%d searches in two seconds", got)
		}
		_ = lines
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestAwaitedOrderIsFoundOnItsChain has an order that the index does not announce.
func TestAwaitedOrderIsFoundOnItsChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const later = 5 * time.Second
		began := time.Now()
		client, stop := running(t, newWorld(t), func(o *parts) {
			ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) {
				if time.Since(began) < later {
					return nil, order.ErrNotFound
				}
				return []*order.Order{created(t, order.ID{9}, unknownIs, uint64(began.Unix()))}, nil
			}
		})
		_, lines := follow(t, client, "/order/"+unknownIs+"/awaited")
		if got, _, _, _ := event(t, lines); got != "found" || time.Since(began) > later+time.Second+proxy.UnknownLife.Fresh {
			t.Errorf("event %q after %v, want found within a look", got, time.Since(began))
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
