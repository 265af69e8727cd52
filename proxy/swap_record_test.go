package proxy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/order"
)

const sameChainPath = "/api/SameChainSwap/"

// swapJSON is the record of a swap as clients decode it.
type swapJSON struct {
	SwapID, ChainID, TransactionHash struct{ StringValue string }
	TokenIn, TokenOut                struct{ Amount struct{ StringValue string } }
	State                            string
}

func TestSwapsAreToldByTransactionAndID(t *testing.T) {
	s := newWorld(t).server(t)
	for target, want := range map[string]struct {
		id      order.ID
		control string
		link    string
	}{
		sameChainPath + "8453/tx/" + swappedTx:              {order.ID{0x5a, 1}, keptLong, `<?index=1>; rel="next", <?index=1>; rel="last"`},
		sameChainPath + "8453/tx/" + swappedTx + "?index=1": {order.ID{0x5a, 2}, keptLong, `<?index=0>; rel="first", <?index=0>; rel="prev"`},
		"/api/samechainswap/8453/TX/" + freshSwapTx + "/":   {order.ID{0x5a, 3}, keptAWhile, ""},
		sameChainPath + order.ID{0x5a, 2}.String():          {order.ID{0x5a, 2}, keptLong, ""},
	} {
		response := get(s, target)
		var got swapJSON
		if err := json.Unmarshal(body(t, response), &got); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("GET %s = %d, %v", target, response.StatusCode, err)
		}
		if got.SwapID.StringValue != want.id.String() || got.ChainID.StringValue != "8453" || got.State != "Fulfilled" ||
			got.TokenIn.Amount.StringValue != "5000000" || got.TokenOut.Amount.StringValue != "1998" {
			t.Errorf("GET %s = %+v, want swap %s", target, got, want.id)
		}
		if control, link := response.Header.Get("Cache-Control"), response.Header.Get("Link"); control != want.control || link != want.link {
			t.Errorf("GET %s: Cache-Control %q, Link %q, want %q, %q", target, control, link, want.control, want.link)
		}
	}
}

// TestASwapIsFoundByItsIDBeforeItIsIndexed requests it by transaction first, as clients do.
func TestASwapIsFoundByItsIDBeforeItIsIndexed(t *testing.T) {
	w := newWorld(t)
	id := order.ID{0x5a, 3}
	w.unindexed = map[order.ID]bool{id: true}
	s := w.server(t)
	wantError(t, get(s, sameChainPath+id.String()), http.StatusUnprocessableEntity, "SWAP_NOT_FOUND")
	body(t, get(s, sameChainPath+"8453/tx/"+freshSwapTx))
	s.OrdersChanged([]order.Change{{Order: id}}) // otherwise "unknown" stays cached for a second
	wantStatus(t, "by id after its transaction was asked for", get(s, sameChainPath+id.String()), http.StatusOK)
}

// TestAChangedSwapEndsItsAnswers covers all answers that a new block with a swap, or its withdrawal, invalidates.
func TestAChangedSwapEndsItsAnswers(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	made := w.swaps[2]
	targets := []string{sameChainPath + "8453/tx/" + freshSwapTx, sameChainPath + made.ID.String()}
	for _, isKnown := range []bool{true, false, true} {
		if w.swaps = w.swaps[:2]; isKnown {
			w.swaps = append(w.swaps, made)
		}
		s.OrdersChanged([]order.Change{{Order: made.ID, Creation: made.At.Tx}})
		for _, target := range targets {
			if got := get(s, target).StatusCode; (got == http.StatusOK) != isKnown {
				t.Errorf("GET %s = %d after a change, known: %v", target, got, isKnown)
			}
		}
	}
}

func TestSwapsAreListedAsOrders(t *testing.T) {
	s := newWorld(t).server(t)
	var list struct {
		Orders []struct {
			OrderID          struct{ StringValue string }
			State, TradeType string
		}
		TotalCount int
	}
	must.Do(t, json.Unmarshal(post(s, listPath, `{"filterMode":"SameChain"}`).Body.Bytes(), &list))
	if len(list.Orders) != 3 || list.TotalCount != 3 || list.Orders[0].TradeType != "SameChain" || list.Orders[0].State != "Fulfilled" {
		t.Errorf("list of swaps: %+v", list)
	}
	if err := json.Unmarshal(post(s, listPath, `{"filterMode":"CrossChain"}`).Body.Bytes(), &list); err != nil || len(list.Orders) != 2 {
		t.Errorf("list of orders: %+v, %v", list, err)
	}
	must.Do(t, json.Unmarshal(post(s, listPath, `{"filterMode":"Mixed"}`).Body.Bytes(), &list))
	if len(list.Orders) != 5 || list.TotalCount != 5 || list.Orders[2].TradeType != "SameChain" || list.Orders[3].TradeType != "CrossChain" {
		t.Errorf("list of both: %+v", list)
	}
}

func TestPagesOfSwaps(t *testing.T) {
	s := newWorld(t).server(t)
	for target, wants := range map[string][]string{
		"/swap/8453/tx/" + swappedTx:              {"Swap 0x5a01", "2 swaps of one transaction", "Swapped and final", "USDC", "/api/SameChainSwap/8453/tx/" + swappedTx},
		"/swap/8453/tx/" + swappedTx + "?index=1": {"Swap 0x5a02", "?index=1"},
		"/swap/8453/tx/" + freshSwapTx:            {"the block is not final yet", `<p class="state good">`},
		"/swap/" + order.ID{0x5a, 3}.String():     {"Swap 0x5a03", "/api/SameChainSwap/" + order.ID{0x5a, 3}.String()},
	} {
		page := string(pageAt(t, s, target, http.StatusOK))
		for _, want := range wants {
			if !strings.Contains(page, want) && !strings.Contains(strings.ReplaceAll(page, `<span class="mono" title="`, ""), want) {
				t.Errorf("page %s lacks %q", target, want)
			}
		}
	}
	pageAt(t, s, "/swap/8453/tx/"+unknownIs, http.StatusUnprocessableEntity)
	pageAt(t, s, "/swap/x/tx/0x12", http.StatusBadRequest)
	pageAt(t, s, "/swap/0x12", http.StatusBadRequest)
	for text, want := range map[string]string{
		swappedTx: "/swap/8453/tx/" + swappedTx, order.ID{0x5a, 2}.String(): "/swap/" + order.ID{0x5a, 2}.String(),
	} {
		response := get(s, "/order/"+text)
		if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != want {
			t.Errorf("the page of order %s: %d to %q, want %s", text, response.StatusCode, to, want)
		}
	}
}
