package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/quote"
)

func TestSwapIsAnswered(t *testing.T) {
	w := newWorld(t)
	response := get(w.server(t), goodSwap)
	var got struct {
		Tx       struct{ To, Data, Value string }
		TokenOut struct{ Symbol, MinAmount string }
	}
	if err := json.Unmarshal(body(t, response), &got); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("HTTP %d, %v", response.StatusCode, err)
	}
	if got.Tx.Data != nobody || got.TokenOut.Symbol != "WETH" || got.TokenOut.MinAmount != "5000000" {
		t.Errorf("answer = %+v", got)
	}
	if control, etag := response.Header.Get("Cache-Control"), response.Header.Get("ETag"); control != "no-store" || etag != "" {
		t.Errorf("Cache-Control = %q, ETag = %q, want no-store and none", control, etag)
	}
}

// TestSwapRequestsAreReadWhole has all that may be said, and input or output left to the gateway, on each family of chains.
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
		goodSwap + "&tokenOutAmount=auto&slippage=0.50&affiliateFeePercent=0.1&affiliateFeeRecipient=" + taker + "&senderAddress=" + taker +
			"&srcChainPriorityLevel=aggressive&referralCode=4294967295&accesstoken=" + secret + "&tab=1&tab=2": whole,
		fixed.ReplaceAllString(goodSwap, "tokenInAmount=max"):                    most,
		fixed.ReplaceAllString(goodSwap, "tokenInAmount=auto&tokenOutAmount=77"): auto,
		tron.Replace(goodSwap): onTron,
	} {
		w.lastSwap = quote.Request{}
		get(s, target)
		if diff := cmp.Diff(want, w.lastSwap, compareRequests); diff != "" {
			t.Errorf("%s: the request differs (-want +got):\n%s", target, diff)
		}
	}
}

func TestEveryWrongParameterIsNamed(t *testing.T) {
	const ids = "1, 10, 56, 137, 4663, 5042, 8453, 42161, 43114, 59144, 7565164, 100000001, 100000002, 100000008, 100000009, 100000013, " +
		"100000014, 100000017, 100000019, 100000020, 100000021, 100000022, 100000023, 100000025, 100000026, 100000027, " +
		"100000028, 100000029, 100000030, 100000031"
	s := newWorld(t).server(t)
	for query, want := range map[string]string{
		"": "chainId must be one of the following values: " + ids + "; tokenIn should not be empty; tokenInAmount should not be empty; " +
			"tokenOut should not be empty; tokenOutRecipient should not be empty",
		"chainId=2&tokenIn=x&tokenInAmount=-1&tokenOut=0x00&tokenOutRecipient=vitalik.eth&tokenOutAmount=5&slippage=100&affiliateFeePercent=10.01" +
			"&affiliateFeeRecipient=0&senderAddress=me&srcChainPriorityLevel=slow&referralCode=-1": "chainId must be one of the following values: " + ids +
			"; tokenIn must be an address; tokenInAmount must be a positive whole number of the token's smallest units; " +
			"tokenOutAmount must be auto unless tokenInAmount is; tokenOut must be an address; tokenOutRecipient must be an address; " +
			"slippage must be auto or a percent greater than 0 and less than 100; affiliateFeePercent must be a percent from 0 to 10 in steps of 0.001; " +
			"affiliateFeeRecipient must be an address; senderAddress must be an address; " +
			"srcChainPriorityLevel must be one of the following values: normal, aggressive; referralCode must be a whole number below 4294967296",
	} {
		e := wantError(t, get(s, swapPath+"?"+query), http.StatusBadRequest, "INVALID_QUERY_PARAMETERS")
		if diff := cmp.Diff(strings.Split(want, "; "), strings.Split(e.ErrorMessage, "; ")); diff != "" || e.ErrorCode != 2 {
			t.Errorf("errorCode %d, mistakes differ (-want +got):\n%s", e.ErrorCode, diff)
		}
	}
}

func TestWrongParameters(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	without := func(name string) string {
		var kept []string
		for part := range strings.SplitSeq(strings.TrimPrefix(goodSwap, swapPath+"?"), "&") {
			if !strings.HasPrefix(part, name+"=") {
				kept = append(kept, part)
			}
		}
		return swapPath + "?" + strings.Join(kept, "&")
	}
	for _, test := range []struct{ name, value, mistake string }{
		{"tokenIn", "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE", "tokenIn must be the zero address to mean the native coin"},
		{"tokenOut", usdcText, "tokenOut must not be tokenIn"},
		{"tokenOut", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB49", "tokenOut has a wrong EIP-55 checksum; check its digits"},
		{"tokenOutRecipient", "0x5aAeb6053f3E94C9b9A09f33669435E7Ef1BeAed", "tokenOutRecipient has a wrong EIP-55 checksum; check its digits"},
		{"senderAddress", "0x5aAeb6053f3E94C9b9A09f33669435E7Ef1BeAed", "senderAddress has a wrong EIP-55 checksum; check its digits"},
		{"tokenInAmount", "340282366920938463463374607431768211456", "tokenInAmount must be below 2^128, as no pool holds more"},
		{"tokenOut", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "tokenOut must be an address: 0x followed by 40 hex digits"},
		{"tokenInAmount", "0", "tokenInAmount must be a positive whole number of the token's smallest units"},
		{"tokenInAmount", "auto", "tokenInAmount can be auto only when tokenOutAmount is an amount"},
		{"tokenInAmount", "auto&tokenOutAmount=auto", "tokenInAmount can be auto only when tokenOutAmount is an amount"},
		{"tokenInAmount", "auto&tokenOutAmount=0", "tokenOutAmount must be a positive whole number of the token's smallest units"},
		{"tokenInAmount", "max&tokenOutAmount=7", "tokenOutAmount must be auto unless tokenInAmount is"},
		{"tokenInAmount", "1e18", "tokenInAmount must be a positive whole number of the token's smallest units"},
		{"tokenInAmount", strings.Repeat("9", 79), "tokenInAmount must be a positive whole number of the token's smallest units"},
		{"tokenInAmount", "", "tokenInAmount should not be empty"},
		{"tokenInAmount", "1&tokenInAmount=1", "tokenInAmount must be given once"},
		{"chainId", "8453&chainId=1", "chainId must be given once"},
		{"tokenOutRecipient", "0x0000000000000000000000000000000000000000", "tokenOutRecipient must not be the zero address"},
		{"slippage", "1e9999999", "slippage must be auto or a percent greater than 0 and less than 100"},
		{"slippage", "0", "slippage must be auto or a percent greater than 0 and less than 100"},
		{"slippage", "-1", "slippage must be auto or a percent greater than 0 and less than 100"},
		{"slippage", ".", "slippage must be auto or a percent greater than 0 and less than 100"},
		{"slippage", "NaN", "slippage must be auto or a percent greater than 0 and less than 100"},
		{"affiliateFeePercent", "11", "affiliateFeePercent must be a percent from 0 to 10 in steps of 0.001"},
		{"affiliateFeePercent", "0.1255", "affiliateFeePercent must be a percent from 0 to 10 in steps of 0.001"},
		{"referralCode", "4294967296", "referralCode must be a whole number below 4294967296"},
	} {
		e := wantError(t, get(s, without(test.name)+"&"+test.name+"="+test.value), http.StatusBadRequest, "INVALID_QUERY_PARAMETERS")
		if e.ErrorMessage != test.mistake && !strings.HasPrefix(e.ErrorMessage, test.mistake+"; ") {
			t.Errorf("%s=%.50s: %q, want %q", test.name, test.value, e.ErrorMessage, test.mistake)
		}
	}
	if got := w.asked.Load(); got != 0 {
		t.Errorf("%d wrong requests were estimated", got)
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
