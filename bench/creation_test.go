package bench

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

// cheap are the fees of a chain on which gas costs 1 gwei.
type cheap struct{ quote.FeeSource }

func (cheap) GasPrice(context.Context, quote.Priority) (quote.GasPrice, error) {
	return quote.GasPrice{Expected: chain.NewAmount(1e9)}, nil
}

func (cheap) DataFee(context.Context, quote.Tx, uint64) (chain.Amount, error) {
	return chain.Amount{}, nil
}

// BenchmarkOrderEstimate prices distinct orders, each with a swap out of the reserve token at eight venues that answer
// immediately: two comparisons, the arithmetic and a taker's costs. Except for waiting on venues and chains, this is
// all that a quote takes.
func BenchmarkOrderEstimate(b *testing.B) {
	swaps := estimator(stalls())
	b.Cleanup(swaps.Close)
	base, _ := chain.Documented().Chain(8453)
	ethereum, _ := chain.Documented().Chain(1)
	base.Reserves, ethereum.Reserves = map[string]chain.Address{"usd": account(5)}, map[string]chain.Address{"usd": account(1)}
	stable := token.Token{Decimals: 6, Name: "A stable coin", Symbol: "USDC"}
	registry := chain.NewRegistry(base, ethereum)
	one := crosschain.Chain{Fees: cheap{}, Charges: func(context.Context, chain.ID) (crosschain.Charges, error) {
		return crosschain.Charges{Fixed: chain.NewAmount(1e15), TransferBps: 4, Message: chain.NewAmount(1e15)}, nil
	}}
	e := crosschain.New(crosschain.Options{
		Registry: registry, Swaps: swaps, CostPercent: 100, Chains: map[chain.ID]crosschain.Chain{1: one, 8453: one},
		Tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: registry,
			Own: map[token.Key]token.Token{
				{Chain: 8453, Address: account(5)}: stable, {Chain: 1, Address: account(1)}: stable, {Chain: 1, Address: account(2)}: stable,
			},
			Prices: []token.PriceSource{func(_ context.Context, keys []token.Key) (map[token.Key]*big.Rat, error) {
				prices := map[token.Key]*big.Rat{}
				for _, key := range keys {
					prices[key] = big.NewRat(1, 1)
				}
				return prices, nil
			}},
		}),
	})
	amount := uint64(1e9)
	b.ReportAllocs()
	for b.Loop() {
		amount++
		r := crosschain.Request{Give: 8453, Take: 1, TokenIn: account(5), TokenOut: account(2), AmountIn: chain.NewAmount(amount)}
		must.Get(e.Estimate(b.Context(), r))(b)
	}
}

// lateVariable makes this binary a proxy to the venue in its value: each answer leaves once slowest has passed since
// its request.
const lateVariable = "CROSSGATE_BENCH_LATE"

const slowest = 300 * time.Millisecond

type came struct{} // key of the arrival time of a request

func beLate(venue string) error {
	to, err := neturl.Parse(venue)
	if err != nil {
		return err
	}
	relay := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out = r.Out.WithContext(context.WithValue(r.Out.Context(), came{}, time.Now()))
		},
		ModifyResponse: func(r *http.Response) error {
			<-time.After(slowest - time.Since(r.Request.Context().Value(came{}).(time.Time)))
			return nil
		},
	})
	defer relay.Close()
	fmt.Println(relay.URL)
	return untilInputEnds()
}

// BenchmarkOrderOverhead asks the gateway for orders from USDC to another chain's coin, with the sandbox's venues, one
// of which, in a separate process, is slower than everything else, and alternately asks that venue itself. The
// difference is the gateway's own: for quotes the arithmetic, for transactions also a simulation.
func BenchmarkOrderOverhead(b *testing.B) {
	outside := startOutside(b)
	venue := regexp.MustCompile(`name: openocean, endpoints: \[\{url: "([^"]+)"`).FindStringSubmatch(outside.Config)[1]
	late := startProcess(b, lateVariable+"="+venue).line(b)
	url := startGatewayOf(b, strings.ReplaceAll(outside.Config, `"`+venue+`"`, `"`+late+`"`))
	client, buffer := &http.Client{}, make([]byte, 1<<20)
	const coin = "0x0000000000000000000000000000000000000000"
	parties := fmt.Sprintf("&senderAddress=%[1]s&srcChainOrderAuthorityAddress=%[1]s&dstChainOrderAuthorityAddress=%[1]s&dstChainTokenOutRecipient=%[1]s", account(3))
	amount := uint64(900_000_000)
	timed := func(b *testing.B, format string, args ...any) time.Duration {
		began := time.Now()
		body := fetch(b, client, fmt.Sprintf(format, args...), buffer)
		took := time.Since(began)
		if took < slowest {
			b.Fatalf("answered after %s, before the slowest venue: %s", took, body)
		}
		return took
	}
	for _, each := range []struct{ name, path, more string }{
		{"quote", "quote", ""}, {"transaction", "create-tx", parties},
	} {
		b.Run(each.name, func(b *testing.B) {
			var overheads []time.Duration
			for b.Loop() {
				amount++
				alone := timed(b, "%s/v4/1/quote?inTokenAddress=%s&outTokenAddress=%s&amountDecimals=%d&gasPriceDecimals=1000000000&slippage=1",
					late, outside.USDC, coin, amount)
				took := timed(b, "%s/v1.0/dln/order/%s?srcChainId=1&srcChainTokenIn=%s&srcChainTokenInAmount=%d&dstChainId=8453&dstChainTokenOut=%s%s",
					url, each.path, outside.USDC, amount, coin, each.more)
				overheads = append(overheads, took-alone)
			}
			slices.Sort(overheads)
			b.ReportMetric(float64(overheads[len(overheads)/2].Microseconds())/1000, "median-overhead-ms")
			b.ReportMetric(float64(overheads[0].Microseconds())/1000, "least-overhead-ms")
		})
	}
}
