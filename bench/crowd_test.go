package bench

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/cache/shared"
	"crossgate/internal/redistest"
	"crossgate/proxy"
)

// BenchmarkColdKey has ten thousand callers ask at the same time for an order that nobody has asked for and that takes
// 200 ms to be made: of one gateway, and of two in front of one Redis or Valkey. It must be made once.
func BenchmarkColdKey(b *testing.B) {
	for name, gateways := range map[string]int{"one-gateway": 1, "two-gateways": 2} {
		b.Run(name, func(b *testing.B) {
			var loads atomic.Int64
			var slowest time.Duration
			for b.Loop() {
				b.StopTimer()
				servers := make([]*proxy.Server, gateways)
				var url string
				if gateways > 1 {
					url = redistest.Serve(b).URL()
				}
				for i := range servers {
					servers[i] = slowServer(b, &loads, url)
				}
				b.StartTimer()
				slowest = max(slowest, crowd(b, servers))
			}
			b.ReportMetric(float64(loads.Load())/float64(b.N), "loads/op")
			b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
			if loads.Load() != int64(b.N) {
				b.Errorf("%d loads for %d crowds", loads.Load(), b.N)
			}
		})
	}
}

// crowd asks the servers in turn, from ten thousand callers at once, and returns how long the slowest waited.
func crowd(b *testing.B, servers []*proxy.Server) time.Duration {
	callers := int(size(10_000, 500))
	var ready, asking sync.WaitGroup
	var slowest atomic.Int64
	start := make(chan struct{})
	for i := range callers {
		ready.Add(1)
		asking.Go(func() {
			request, answer := httptest.NewRequest(http.MethodGet, hotPath(), http.NoBody), httptest.NewRecorder()
			ready.Done()
			<-start
			began := time.Now()
			servers[i%len(servers)].Handler().ServeHTTP(answer, request)
			storeMax(&slowest, int64(time.Since(began)))
			if answer.Code != http.StatusOK {
				b.Errorf("status %d: %s", answer.Code, answer.Body)
			}
		})
	}
	ready.Wait()
	close(start)
	asking.Wait()
	return time.Duration(slowest.Load())
}

// slowServer is the face in front of one order that takes its time, with what is at url behind its cache.
func slowServer(b *testing.B, loads *atomic.Int64, url string) *proxy.Server {
	b.Helper()
	const making = 200 * time.Millisecond
	var shared *shared.Cache
	if url != "" {
		shared = startShared(b, url)
	}
	one := oneOrder{find: func() {
		loads.Add(1)
		<-time.After(making)
	}}
	server, err := newServerOf(one, func(o *proxy.Options) { o.Shared = shared })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Close)
	return server
}

// startShared connects to a server until the benchmark ends. It is patient: ten thousand callers have two processors.
func startShared(b *testing.B, url string) *shared.Cache {
	b.Helper()
	shared, err := shared.New(shared.Options{URL: url, Timeout: 10 * time.Second, LockLife: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- shared.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	for tick := time.Tick(time.Millisecond); ; <-tick {
		if _, connected := shared.Status(); connected {
			return shared
		}
	}
}

func storeMax(most *atomic.Int64, value int64) {
	for known := most.Load(); value > known && !most.CompareAndSwap(known, value); known = most.Load() {
	}
}
