package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

// alike is a list in which two unvouched tokens share a symbol, one has the coin's symbol, and one has no name other
// than its address.
type alike struct{ *token.Directory }

func (l alike) Listed(_ context.Context, id chain.ID) []token.Listing {
	at := func(last byte) token.Key {
		return token.Key{Chain: id, Address: chain.NewAddress(append(make([]byte, 19), last))}
	}
	return []token.Listing{
		{Key: at(0), Token: token.Token{Decimals: 18, Name: "Ether", Symbol: "ETH"}, IsProminent: true},
		{Key: at(1), Token: token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC"}, IsProminent: true},
		{Key: at(2), Token: token.Token{Decimals: 6, Name: "Dollar One", Symbol: "USDX"}},
		{Key: at(3), Token: token.Token{Decimals: 6, Name: "Dollar Two", Symbol: "usdx"}},
		{Key: at(4), Token: token.Token{Decimals: 9, Name: "Fake", Symbol: "ETH"}},
		{Key: at(5), Token: token.Token{Decimals: 8, Name: "0xBitcoin Token", Symbol: "0xBTC"}},
		{Key: at(6), Token: token.Token{Decimals: 8, Name: "Another's address", Symbol: addressOf("1")}},
	}
}

func addressOf(last string) string { return "0x" + strings.Repeat("0", 39) + last }

func TestTokensAreNamedInWords(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) { o.Tokens = alike{w.tokenList} })
	for query, want := range map[string]struct{ in, out, amount string }{
		"tokenIn=ETH&tokenOut=usdc&amount=0.1":                             {addressOf("0"), addressOf("1"), "100000000000000000"},
		"tokenIn=+ether+&tokenOut=USD+Coin&amount=2":                       {addressOf("0"), addressOf("1"), "2000000000000000000"},
		"tokenIn=" + addressOf("2") + "&tokenOut=ETH&amount=0.000001":      {addressOf("2"), addressOf("0"), "1"},
		"tokenIn=dollar+two&tokenOut=" + addressOf("4") + "&amount=5":      {addressOf("3"), addressOf("4"), "5000000"},
		"tokenIn=0xbtc&tokenOut=" + addressOf("1") + "&amount=1":           {addressOf("5"), addressOf("1"), "100000000"},
		"tokenIn=ETH&tokenOut=USDC&tokenInAmount=7":                        {addressOf("0"), addressOf("1"), "7"},
		"tokenIn=ETH&tokenOut=USDC&amount=MAX&tokenOutRecipient=" + nobody: {addressOf("0"), addressOf("1"), "0"},
	} {
		pageAt(t, s, "/swap?chainId=8453&"+query, http.StatusOK)
		if got := w.lastSwap; got.TokenIn.String() != want.in || got.TokenOut.String() != want.out || got.AmountIn.String() != want.amount {
			t.Errorf("%s asks for %s of %s to %s, want %+v", query, got.AmountIn, got.TokenIn, got.TokenOut, want)
		}
	}
	page := pageAt(t, s, "/swap?chainId=8453&tokenIn="+addressOf("2")+"&tokenOut="+addressOf("1"), http.StatusBadRequest)
	golden.Contains(t, "the page", page, `name="tokenIn" list="tokenIn-listed"`, `value="`+addressOf("2")+`"`, `value="USDC"`, "Enter an amount.")
}

func TestWhatATextMayMeanIsOffered(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) { o.Tokens = alike{w.tokenList} })
	before := w.asked.Load()
	for query, wants := range map[string][]string{
		"tokenIn=usdx&tokenOut=ETH&amount=1": {
			`2 tokens on Base are called "usdx". Which one?`, "amount=1&chainId=8453&tokenIn=" + addressOf("2") + "&tokenOut=ETH", "Dollar Two",
		},
		"tokenIn=usd&tokenOut=ETH&amount=1":                              {`No listed token on Base is called "usd". These are similar:`, "USD Coin"},
		"tokenIn=ETH&tokenOut=ETH&amount=1":                              {"The token must not be tokenIn."},
		"tokenIn=ETH&tokenOut=nothing&amount=1":                          {`No listed token on Base is called "nothing". Enter its address instead.`},
		"tokenIn=ETH&tokenOut=USDC&amount=0":                             {"The amount must be above zero."},
		"tokenIn=USDC&tokenOut=ETH&amount=0.1234567":                     {"The amount has 7 decimals, and the token only 6."},
		"tokenIn=ETH&tokenOut=USDC&amount=max":                           {"To swap the whole balance, enter a recipient"},
		"tokenIn=ETH&tokenOut=USDC&amount=1&slippage=200":                {`id="slippage-fault">The slippage must be auto or a percent`},
		"tokenIn=ETH&tokenOut=USDC&amount=1&tokenOutRecipient=alice.eth": {`id="tokenOutRecipient-fault">The recipient must be an address`},
		"tokenIn=ETH&tokenOut=USDC&amount=1&affiliateFeePercent=99":      {"affiliateFeePercent must be"},
	} {
		page := html.UnescapeString(pageAt(t, s, "/swap?chainId=8453&"+query, http.StatusBadRequest))
		golden.Contains(t, query, page, wants...)
	}
	if w.asked.Load() != before {
		t.Error("venues were asked about a form with mistakes")
	}
}

// TestBalancesAreReadOrRefused requests an account's balance, as the page's script does: unknown is not zero.
func TestBalancesAreReadOrRefused(t *testing.T) {
	s := newWorld(t).server(t)
	for query, want := range map[string]string{
		"chainId=8453&tokenIn=USDC&owner=" + nobody:        `200 {"text":"1.5 USDC","units":"1500000"}`,
		"chainId=8453&tokenIn=" + usdcText + "&owner=0x12": "400 INVALID_QUERY_PARAMETERS",
		"chainId=8453&tokenIn=none&owner=" + nobody:        "400 INVALID_QUERY_PARAMETERS",
		"tokenIn=USDC&owner=" + nobody:                     "400 INVALID_QUERY_PARAMETERS",
		"chainId=8453&tokenIn=USDC&owner=" + taker:         "400 UNSUPPORTED_CHAIN",
	} {
		response := get(s, "/swap/balance?"+query)
		body := must.Get(io.ReadAll(response.Body))(t)
		got := fmt.Sprintf("%d %s", response.StatusCode, body)
		var refused struct{ ErrorID string }
		if must.Do(t, json.Unmarshal(body, &refused)); refused.ErrorID != "" {
			got = fmt.Sprintf("%d %s", response.StatusCode, refused.ErrorID)
		}
		if got != want {
			t.Errorf("%s = %s, want %s", query, got, want)
		}
	}
}

// TestVenuesAreShownAsTheyAnswer reads the stream while a venue delays the answer, and then the page at its end.
func TestVenuesAreShownAsTheyAnswer(t *testing.T) {
	w := newWorld(t)
	read := make(chan struct{})
	s := w.server(t, func(o *parts) {
		o.Tokens = listing{w.tokenList}
		o.Swaps = estimates(func(ctx context.Context, r quote.Request) (quote.Estimate, error) {
			quote.Report(ctx, quote.Heard{Venue: "quick", AmountOut: chain.NewAmount(2_500_000_000_000_000), Took: 42 * time.Millisecond})
			<-read
			return w.estimate(ctx, r)
		})
		o.Creations = func(ctx context.Context, _ crosschain.Request) (crosschain.Estimate, error) {
			quote.Report(ctx, quote.Heard{Venue: "of reserve tokens", AmountOut: chain.NewAmount(1)})
			return crosschain.Estimate{}, quote.ErrNoRoute
		}
	})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	query := "chainId=8453&amount=5&tokenIn=USDC&tokenOut=" + wethText
	crossed := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/swap?dstChainId=137&"+strings.Replace(query, wethText, chain.NativeCoin(chain.EVM).String(), 1), http.NoBody)
	crossed.Header.Set("Accept", "text/event-stream")
	said := httptest.NewRecorder()
	if s.Handler().ServeHTTP(said, crossed); strings.Contains(said.Body.String(), "of reserve tokens") || !strings.Contains(said.Body.String(), "event: page") {
		t.Errorf("between chains: %.600s, want only the page", said.Body)
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/swap?"+query, http.NoBody))(t)
	request.Header.Set("Accept", "text/event-stream")
	response := must.Get(server.Client().Do(request))(t)
	defer response.Body.Close()
	events := map[string]string{}
	var name string
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
		case "event":
			name = value
		case "data":
			events[name] = value
			if name == "quote" {
				close(read)
			}
		}
	}
	if want := `{"venue":"quick","says":"0.0025 WETH","took":"42 ms"}`; events["quote"] != want {
		t.Errorf("first event = %s, want %s", events["quote"], want)
	}
	var last struct{ Path, Page string }
	if err := json.Unmarshal([]byte(events["page"]), &last); err != nil || last.Path != "/swap?"+query || !strings.Contains(last.Page, "USDC on Base buys") {
		t.Errorf("last event = %.300s, %v", events["page"], err)
	}
}

// panicking knows no prices.
type panicking struct{ listing }

func (panicking) USD(context.Context, ...token.Key) map[token.Key]*big.Rat { panic("boom") }

func TestAComparisonThatPanicsEndsOnlyItsStream(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) { o.Tokens = panicking{listing{w.tokenList}} })
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/swap?chainId=8453&amount=5&tokenIn=USDC&tokenOut="+wethText, http.NoBody)
	request.Header.Set("Accept", "text/event-stream")
	said := httptest.NewRecorder()
	if s.Handler().ServeHTTP(said, request); strings.Contains(said.Body.String(), "event: page") || !strings.Contains(w.log.String(), "boom") {
		t.Errorf("%s, logged %s", said.Body, w.log.String())
	}
}
