package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkMixedLoad asks a gateway in front of the sandbox for 2000 orders a second, whether it keeps up or not: nine of
// ten are orders of the sandbox, which are kept, and one is an order that no chain knows, so that all are asked. First
// everything is well. Then, of three endpoints of every chain, the first is down and the second answers two seconds
// late. It reports the 99th percentiles of both, and what they are of each other.
func BenchmarkMixedLoad(b *testing.B) {
	const (
		rate = 2000 // a second
		span = 15 * time.Second
	)
	for b.Loop() {
		world := startOutside(b)
		chains := new(endpoints)
		g := startCommand(b, func(*exec.Cmd) {}, chains.inFrontOf(b, world.Config, filepath.Join(b.TempDir(), "orders.db")))
		asker := &asker{gateway: g, orders: world.Orders}
		for _, hash := range world.Orders { // so that they are kept
			if _, err := asker.ask(b, hash, true); err != nil {
				b.Fatal(err)
			}
		}
		asker.run(b, rate/10, 3*time.Second)
		well := asker.run(b, rate, span)
		chains.suffer()
		ill := asker.run(b, rate, span)
		for _, each := range []struct {
			name      string
			well, ill []time.Duration
		}{{"hit", well.hits, ill.hits}, {"miss", well.misses, ill.misses}} {
			if len(each.well) == 0 || len(each.ill) == 0 {
				b.Fatalf("no %s was measured", each.name)
			}
			before, after := percentile99(each.well), percentile99(each.ill)
			b.ReportMetric(float64(before.Microseconds())/1000, each.name+"-p99-ms")
			b.ReportMetric(float64(after.Microseconds())/1000, each.name+"-p99-ms-ill")
			b.ReportMetric(float64(after)/float64(before), each.name+"-p99-ratio")
			b.ReportMetric(float64(len(each.well)+len(each.ill)), each.name+"s")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// endpoints are three of every chain, which forward to the same node.
type endpoints struct {
	down []*httptest.Server
	slow atomic.Bool
}

// oneEndpoint is that of a chain in the configuration of a world.
var oneEndpoint = regexp.MustCompile(`^( *- \{id: \d+, .*)\[\{url: "([^"]+)"\}\]`)

// inFrontOf puts the endpoints into a configuration, and the order index where it is to be.
func (e *endpoints) inFrontOf(b *testing.B, configuration, index string) string {
	b.Helper()
	var kept []string
	for line := range strings.Lines(configuration) {
		if strings.HasPrefix(line, "telemetry:") {
			continue
		}
		if strings.HasPrefix(line, "index:") {
			line = fmt.Sprintf("index: {path: %q, lookback: 0}\n", index)
		}
		if chain := oneEndpoint.FindStringSubmatch(line); chain != nil {
			line = chain[1] + e.three(b, chain[2]) + "}\n"
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

func (e *endpoints) three(b *testing.B, node string) string {
	b.Helper()
	to, err := url.Parse(node)
	if err != nil {
		b.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host },
		Transport:    &http.Transport{MaxIdleConnsPerHost: 64},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	first, third := httptest.NewServer(forward), httptest.NewServer(forward)
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.slow.Load() {
			select {
			case <-time.After(2 * time.Second):
			case <-r.Context().Done():
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	e.down = append(e.down, first)
	b.Cleanup(second.Close)
	b.Cleanup(third.Close)
	return fmt.Sprintf("[{name: first, url: %q}, {name: second, url: %q}, {name: third, url: %q}]",
		first.URL+to.Path, second.URL+to.Path, third.URL+to.Path)
}

// suffer begins the faults.
func (e *endpoints) suffer() {
	e.slow.Store(true)
	for _, first := range e.down {
		first.CloseClientConnections()
		first.Close()
	}
}

// asker is one client of a gateway.
type asker struct {
	gateway command
	orders  []string // by creation
	client  http.Client
}

// times are how long answers took from when they were due, by whether they were kept.
type times struct{ hits, misses []time.Duration }

// run asks at an even rate for so long, and waits for the last answer. A late answer does not keep the next request from
// being sent.
func (l *asker) run(b *testing.B, rate int, span time.Duration) times {
	b.Helper()
	l.client.Transport = &http.Transport{MaxIdleConnsPerHost: 256}
	defer l.client.CloseIdleConnections()
	var mu sync.Mutex
	var all times
	var under sync.WaitGroup
	begun := time.Now()
	for number := range int(span.Seconds() * float64(rate)) {
		due := begun.Add(time.Duration(number) * time.Second / time.Duration(rate))
		if ahead := time.Until(due); ahead > 0 {
			<-time.After(ahead)
		}
		known := rand.IntN(10) > 0
		hash := l.orders[rand.IntN(len(l.orders))]
		if !known {
			var unknown [32]byte
			binary.NativeEndian.PutUint64(unknown[:], rand.Uint64())
			hash = fmt.Sprintf("0x%x", unknown)
		}
		under.Go(func() {
			hit, err := l.ask(b, hash, known)
			took := time.Since(due)
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if hit {
				all.hits = append(all.hits, took)
			} else {
				all.misses = append(all.misses, took)
			}
		})
	}
	under.Wait()
	return all
}

// ask looks for an order by its creation, and at the answer.
func (l *asker) ask(b *testing.B, hash string, known bool) (hit bool, err error) {
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, l.gateway.url+"/api/Orders/creationTxHash/"+hash, http.NoBody)
	if err != nil {
		return false, err
	}
	response, err := l.client.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return false, err
	}
	wanted := http.StatusNotFound
	if known {
		wanted = http.StatusOK
	}
	if response.StatusCode != wanted || known && !bytes.Contains(body, []byte(`"orderId"`)) {
		return false, fmt.Errorf("order %s: %s: %.200s", hash, response.Status, body)
	}
	return strings.Contains(response.Header.Get("Cache-Status"), "; hit"), nil
}

func percentile99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100]
}
