package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/proxy"
	"crossgate/proxy/swaps"
	"crossgate/quote"
)

// TestSwapRequestsAreReadWhole covers all parameters, with input or output left to the gateway, for each family.
func TestSwapRequestsAreReadWhole(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	slippage, fixed := percent(t, "0.5"), regexp.MustCompile(`tokenInAmount=\d+`)
	asked := quote.Request{
		Chain: 8453, TokenIn: address(t, usdcText), TokenOut: address(t, wethText), AmountIn: chain.NewAmount(5_000_000), Recipient: address(t, nobody),
	}
	whole, most, auto, onTron := asked, asked, asked, asked
	whole.Sender, whole.SlippagePercent, whole.Priority, whole.ReferralCode = address(t, taker), &slippage, quote.Aggressive, 4294967295
	whole.Affiliate = quote.Affiliate{Percent: percent(t, "0.1"), Recipient: address(t, taker)}
	most.AmountIn, most.MaxBalance = chain.Amount{}, true
	auto.AmountIn, auto.MinOut = chain.Amount{}, chain.NewAmount(77)
	onTron.Chain, onTron.TokenOut = chain.Tron, chain.NativeCoin(chain.TVM)
	tron := strings.NewReplacer("chainId=8453", "chainId="+chain.Tron.String(), usdcText, onTron.TokenIn.Format(chain.TVM),
		wethText, "0x0000000000000000000000000000000000000000", nobody, onTron.Recipient.Format(chain.TVM))
	for target, want := range map[string]quote.Request{
		goodSwap + "&tokenOutAmount=auto&slippage=0.50&affiliateFeePercent=0.10000000000000001&affiliateFeeRecipient=" + taker + "&senderAddress=" + taker +
			"&srcChainPriorityLevel=aggressive&referralCode=4294967295&accesstoken=" + secret + "&tab=1&tab=2": whole,
		fixed.ReplaceAllString(goodSwap, "tokenInAmount=max"):                    most,
		fixed.ReplaceAllString(goodSwap, "tokenInAmount=auto&tokenOutAmount=77"): auto,
		tron.Replace(goodSwap): onTron,
		strings.NewReplacer("chainId", "chainID", "tokenIn", "TokenIn", "tokenOut", "TOKENOUT").Replace(goodSwap): asked,
	} {
		w.lastSwap = quote.Request{}
		get(s, target)
		golden.Same(t, target, want, w.lastSwap, compareRequests)
	}
}

func TestEqualSwapsShareOneEstimateAndKeepNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.server(t, func(o *parts) {
			now := o.Swaps
			o.Swaps = estimates(func(ctx context.Context, r quote.Request) (quote.Estimate, error) {
				<-time.After(time.Second)
				return now.Estimate(ctx, r)
			})
		})
		for round := range 2 {
			var clients sync.WaitGroup
			for range 10 {
				clients.Go(func() { get(s, goodSwap) })
			}
			clients.Wait()
			synctest.Wait()
			if got := w.asked.Load(); got != int64(round)+1 {
				t.Errorf("after round %d %d estimates, want one a round", round, got)
			}
		}
	})
}

func TestSwapHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t).server(t, func(o *parts) {
			o.Swaps = estimates(func(ctx context.Context, _ quote.Request) (quote.Estimate, error) {
				<-ctx.Done()
				return quote.Estimate{}, ctx.Err()
			})
		})
		began := time.Now()
		wantError(t, get(s, goodSwap), http.StatusGatewayTimeout, "UPSTREAM_TIMEOUT")
		if took := time.Since(began); took != proxy.DefaultSwapLimit {
			t.Errorf("answered after %v, want %v", took, proxy.DefaultSwapLimit)
		}
	})
}

var compareRequests = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Amount) bool { return a == b }),
	cmp.Comparer(decimal.Decimal.Equal),
}

// TestSolanaWithoutASenderIsAnEstimate sends requests like clients that only show a price.
func TestSolanaWithoutASenderIsAnEstimate(t *testing.T) {
	const (
		wallet = "29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2"
		query  = "chainId=7565164&tokenIn=11111111111111111111111111111111" +
			"&tokenOut=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v&tokenOutRecipient=" + wallet
	)
	w := newWorld(t)
	answer := get(w.server(t), swapPath+"?"+query+"&tokenInAmount=1000000")
	if text := string(body(t, answer)); answer.StatusCode != http.StatusOK || !strings.HasPrefix(text, `{"tokenIn":{`) {
		t.Errorf("%d %s, want an estimate", answer.StatusCode, text)
	}
	if r := w.lastSwap; !r.Recipient.IsAbsent() || !r.TokenIn.IsNative() {
		t.Errorf("without a sender: %+v; want a swap without a transaction", r)
	}
	wantStatus(t, "the whole balance of an unknown sender", get(w.server(t), swapPath+"?"+query+"&tokenInAmount=max"), http.StatusBadRequest)
	get(w.server(t), swapPath+"?"+query+"&tokenInAmount=max&senderAddress="+wallet)
	if r := w.lastSwap; r.Sender != r.Recipient || !r.MaxBalance {
		t.Errorf("%+v; want a swap by the recipient", r)
	}
	// The sender of a price is the recipient, to whom venues pay that pay no one else.
	get(w.server(t), "/v1.0/chain/estimation?"+query+"&tokenInAmount=1000000&senderAddress="+wallet)
	if r := w.lastSwap; r.MaxBalance || !r.Sender.IsAbsent() || !r.Recipient.IsAbsent() {
		t.Errorf("a price for a sender: %+v, want neither sender nor recipient", r)
	}
	// A program's account may sign by its program, and be paid if the client says so.
	toProgram := strings.Replace(query, wallet, tokenAccountText, 1) + "&tokenInAmount=1"
	for _, more := range []string{"&senderAddress=" + tokenAccountText, "&skipSolanaRecipientValidation=true&senderAddress=" + wallet} {
		wantStatus(t, "to a program's account with "+more, get(w.server(t), swapPath+"?"+toProgram+more), http.StatusOK)
	}
}

// TestSwapsByPost sends the parameters in a body, as numbers or strings, or as a form, besides those of the query.
func TestSwapsByPost(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	wantStatus(t, goodSwap, get(s, goodSwap), http.StatusOK)
	want := w.lastSwap
	rest := `"tokenIn":"` + usdcText + `","tokenInAmount":5000000,"tokenOut":"` + wethText + `","slippage":null`
	for _, test := range []struct{ query, body string }{
		{"?chainId=1", `{"ChainID":8453,"tokenoutrecipient":"` + nobody + `",` + rest + `}`},
		{"?chainId=1&tokenOutRecipient=" + nobody, `{"chainId":"8453",` + rest + `}`},
		{strings.TrimPrefix(goodSwap, swapPath), ``},
	} {
		w.lastSwap = quote.Request{}
		if answer := post(s, swapPath+test.query, test.body); answer.Code != http.StatusOK || w.lastSwap != want {
			t.Errorf("%s %s: %d %s, asked %+v, want %+v", test.query, test.body, answer.Code, answer.Body, w.lastSwap, want)
		}
	}
	form := httptest.NewRequestWithContext(t.Context(), http.MethodPost, swapPath, strings.NewReader(strings.TrimPrefix(goodSwap, swapPath+"?")))
	form.Header.Set("Content-Type", "Application/X-WWW-Form-Urlencoded; charset=utf-8") // names of types have no case
	w.lastSwap = quote.Request{}
	if answer := serve(s, form); answer.StatusCode != http.StatusOK || w.lastSwap != want {
		t.Errorf("a form: %d %s, asked %+v", answer.StatusCode, body(t, answer), w.lastSwap)
	}
	answer := post(s, swapPath, `{"chainId":5,"tokenIn":[],`+rest[len(`"tokenIn":"`+usdcText+`",`):]+`}`)
	for _, named := range []string{"tokenIn should not be empty", "chainId must be one of", "tokenOutRecipient should not be empty"} {
		if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), named) {
			t.Errorf("%d %s does not say %q", answer.Code, answer.Body, named)
		}
	}
	if answer := post(s, swapPath, `[]`); answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), `"errorCode":1207`) {
		t.Errorf("a body that is none: %d %s", answer.Code, answer.Body)
	}
}

// withoutRecipient returns goodSwap's query without a recipient.
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
	s := w.server(t)
	hurried := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1.0/chain/estimation"+withoutRecipient(t), http.NoBody)
	hurried.Header.Set("Prefer", "wait=1")
	s.Handler().ServeHTTP(httptest.NewRecorder(), hurried)
	response := get(s, hurried.RequestURI)
	if vary := response.Header.Get("Vary"); w.lastSwap.Wait != 0 || vary != "Accept-Encoding, Prefer" {
		t.Errorf("who has time gets the prices of a client that has not, here or from a cache: Vary = %q", vary)
	}
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
	// A different request: the first one's answer may still be on its way to other waiters.
	wantStatus(t, target+"&slippage=7", get(s, target+"&slippage=7"), http.StatusBadGateway)
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
		estimation := strings.Replace(strings.TrimSuffix(goodSwap, "&tokenOutRecipient="+nobody), "/transaction?", "/estimation?", 1)
		same := get(s, estimation, "If-None-Match: "+get(s, estimation).Header.Get("ETag"))
		if age := same.Header.Get("Age"); same.StatusCode != http.StatusNotModified || age != "3" {
			t.Errorf("HTTP %d, Age = %q, want that of the prices, too", same.StatusCode, age)
		}
	})
}

// onThree serves swaps on three chains.
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
	page := pageAt(t, s, "/swap?chainId=56&dstChainId=137", http.StatusOK) // whose form must not show another chain
	golden.Contains(t, "the form", page, `<option value="56" data-family="evm" selected>`, `<option value="137" data-family="evm" selected>`)
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
