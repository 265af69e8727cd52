package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/proxy"
)

func TestPageOfWhatIsNotThereYetSaysWhatWasSearched(t *testing.T) {
	w := newWorld(t)
	w.basis = []order.ChainBasis{followed(1, order.Lag{Head: 90, Indexed: 1090}), followed(8453, order.Lag{}), followed(chain.Solana, order.Lag{Head: 7, Indexed: 7})}
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
			return nil, &query.UnheardError{UnreachableError: query.UnreachableError{Chains: []chain.ID{8453}}}
		}
	})
	if page := pageAt(t, deaf, "/order/"+unknownIs, http.StatusServiceUnavailable); !strings.Contains(page, `<th scope="row">Base</th><td><span class="dot bad">no answer</span>`) {
		t.Errorf("the page does not say who did not answer: %s", page)
	}
	if page := pageAt(t, deaf, "/order/"+order.ID{7}.String(), http.StatusOK); !strings.Contains(page, "waiting for a taker") {
		t.Error("an indexed order is not found by its id while a chain does not answer")
	}
}

// TestAwaitedOrderIsFound has an order that is there seconds or minutes later, by its transaction and by its id.
func TestAwaitedOrderIsFound(t *testing.T) {
	for later, look := range map[time.Duration]time.Duration{5 * time.Second: time.Second, 5 * time.Minute: 10 * time.Second} {
		for _, hash := range []string{unknownIs, order.ID{9}.String()} {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				made := created(t, order.ID{9}, unknownIs, uint64(began.Unix()))
				client, stop := running(t, newWorld(t), func(o *parts) {
					isThere := func(is bool) ([]*order.Order, error) {
						if !is || time.Since(began) < later {
							return nil, order.ErrNotFound
						}
						return []*order.Order{made}, nil
					}
					a := ordersOf(o)
					a.find = func(_ context.Context, tx chain.TxHash) ([]*order.Order, error) {
						return isThere(tx.String() == unknownIs)
					}
					a.byID = func(_ context.Context, id order.ID) (*order.Order, error) {
						all, err := isThere(id == made.ID)
						if err != nil {
							return nil, err
						}
						return all[0], nil
					}
				})
				response, lines := streamOf(t, client, "/order/"+hash+"/awaited")
				if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != proxy.StreamType {
					t.Fatalf("%s: %s, Content-Type %q", hash, response.Status, got)
				}
				if got, _, _, _ := event(t, lines); got != "found" || time.Since(began) > later+look+2*proxy.UnknownLife.Fresh {
					t.Errorf("%s: event %q after %v, want found within a look", hash, got, time.Since(began))
				}
				if got, _, _, _ := event(t, lines); got != "" {
					t.Errorf("%s: %s after it was found, want the end", hash, got)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
