package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/proxy/swaps"
	"crossgate/quote"
)

// withoutRecipient is the query of goodSwap for nobody in particular.
func withoutRecipient(t *testing.T) string {
	t.Helper()
	_, query, _ := strings.Cut(goodSwap, "?")
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		if !strings.HasPrefix(part, "tokenOutRecipient=") {
			kept = append(kept, part)
		}
	}
	return "?" + strings.Join(kept, "&")
}

func TestEstimationNeedsNoRecipient(t *testing.T) {
	w := newWorld(t)
	response := get(w.server(t), "/v1.0/chain/estimation"+withoutRecipient(t))
	if text := string(body(t, response)); !strings.HasPrefix(text, `{"estimation":{"tokenIn":`) || strings.Contains(text, `"tx"`) {
		t.Errorf("HTTP %d %s, want an estimate without a transaction", response.StatusCode, text)
	}
	if !w.lastSwap.Recipient.IsAbsent() {
		t.Errorf("request = %+v, want no recipient", w.lastSwap)
	}
}

func TestExplanationAnswersAlsoWhenThereIsNoAnswer(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	target := strings.Replace(goodSwap, "/transaction", "/transaction/explain", 1)
	asked := []quote.Asked{{Venue: "kyberswap", Verdict: quote.Refused, Took: 1500 * time.Microsecond, Err: errors.New("no route")}}
	s.estimator = estimates(func(context.Context, quote.Request) (quote.Estimate, error) {
		return quote.Estimate{Asked: asked}, quote.ErrNoTransaction
	})
	response := get(s, target)
	const want = `{"error":"no venue made a transaction","aggregators":[{"name":"kyberswap","execution":"direct","verdict":"refused","tookMs":1.5,"reason":"no route"}]}`
	if got := string(body(t, response)); response.StatusCode != http.StatusOK || got != want {
		t.Errorf("HTTP %d %s, want %s", response.StatusCode, got, want)
	}
	asked = nil
	// Another request: the answer to the first may still be on its way to others who asked for it.
	if response := get(s, target+"&slippage=7"); response.StatusCode != http.StatusBadGateway {
		t.Errorf("HTTP %d when nobody was asked, want 502", response.StatusCode)
	}
}

func TestSwapsTellHowOldPricesAreAndHowLongTheyHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.server(t)
		honest := s.estimator
		s.estimator = estimates(func(ctx context.Context, r quote.Request) (quote.Estimate, error) {
			e, err := honest.Estimate(ctx, r)
			e.QuotedAt = time.Now().Add(-3 * time.Second)
			e.Expires = time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC)
			return e, err
		})
		header := get(s, goodSwap).Header
		if age, expires := header.Get("Age"), header.Get("Expires"); age != "3" || expires != "Sat, 21 Nov 2026 12:00:30 GMT" {
			t.Errorf("Age = %q, Expires = %q", age, expires)
		}
	})
}

// onThree are swaps on three chains.
type onThree struct{ swaps.Estimator }

func (onThree) Serves(id chain.ID) bool { return id == 1 || id == chain.Solana || id == 100000014 }

func TestChainsAreThoseThatVenuesServe(t *testing.T) {
	s := newWorld(t).server(t)
	s.estimator = onThree{s.estimator}
	const want = `{"chains":[{"chainId":1,"originalChainId":1,"chainName":"Ethereum"},` +
		`{"chainId":7565164,"originalChainId":7565164,"chainName":"Solana"},` +
		`{"chainId":100000014,"originalChainId":146,"chainName":"Sonic"}]}`
	if got := string(body(t, get(s, "/v1.0/supported-chains-info"))); got != want {
		t.Errorf("chains = %s, want %s", got, want)
	}
}

func TestTokenSearchIsBySymbolNameAndAddress(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	search := func(query string) (found []string) {
		var got struct {
			Tokens []struct {
				ChainID uint64
				Symbol  string
			}
		}
		response := get(s, "/v1.0/token-list/search?"+query)
		if err := json.Unmarshal(body(t, response), &got); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("HTTP %d, %v", response.StatusCode, err)
		}
		for _, each := range got.Tokens {
			found = append(found, fmt.Sprintf("%s@%d", each.Symbol, each.ChainID))
		}
		return found
	}
	for query, want := range map[string]string{
		"chainId=8453&query=usdc": "USDC@8453", "chainId=8453&query=wrapped%20e": "WETH@8453", "chainId=8453&query=" + usdcText: "USDC@8453",
	} {
		if got := search(query); len(got) == 0 || got[0] != want {
			t.Errorf("search %s = %v, want %s first", query, got, want)
		}
	}
	if got := search("query=usdc"); len(got) < 5 {
		t.Errorf("USDC is found on %v, want it on every chain", got)
	}
}
