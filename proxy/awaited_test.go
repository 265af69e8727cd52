package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
)

func TestPageOfWhatIsNotThereYetSaysWhatWasSearched(t *testing.T) {
	w := newWorld(t)
	w.basis = []order.ChainBasis{followed(1, order.Lag{Head: 90, Indexed: 1090}), followed(8453, order.Lag{}), followed(chain.Solana, order.Lag{Head: 7, Indexed: 7})}
	s := w.server(t)
	page := pageAt(t, s, "/order/"+unknownIs, http.StatusNotFound)
	for _, want := range []string{
		`src="/assets/awaited.js"`, `<meta http-equiv="refresh"`, "the id of an order or a swap",
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
	if page := pageAt(t, deaf, "/order/"+order.ID{7}.String(), http.StatusOK); !strings.Contains(page, "Waiting for a taker") {
		t.Error("an indexed order is not found by its id while a chain does not answer")
	}
}
