package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/proxy"
	"crossgate/proxy/swaps"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream/evm/swap"
)

// stall is a venue that answers immediately. Its calldata is the whole quoted amount, as the minimum, and the input.
type stall struct {
	name string
	rate uint64 // thousandths of the input
}

var _ quote.Venue = stall{}

func (s stall) Profile() quote.Profile {
	return quote.Profile{Name: s.name, Routers: map[chain.ID]chain.Address{chain.Ethereum: account(9)}, Read: readStall}
}

const stallSelector = 4 // bytes of calldata before its words

func readStall(_ chain.Chain, tx quote.Tx) (quote.Call, error) {
	words := tx.Data[stallSelector:]
	return quote.Call{
		TokenIn: account(1), TokenOut: account(2), MinOut: chain.AmountFromBytes(words[:32]), AmountIn: chain.AmountFromBytes(words[32:]),
	}, nil
}

func (s stall) Quote(_ context.Context, swap quote.Swap) (quote.Quote, error) {
	return quote.Quote{AmountOut: swap.In.Amount.MulDiv(s.rate, 1000), Gas: 200_000}, nil
}

func (s stall) Build(_ context.Context, swap quote.Swap, q quote.Quote) (quote.Tx, error) {
	least, in := q.AmountOut.Bytes32(), swap.In.Amount.Bytes32()
	return quote.Tx{To: account(9), Data: slices.Concat(make([]byte, stallSelector), least[:], in[:])}, nil
}

// stalls returns eight venues.
func stalls() []quote.Venue {
	venues := make([]quote.Venue, 8)
	for i := range venues {
		venues[i] = stall{name: fmt.Sprintf("stall-%d", i), rate: 990 + uint64(i)}
	}
	return venues
}

func estimator(venues []quote.Venue) *quote.Estimator {
	stable := token.Token{Decimals: 6, Name: "A stable coin", Symbol: "USDC"}
	return quote.New(quote.Options{
		Registry: chain.Documented(), Venues: venues, Logger: slog.New(slog.DiscardHandler),
		Chains: map[chain.ID]quote.Chain{1: {Guard: swap.Guard{}, AllowUnsimulated: true}},
		Tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: chain.Documented(),
			Own: map[token.Key]token.Token{
				{Chain: 1, Address: account(1)}: stable, {Chain: 1, Address: account(2)}: stable,
			},
		}),
	})
}

// BenchmarkSwapAnswer requests swaps that are not cached, over persistent loopback connections, from eight venues that
// answer immediately.
func BenchmarkSwapAnswer(b *testing.B) {
	server := must.Get(proxy.New(proxy.Options{
		Index: func() proxy.Index { return oneOrder{} }, Chains: chain.Documented(), Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)),
	}))(b)
	options := swaps.Options{Estimator: estimator(stalls())}
	swaps.Mount(server, func() swaps.Options { return options })
	b.Cleanup(server.Close)
	askSwaps(b, serve(b, server.Handler()), fmt.Sprintf("chainId=1&tokenIn=%s&tokenOut=%s&tokenOutRecipient=%s", account(1), account(2), account(3)), 1_000_000)
}

// BenchmarkSwapOnSandbox is BenchmarkSwapAnswer with the sandbox's venues and chains behind the gateway: every answer
// asks all venues of the chain over HTTP, builds transactions, and simulates them on a node. The world runs in a
// separate process to tell the two parts of the work apart; this one is the gateway's with the client's.
func BenchmarkSwapOnSandbox(b *testing.B) {
	outside := startOutside(b)
	url := startGatewayOf(b, outside.Config)
	world, own := outside.spent(b), spent(b)
	answers := askSwaps(b, url, outside.swapOfCoin(), oneCoin)
	own, world = spent(b)-own, outside.spent(b)-world
	b.ReportMetric(own.Seconds()*1000/float64(answers), "gateway-cpu-ms/answer")
	b.ReportMetric(world.Seconds()*1000/float64(answers), "world-cpu-ms/answer")
	b.ReportMetric(2*float64(answers)/own.Seconds(), "answers/s-of-2-cores-for-the-gateway")
}

const oneCoin = 1_000_000_000_000_000_000

// swapOfCoin returns the query of a swap of Ethereum's coin, without its amount.
func (o *outside) swapOfCoin() string {
	return fmt.Sprintf("chainId=1&tokenIn=0x0000000000000000000000000000000000000000&tokenOut=%s&tokenOutRecipient=%s", o.USDC, account(3))
}

// TestSwapsAreCheap counts the cost of a swap to the gateway of BenchmarkSwapOnSandbox and its client, with connections
// and venues' shared state in place. Followers poll their chains meanwhile, so the cheapest of several swaps counts.
func TestSwapsAreCheap(t *testing.T) {
	const ask, mostAllocations, mostBytes = 60, 1800, 420_000
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSampler(trace.NeverSample()))) // as for most requests
	defer otel.SetTracerProvider(before)
	outside := startOutside(t)
	url := startGatewayOf(t, outside.Config)
	address := strings.TrimPrefix(url, "http://")
	client := must.Get(dial(t.Context(), address))(t)
	defer client.Close()
	var allocations, bytes []uint64
	for i := range uint64(ask) {
		request := swapRequest(address, outside.swapOfCoin(), oneCoin+i)
		var then, now runtime.MemStats
		runtime.ReadMemStats(&then)
		must.Do(t, client.ask(request))
		runtime.ReadMemStats(&now)
		allocations = append(allocations, now.Mallocs-then.Mallocs)
		bytes = append(bytes, now.TotalAlloc-then.TotalAlloc)
	}
	slices.Sort(allocations)
	slices.Sort(bytes)
	t.Logf("%d allocations of %d bytes, half with at most %d of %d", allocations[0], bytes[0], allocations[ask/2], bytes[ask/2])
	if allocations[0] > mostAllocations || bytes[0] > mostBytes {
		t.Errorf("%d allocations of %d bytes, want at most %d of %d", allocations[0], bytes[0], mostAllocations, mostBytes)
	}
}

func swapRequest(address, query string, amount uint64) []byte {
	return fmt.Appendf(nil, "GET /v1.0/chain/transaction?%s&tokenInAmount=%d HTTP/1.1\r\nHost: %s\r\n\r\n", query, amount, address)
}

// askSwaps requests swaps of increasing amounts, over several connections concurrently, and without compression, which
// gains nothing where the network takes no time. It repeats what an overloaded gateway refuses.
func askSwaps(b *testing.B, url, query string, least uint64) (answers uint64) {
	address := strings.TrimPrefix(url, "http://")
	var amount, refused atomic.Uint64
	amount.Store(least)
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		client, err := dial(b.Context(), address)
		if err != nil {
			b.Error(err)
			return
		}
		defer client.Close()
		for pb.Next() {
			request := swapRequest(address, query, amount.Add(1))
			err := client.ask(request)
			for ; errors.Is(err, errOverloaded); err = client.ask(request) {
				refused.Add(1)
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(refused.Load())/float64(b.N), "refused/answer")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
	return amount.Load() - least
}
